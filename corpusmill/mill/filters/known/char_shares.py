"""Limits on classes of characters."""

import functools
import unicodedata

from corpusmill.mill.filters.declaration import Filter, Value, above, below, share

KINDS = {
    "letter": ("letters", "`str.isalpha`, without combining marks", str.isalpha),
    "digit": ("digits", "`str.isdecimal`, all scripts", str.isdecimal),
    "upper": ("upper-case letters", "`str.isupper`", str.isupper),
    "punctuation": (
        "punctuation marks",
        "Unicode P*, such as . , ! # % & * @ _ « 、",
        lambda one: unicodedata.category(one)[0] == "P",
    ),
    "symbol": (
        "symbols",
        "Unicode S*, such as $ + < = > ^ ~ © € ° and emoji",
        lambda one: unicodedata.category(one)[0] == "S",
    ),
    "whitespace": ("white space", "`str.isspace`, newlines included", str.isspace),
    "non_ascii": ("non-ASCII characters", "U+0080 and above", lambda one: not one.isascii()),
}
"""Name, exact definition and test of each kind."""


def built_kinds():
    """Build the table of `kind_table`."""
    import numpy as np

    from corpusmill.mill.read.unicode_tables import flags_of

    tests = [*(test for *_, test in KINDS.values()), lambda one: True]
    return flags_of({1 << bit: test for bit, test in enumerate(tests)}).astype(np.uint8)


@functools.cache
def kind_table():
    """Return uint8 (0x110000,): a bit for each of KINDS, and one that all characters have."""
    from corpusmill.mill.read.unicode_tables import kept_table

    return kept_table("character-kinds", built_kinds, __file__)


class CharShares(Filter):
    """Drops documents with too many or too few characters of a class. Shares are relative to all
    characters, including white space. Combining marks, and control characters other than white
    space, count only in `non_ascii_share`.
    """

    fate = "char_shares"
    settings = {
        f"{side}_{kind}_share": share(None, f"{word} share of {called}.")
        for kind, (called, *_) in KINDS.items()
        for side, word in (("min", "Minimum"), ("max", "Maximum"))
    }
    values = {
        f"{kind}_share": Value("float64", f"share of {called}; {exactly}")
        for kind, (called, exactly, _) in KINDS.items()
    }
    limits = tuple(
        beyond(f"{kind}_share", f"{side}_{kind}_share")
        for kind in KINDS
        for side, beyond in (("min", below), ("max", above))
    )

    def measure(self, texts):
        import numpy as np

        from corpusmill.kernels import characters

        counts = np.empty((texts.offsets.size - 1, characters.KINDS), np.int64)
        characters.count_kinds(texts.data, texts.offsets, kind_table(), counts)
        with np.errstate(invalid="ignore"):
            shares = counts / counts[:, [-1]]
        return {name: shares[:, kind] for kind, name in enumerate(self.values)}
