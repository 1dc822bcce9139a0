"""Shares of kinds of characters."""

from corpusmill.mill.filters.declaration import Filter, Value, above, below, share

KINDS = {
    "letter": ("letters", "as `str.isalpha`: no marks that hang on a letter"),
    "digit": ("digits", "as `str.isdecimal`, of all scripts"),
    "upper": ("upper-case letters", "as `str.isupper`"),
    "punctuation": ("punctuation marks", "Unicode categories P*: . , ! # % & * @ _ « 、 and so on"),
    "symbol": ("symbols", "Unicode categories S*: $ + < = > ^ ~ © € ° emoji and so on"),
    "whitespace": ("white space", "as `str.isspace`, newlines too"),
    "non_ascii": ("characters beyond ASCII", "from U+0080 on"),
}
"""In the order of the kernel's kinds: what is counted, and what exactly that is."""


class CharShares(Filter):
    """Documents with too few or too many characters of a kind. Shares are of all characters, white
    space and newlines too; combining marks and controls are of no kind, only beyond ASCII or not.
    """

    fate = "char_shares"
    settings = {
        f"{side}_{kind}_share": share(None, f"{word} share of {called}.")
        for kind, (called, _) in KINDS.items()
        for side, word in (("min", "Least"), ("max", "Largest"))
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
