"""What `normalize` does to a text, mode by mode."""

import re
import unicodedata
from collections.abc import Callable, Iterator

PIECE_CHARS = 1 << 20

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
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


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


def normalizer(mode: str) -> Callable[[str], str]:
    """The function of a mode: nfc, ftfy (what the SlimPajama scripts do) or none."""
    if mode == "ftfy":
        import ftfy

        config = ftfy.TextFixerConfig(normalization="NFC")
        return lambda text: ftfy.fix_text(text, config)
    return {"nfc": nfc, "none": unchanged}[mode]
