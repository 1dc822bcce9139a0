"""Find phrases in texts with an automaton."""

import functools
import re
from typing import NamedTuple

import numpy as np

from corpusmill.kernels.phrases import build_automaton, count_phrases
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.read.unicode_tables import character_table, flags_of, kept_table


class Phrases(NamedTuple):
    """Lower-cased phrases and their automaton."""

    phrases: list[str]
    automaton: tuple[np.ndarray, ...]
    """columns, following, phrase, depth, fallback: see kernels.phrases."""


class Found(NamedTuple):
    """For each text, the number of matches and the number of the first phrase, or -1."""

    hits: np.ndarray  # uint32
    first: np.ndarray  # int64


def lowered(phrases: list[str]) -> list[bytes]:
    """Return the distinct phrases, lower-cased and sorted."""
    return sorted({one.lower().encode() for one in phrases})


def shared_bytes(one: bytes, other: bytes) -> int:
    """Return the length of the common prefix."""
    for place, (of_one, of_other) in enumerate(zip(one, other, strict=False)):
        if of_one != of_other:
            return place
    return min(len(one), len(other))


def table_shape(phrases: list[bytes]) -> tuple[int, int]:
    """Return states and columns of the automaton of sorted phrases."""
    states = 1
    before = b""
    for one in phrases:
        states += len(one) - shared_bytes(before, one)
        before = one
    return states, len(set(b"".join(phrases))) + 1


def table_bytes(phrases: list[str]) -> int:
    """Return the memory that the automaton takes."""
    states, columns = table_shape(lowered(phrases))
    return 4 * states * (columns + 3)


def phrases_of(phrases: list[str]) -> Phrases:
    """Build the automaton. phrases: none empty."""
    all_lowered = lowered(phrases)
    states, width = table_shape(all_lowered)
    columns = np.zeros(256, np.uint8)
    columns[sorted(set(b"".join(all_lowered)))] = np.arange(1, width)
    following = np.zeros((states, width), np.int32)
    phrase, depth, fallback = np.full(states, -1, np.int32), *np.zeros((2, states), np.int32)
    automaton = columns, following, phrase, depth, fallback
    column = TextColumn.of(string_array(all_lowered))
    build_automaton(column.data, column.offsets, *automaton)
    return Phrases([one.decode() for one in all_lowered], automaton)


def built_word_characters() -> np.ndarray:
    """Build the table of `word_characters`."""
    return flags_of({1: re.compile(r"\w").match}).astype(np.bool_)


@functools.cache
def word_characters() -> np.ndarray:
    r"""Return bool (0x110000,): which characters `\\w` matches in Python's `re`."""
    return kept_table("word-characters", built_word_characters, __file__)


def found_in(texts: TextColumn, phrases: Phrases, boundaries: bool) -> Found:
    """Count phrases in texts. boundaries: match only where no word character is adjacent."""
    documents = texts.offsets.size - 1
    found = Found(np.empty(documents, np.uint32), np.empty(documents, np.int64))
    tables = character_table(), word_characters()
    count_phrases(texts.data, texts.offsets, *tables, phrases.automaton, boundaries, *found)
    return found
