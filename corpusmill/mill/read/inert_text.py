"""JSON strings whose text is certainly valid and in NFC, decoded without Python's str.

A text is in NFC if each of its characters is inert: it is its own NFC, has no combining class, and
never composes with a character before it.
"""

import functools
import unicodedata

import msgspec
import numpy as np

from corpusmill.kernels.json_text import inert_utf8
from corpusmill.mill.read.unicode_tables import SIZE, kept_table, points_of, scalars, text_of

QUOTE = ord('"')
HANGUL_VOWELS_AND_ENDS = range(0x1161, 0x1200)


def built_table() -> np.ndarray:
    """Build the table of `inert_table`."""
    characters = text_of(scalars())
    parts = (unicodedata.decomposition(one).split() for one in characters)
    # What can compose is the second of two characters in a canonical decomposition, or Hangul.
    second = {int(both[1], 16) for both in parts if len(both) == 2 and both[0][0] != "<"}
    second |= set(HANGUL_VOWELS_AND_ENDS)
    inert = [
        one
        for one in characters
        if not unicodedata.combining(one) and unicodedata.is_normalized("NFC", one)
    ]
    table = np.zeros(SIZE, np.uint8)
    table[points_of("".join(inert))] = 1
    table[list(second)] = 0
    return table


@functools.cache
def inert_table() -> np.ndarray:
    """Return uint8 (0x110000,): 1 for inert characters."""
    return kept_table("inert", built_table, __file__)


def _escapes() -> np.ndarray:
    table = np.zeros(256, np.uint8)
    table[list(b'"\\/bfnrt')] = list(b'"\\/\b\f\n\r\t')
    return table


ESCAPES = _escapes()


def inert_text(raw: msgspec.Raw) -> bytes | None:
    """Return the text of a JSON string as UTF-8; None if it is not a string, or not certain."""
    data = np.frombuffer(raw, np.uint8)
    if data[0] != QUOTE:
        return None
    out = np.empty(data.size - 2, np.uint8)
    size = inert_utf8(data[1:-1], ESCAPES, inert_table(), out)
    return None if size < 0 else out[:size].tobytes()
