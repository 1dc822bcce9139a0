"""Codes of the languages that the model knows. Cheap to import, for reading the workflow."""

from collections.abc import Iterable, Iterator

from corpusmill.messages.near_names import near_names

UNKNOWN = "und"
"""Language code of texts that have no feature of the model."""

_CODES = """
    af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi
    hr ht hu hy id ig is it ja jv ka kk km kn ko ku ky la lg ln lo lt lv mg mk ml mn mr ms my ne nl
    no om or pa pl ps pt qu ro ru sa si sk sl so sq sr sv sw ta te th tl tr ug uk ur uz vi xh yo zh
    zu zxx ace bcl dz ext gcf gom grc gug hbo kik nso pcm rw se sn st an ary crh fo fuv gcr guw kab
    lb lij ltg uzs wa sdh arz ba mt nn oc tg tk tt vec vo wuu yue
"""
MODEL_LANGUAGES = tuple(_CODES.split())
"""ISO 639-1 codes where they exist, else 639-3, in the order of the model."""

LANGUAGES = (*MODEL_LANGUAGES, UNKNOWN)


NEAREST = 3
"""Maximum number of suggestions for an unknown code."""


def code_faults(codes: Iterable[str], known: Iterable[str] = LANGUAGES) -> Iterator[str]:
    """Yield faults of unknown language codes."""
    known = sorted(known)
    for code in codes:
        if code not in known:
            near = near_names(code.lower().split("-")[0], known, cutoff=0.5)[:NEAREST]
            question = f" Did you mean {' or '.join(near)}?" if near else ""
            yield f"unknown language {code}.{question} All codes: docs/reference/languages.md"
