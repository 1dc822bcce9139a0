"""Classify characters by Python's `str` methods and Unicode's general categories."""

import functools
import unicodedata
from collections.abc import Callable

import numpy as np

from corpusmill.kernels import characters as kinds
from corpusmill.mill.read.unicode_tables import SIZE, kept_table, scalars, text_of


def built_kinds() -> np.ndarray:
    """Build the table of `kind_table`."""
    tests: dict[int, Callable[[str], bool]] = {
        kinds.LETTER: str.isalpha,
        kinds.DIGIT: str.isdecimal,
        kinds.UPPER: str.isupper,
        kinds.MARK: lambda one: unicodedata.category(one)[0] == "P",
        kinds.SYMBOL: lambda one: unicodedata.category(one)[0] == "S",
        kinds.BLANK: str.isspace,
        kinds.NON_ASCII: lambda one: not one.isascii(),
        kinds.ANY: lambda _: True,
    }
    table, characters = np.zeros(SIZE, np.uint8), text_of(scalars())
    for kind, test in tests.items():
        table[[ord(one) for one in characters if test(one)]] |= 1 << kind
    return table


@functools.cache
def kind_table() -> np.ndarray:
    """Return uint8 (0x110000,): one bit per kind of `kernels.characters`."""
    return kept_table("character-kinds", built_kinds, __file__, kinds.__file__)
