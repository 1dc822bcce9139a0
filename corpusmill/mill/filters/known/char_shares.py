"""Limits on classes of characters."""

from corpusmill.mill.filters.declaration import Filter, Value, above, below, share

KINDS = {
    "letter": ("letters", "`str.isalpha`, without combining marks"),
    "digit": ("digits", "`str.isdecimal`, all scripts"),
    "upper": ("upper-case letters", "`str.isupper`"),
    "punctuation": ("punctuation marks", "Unicode P*, such as . , ! # % & * @ _ « 、"),
    "symbol": ("symbols", "Unicode S*, such as $ + < = > ^ ~ © € ° and emoji"),
    "whitespace": ("white space", "`str.isspace`, newlines included"),
    "non_ascii": ("non-ASCII characters", "U+0080 and above"),
}
"""In the order of the kernel's kinds: name and exact definition."""


class CharShares(Filter):
    """Drops documents with too many or too few characters of a class. Shares are of all characters,
    including white space. Combining marks and control characters count only as ASCII or non-ASCII.
    """

    fate = "char_shares"
    settings = {
        f"{side}_{kind}_share": share(None, f"{word} share of {called}.")
        for kind, (called, _) in KINDS.items()
        for side, word in (("min", "Minimum"), ("max", "Maximum"))
    }
    values = {
        f"{kind}_share": Value("float64", f"{called} / characters; {exactly}")
        for kind, (called, exactly) in KINDS.items()
    }
    limits = tuple(
        beyond(f"{kind}_share", f"{side}_{kind}_share")
        for kind in KINDS
        for side, beyond in (("min", below), ("max", above))
    )

    def measure(self, texts):
        import numpy as np

        from corpusmill.kernels import characters
        from corpusmill.mill.read.character_kinds import kind_table

        counts = np.empty((texts.offsets.size - 1, characters.KINDS), np.int64)
        characters.count_kinds(texts.data, texts.offsets, kind_table(), counts)
        with np.errstate(invalid="ignore"):
            shares = counts / counts[:, [characters.ANY]]
        return {name: shares[:, kind] for kind, name in enumerate(self.values)}
