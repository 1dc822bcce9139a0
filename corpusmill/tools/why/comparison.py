"""A comparison of two texts: what they share, and where they differ, word by word."""

import difflib
import re
import textwrap
import unicodedata
from collections import Counter
from typing import NamedTuple

from corpusmill.messages.plain_text import JOINERS, shown

WORD = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"  # scripts without spaces
    "|[^\\s\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
COMPARED_WORDS = 600
"""Number of words of each text that are compared, from shortly before the first difference. More
would take seconds."""

CONTEXT = 8
"""Common words shown before and after a difference."""

MOST_PASSAGES = 4


class Words(NamedTuple):
    """The words of a text. after[i]: whether white space precedes word i."""

    words: list[str]
    after: list[bool]

    @classmethod
    def of(cls, text: str) -> "Words":
        found = list(WORD.finditer(text))
        ends = [0, *(one.end() for one in found)]
        after = [one.start() > end for one, end in zip(found, ends, strict=False)]
        return cls([one.group() for one in found], after)


class Shared(NamedTuple):
    """The number of common words, counting repetitions, and the number of words of each text."""

    both: int
    one: int
    other: int


def shared_words(one: Words, other: Words) -> Shared:
    both = Counter(one.words) & Counter(other.words)
    return Shared(both.total(), len(one.words), len(other.words))


class Passage(NamedTuple):
    """A stretch of both texts, from first word to last, and the words in it that only one has."""

    one: range
    other: range
    apart: tuple[frozenset[int], frozenset[int]]


def first_difference(one: list[str], other: list[str]) -> int:
    """Return how many words the texts share at the beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def passages(one: Words, other: Words) -> list[Passage]:
    """Return the first stretches in which the texts differ, with common words around them."""
    start = max(first_difference(one.words, other.words) - CONTEXT, 0)
    a, b = (words[start : start + COMPARED_WORDS] for words in (one.words, other.words))
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    found = []
    for group in matcher.get_grouped_opcodes(CONTEXT):
        changed = [code for code in group if code[0] != "equal"]
        found.append(
            Passage(
                range(start + group[0][1], start + group[-1][2]),
                range(start + group[0][3], start + group[-1][4]),
                (
                    frozenset(start + k for _, i, j, _, _ in changed for k in range(i, j)),
                    frozenset(start + k for _, _, _, i, j in changed for k in range(i, j)),
                ),
            )
        )
    return found


def marked(words: Words, stretch: range, apart: frozenset[int]) -> list[tuple[str, bool]]:
    """Return the words of a stretch, each with whether white space precedes it. Words that only
    this text has are in brackets."""
    found = []
    for k in stretch:
        opens = k in apart and (k == stretch.start or k - 1 not in apart)
        closes = k in apart and (k + 1 == stretch.stop or k + 1 not in apart)
        found.append(("[" * opens + shown(words.words[k]) + "]" * closes, words.after[k]))
    return found


def cells(text: str) -> int:
    """Return how many terminal columns a text takes."""
    return sum(
        0 if unicodedata.combining(one) or one in JOINERS
        else 2 if unicodedata.east_asian_width(one) in "WF"
        else 1
        for one in text
    )  # fmt: skip


def wrapped(words: list[tuple[str, bool]], width: int) -> list[str]:
    """Wrap words into lines of a width; wider words are split."""
    lines, line, used = [], "", 0
    for word, spaced in words:
        space = " " if spaced and line else ""
        if line and used + len(space) + cells(word) > width:
            lines.append(line)
            line, used, space = "", 0, ""
        line, used = line + space, used + len(space)
        for one in word:
            if used + cells(one) > width:
                lines.append(line)
                line, used = "", 0
            line, used = line + one, used + cells(one)
    return [*lines, line] if line else lines


def side_by_side(heads: tuple[str, str], texts: tuple[str, str], width: int) -> list[str]:
    """Return two columns with the first passages in which the texts differ."""
    one, other = Words.of(texts[0]), Words.of(texts[1])
    column = max((width - 3) // 2, 20)
    shared = shared_words(one, other)
    lines = [row(*heads, column)]
    found = passages(one, other)
    for passage in found[:MOST_PASSAGES]:
        if passage.one.start or passage.other.start:
            lines.append(row("...", "...", column))
        left = wrapped(marked(one, passage.one, passage.apart[0]), column)
        right = wrapped(marked(other, passage.other, passage.apart[1]), column)
        deep = max(len(left), len(right))
        lines += [
            row(*pair, column)
            for pair in zip(
                left + [""] * (deep - len(left)), right + [""] * (deep - len(right)), strict=True
            )
        ]
    return lines + textwrap.wrap(in_words(shared, len(found)), width)


def in_words(shared: Shared, found: int) -> str:
    if not found:
        return "Both texts have the same words; they differ only in white space, if at all."
    said = (
        f"The texts have {shared.one:,} and {shared.other:,} words; "
        f"{shared.both:,} words are in both."
    )
    if found > MOST_PASSAGES:
        said += f" Only the first {MOST_PASSAGES} differences are shown."
    return said


def row(left: str, right: str, column: int) -> str:
    """Return a line of two cells, each cut to the width of its column."""
    left, right = (fitted(one, column) for one in (left, right))
    return f"{left}{' ' * (column - cells(left))} | {right}".rstrip()


def fitted(text: str, width: int) -> str:
    if cells(text) <= width:
        return text
    while cells(text) > width - 3:
        text = text[:-1]
    return text + "..."
