"""Characters that uniseg and the package regex, of other versions of Unicode, know alike."""

import functools

import uniseg.wordbreak
from hypothesis import strategies as st

from corpusmill.kernels import words as kernels
from corpusmill.mill.filters.features.words import CLASSES, word_table
from corpusmill.mill.read.unicode_tables import scalars, text_of


@functools.cache
def characters_by_class() -> dict[str, str]:
    """Word_Break class -> characters that it has in the Unicode versions of both."""
    names = {number: name for name, number in CLASSES.items()} | {kernels.OTHER: "Other"}
    found: dict[str, list[str]] = {}
    for one, entry in zip(text_of(scalars()), word_table()[scalars()].tolist(), strict=True):
        name = names[entry & kernels.CLASS]
        if uniseg.wordbreak.word_break(one) == name:
            found.setdefault(name, []).append(one)
    assert set(found) == set(names.values())
    return {name: "".join(members) for name, members in found.items()}


def one_of(characters: str) -> st.SearchStrategy[str]:
    """One of very many characters; sampled_from looks at all of them again and again."""
    return st.integers(0, len(characters) - 1).map(characters.__getitem__)


def of_any_class() -> st.SearchStrategy[str]:
    """A character of a class that is drawn first: some have few."""
    return st.one_of(map(one_of, sorted(characters_by_class().values(), key=len)))
