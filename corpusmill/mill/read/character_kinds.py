"""Classify characters by Python's `str` methods and Unicode's general categories."""

import functools
import unicodedata
from collections.abc import Callable

import numpy as np

from corpusmill.kernels import characters as kinds
from corpusmill.mill.read.unicode_tables import flags_of, kept_table


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
    return flags_of({1 << kind: test for kind, test in tests.items()}).astype(np.uint8)


@functools.cache
def kind_table() -> np.ndarray:
    """Return uint8 (0x110000,): one bit per kind of `kernels.characters`."""
    return kept_table("character-kinds", built_kinds, __file__, kinds.__file__)
