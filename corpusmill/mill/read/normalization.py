"""What `normalize` does to a text, mode by mode."""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterator

import numpy as np

PIECE_CHARS = 1 << 20

LONG_RUN = 64
"""Marks in a row that `in_order` looks at; text has few. Python puts marks in their order by
insertion, so a record of nothing else would take days."""

LAST_MARK = 0x1FFFF
"""ASSUME no mark with a combining class stands behind it; runs of such would be slow again."""

SEGMENT_CHARS = 1_000_000
"""Of a line, what ftfy mends at once."""

MOST_PASSES = 20
"""Of ftfy's fixes over a segment, until nothing changes: each undoes one level of what is escaped
twice over. `&amp;amp;amp;...` has as many levels as anybody wants."""

ASCII = re.compile(r"[\x00-\x7f]")


def nfc(text: str) -> str:
    """Canonical composition, and nothing else."""
    if text.isascii():
        return text
    if len(text) > PIECE_CHARS:
        # Python composes in four bytes a character several times over, also to say that there is
        # nothing to compose.
        if all(unicodedata.is_normalized("NFC", piece) for piece in pieces_to_compose(text)):
            return text
        return "".join(map(_composed, pieces_to_compose(text)))
    return _composed(text)


def _composed(text: str) -> str:
    if unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", in_order(text))


def in_order(text: str) -> str:
    """A text that is canonically equivalent, long runs of combining marks in their order."""
    return _long_runs().sub(lambda run: _sorted_marks(run[0]), text)


@functools.cache
def _long_runs() -> re.Pattern[str]:
    marks = "".join(
        mark
        for mark in map(chr, range(LAST_MARK + 1))
        if unicodedata.combining(unicodedata.normalize("NFD", mark)[0])
    )
    return re.compile(f"(?<![{marks}])[{marks}]{{{LONG_RUN},}}")


def _sorted_marks(run: str) -> str:
    """Marks in canonical order: decomposed, and sorted by class, those of a class as they were."""
    changed: dict[str, str | int | None] = {
        mark: parts for mark in set(run) if (parts := unicodedata.normalize("NFD", mark)) != mark
    }
    if changed:
        run = run.translate(str.maketrans(changed))
    table = np.zeros(LAST_MARK + 1, np.uint8)
    for mark in set(run):
        table[ord(mark)] = unicodedata.combining(mark)
    points = np.frombuffer(run.encode("utf-32-le"), "<u4")
    classes = table[points]
    assert classes.all(), f"a starter among marks: {run[:LONG_RUN]!r}"
    # Not argsort, which holds eight bytes for each: there are some fifty classes at most.
    found = [points[classes == one] for one in np.unique(table) if one]
    return np.concatenate(found).tobytes().decode("utf-32-le")


def pieces_to_compose(text: str) -> Iterator[str]:
    """The same text in pieces of PIECE_CHARS and a little more, where there is a place to cut:
    before a character of ASCII, with which nothing before it is composed."""
    start = 0
    while start < len(text):
        cut = ASCII.search(text, start + PIECE_CHARS)
        end = cut.start() if cut else len(text)
        yield text[start:end]
        start = end


def unchanged(text: str) -> str:
    return text


def mended(text: str) -> str:
    """What `ftfy.fix_text` makes of a text with normalization="NFC", in bounded time: ftfy itself
    has Python compose, and goes on until nothing changes."""
    from ftfy import fixes

    found: list[str] = []
    start, is_escaped = 0, True
    while start < len(text):
        end = text.find("\n", start, start + SEGMENT_CHARS) + 1 or start + SEGMENT_CHARS
        segment = text[start:end]
        # One `<` and this is HTML, or about it: from here on nothing is unescaped.
        is_escaped = is_escaped and "<" not in segment
        for _ in range(MOST_PASSES):
            before = segment
            segment = _mended_once(fixes.unescape_html(segment) if is_escaped else segment)
            if segment == before:
                break
        found.append(segment)
        start = end
    return "".join(found)


def _mended_once(segment: str) -> str:
    from ftfy import fix_encoding, fixes

    for fix in (
        fix_encoding, fixes.fix_c1_controls, fixes.fix_latin_ligatures, fixes.fix_character_width,
        fixes.uncurl_quotes, fixes.fix_line_breaks, fixes.fix_surrogates,
        fixes.remove_terminal_escapes, fixes.remove_control_chars, nfc,
    ):  # fmt: skip
        segment = fix(segment)
    return segment


def normalizer(mode: str) -> Callable[[str], str]:
    """The function of a mode: nfc, ftfy (what the SlimPajama scripts do) or none."""
    return {"nfc": nfc, "ftfy": mended, "none": unchanged}[mode]
