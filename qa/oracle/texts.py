"""Normalized texts, cleaned texts, shingles."""

import re
import string
import unicodedata

import ftfy

WITHOUT_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
WHITE_SPACE = re.compile(r"\s+")


def normalize(text: str, mode: str) -> str:
    if mode == "nfc":
        return unicodedata.normalize("NFC", text)
    if mode == "ftfy":
        return ftfy.fix_text(text, ftfy.TextFixerConfig(normalization="NFC"))
    return text


def collapse(text: str) -> str:
    """Runs of white space as single spaces, none at the ends."""
    return " ".join(word for word in WHITE_SPACE.split(text) if word)


def clean(text: str) -> str:
    return collapse(text.lower().translate(WITHOUT_ASCII_PUNCTUATION))


def shingles(cleaned: str, width: int) -> set[str]:
    """All runs of `width` characters; a shorter text is one shingle, an empty one has none."""
    if len(cleaned) < width:
        return {cleaned} if cleaned else set()
    return {cleaned[k : k + width] for k in range(len(cleaned) - width + 1)}


def jaccard(one: set[str], other: set[str]) -> float:
    if not one and not other:
        return 0.0
    common = len(one & other)
    return common / (len(one) + len(other) - common)
