"""Normalize texts and classify characters as RedPajama-v2 does for its quality signals."""

import functools
import itertools
import re
import string
import unicodedata

import numpy as np

from corpusmill.kernels import redpajama_signals as signals
from corpusmill.mill.read.normalization import in_order
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.read.unicode_tables import flags_of, kept_table

PUNCTUATION = string.punctuation.encode()
BULLETS = "\u2022\u2023\u25b6\u25c0\u25e6\u25a0\u25a1\u25aa\u25ab\u2013"


def normalized(text: bytes) -> str:
    """Return the text in lower case and NFD, without ASCII punctuation, single-spaced."""
    # Deleting bytes is safe in UTF-8 and faster than str.translate.
    cleaned = " ".join(text.translate(None, PUNCTUATION).decode().lower().split())
    return cleaned if cleaned.isascii() else unicodedata.normalize("NFD", in_order(cleaned))


def normalized_column(texts: TextColumn) -> TextColumn:
    bounds = itertools.pairwise(texts.offsets.tolist())
    found = [normalized(texts.data[start:end].tobytes()).encode() for start, end in bounds]
    return TextColumn.of(string_array(found))


def built_signal_table() -> np.ndarray:
    """Build the table of `signal_table`."""
    tests = {
        signals.WORD: lambda one: re.match(r"\w", one),
        signals.BLANK: str.isspace,
        signals.UPPER: str.isupper,
        signals.NOT_UPPER: lambda one: one.islower() or unicodedata.category(one) == "Lt",
        signals.NUMERIC: lambda one: any(map(str.isnumeric, normalized(one.encode()))),
        signals.BULLET: BULLETS.__contains__,
        signals.LATIN: string.ascii_letters.__contains__,
        signals.STOP: ".!?".__contains__,
    }
    return flags_of(tests).astype(np.uint8)


@functools.cache
def signal_table() -> np.ndarray:
    """Return uint8 (0x110000,): the bits of `kernels.redpajama_signals`."""
    return kept_table("signals", built_signal_table, __file__, signals.__file__)
