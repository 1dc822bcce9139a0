"""Split texts into words by one of three rules, or into lines, and record facts of each.

`whitespace` is `str.split()`. `unicode` uses the word boundaries of UAX #29: each punctuation mark
is a word, white space is not. In scripts without spaces, a word is a Han or Hiragana character, a
run of Katakana, or a Thai, Lao, Khmer or Burmese base character with its marks. `english` is
spaCy's English tokenizer: it splits contractions and keeps URLs and abbreviations whole.
"""

import functools
import string
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import NamedTuple

import numpy as np

from corpusmill.kernels import english_words as english
from corpusmill.kernels import words as kernels
from corpusmill.kernels.lines import split_newlines
from corpusmill.kernels.words import facts_of_words, split_unicode, split_whitespace
from corpusmill.mill.filters.features import english_words
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.read.unicode_tables import (
    SIZE,
    flags_of,
    kept_table,
    points_of,
    scalars,
    text_of,
)

CLASSES = {
    "CR": kernels.CR, "LF": kernels.LF, "Newline": kernels.NEWLINE, "Extend": kernels.EXTEND,
    "ZWJ": kernels.ZWJ, "Format": kernels.FORMAT, "Regional_Indicator": kernels.REGIONAL,
    "Katakana": kernels.KATAKANA, "Hebrew_Letter": kernels.HEBREW, "ALetter": kernels.LETTER,
    "Single_Quote": kernels.SINGLE_QUOTE, "Double_Quote": kernels.DOUBLE_QUOTE,
    "MidNumLet": kernels.MID_NUM_LET, "MidLetter": kernels.MID_LETTER, "MidNum": kernels.MID_NUM,
    "Numeric": kernels.NUMERIC, "ExtendNumLet": kernels.JOINER, "WSegSpace": kernels.SPACE,
}  # fmt: skip
"""Word_Break property -> its class in the kernel."""

# Words of these marks alone count as punctuation: ASCII marks, controls, and those of other scripts
# in datatrove's list.
MARKS = (
    "!/—”:％１〈&(、━\\【#%「」，】；+^]~“《„';’{|∶´[=-`*．（–？！：$～«〉,><》)?）。…@_.\"}►»"
    + "".join(map(chr, [*range(9), 11, 12, *range(13, 32), *range(127, 160)]))
)

KHMER_ENDS = "\u17d6\u17d9\u17da"
LATER_ENDS = (
    "\u1b4e\u1b4f\u1b7f\u2024\u2cf9\u2cfa\u2cfb\u2e60\u2e61\ufe12\ufe15\ufe16"
    "\U000113d4\U000113d5\U00016d6e\U00016d6f"
)
"""Unicode sentence terminals that FineWeb's list lacks. The list also has KHMER_ENDS."""


class Words(NamedTuple):
    """The words of several documents, in order."""

    first: np.ndarray  # int64 (documents + 1,): number of each document's first word
    chars: np.ndarray  # uint32
    facts: np.ndarray  # uint8: flags of kernels.words
    hashes: np.ndarray  # uint64

    def counts(self) -> np.ndarray:
        """Return int64 (documents,): the number of words of each document."""
        return np.diff(self.first)


class Lines(NamedTuple):
    """The lines of several documents in order, split at newlines. Empty lines count."""

    first: np.ndarray  # int64 (documents + 1,): number of each document's first line
    starts: np.ndarray  # int64: first byte in the column
    ends: np.ndarray
    chars: np.ndarray  # uint32
    hashes: np.ndarray  # uint64, as for words
    blank: np.ndarray  # bool: only white space

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """All columns but `first`."""
        return self[1:]


def properties(name: str, value: str) -> np.ndarray:
    """Return all code points with a value of a Unicode property, by the package regex."""
    import regex

    return points_of("".join(regex.findall(rf"\p{{{name}={value}}}", text_of(scalars()))))


def built_word_table() -> np.ndarray:
    """Build the table of `word_table`."""
    table = np.zeros(SIZE, np.uint16)
    for name, number in CLASSES.items():
        table[properties("Word_Break", name)] = number
    for number in (kernels.EXTEND, kernels.ZWJ, kernels.FORMAT):
        table[table == number] |= kernels.IGNORED
    for number in range(kernels.SINGLE_QUOTE, kernels.MID_NUM + 1):
        table[table == number] |= kernels.MIDDLE
    kinds = {kernels.LETTER: kernels.OF_LETTERS, kernels.HEBREW: kernels.OF_HEBREW,
             kernels.NUMERIC: kernels.OF_DIGITS}  # fmt: skip
    for number, kind in kinds.items():
        table[table == number] |= kind << kernels.KIND
    table[properties("Extended_Pictographic", "Yes")] |= kernels.PICTOGRAPH
    marks = np.union1d(points_of(MARKS), ends_of_sentences())
    table[np.setdiff1d(scalars(), marks)] |= kernels.NO_MARK
    tests = {
        kernels.ALPHA: str.isalpha,
        kernels.NO_BLANK: lambda one: not one.isspace(),
        kernels.UPPER: str.isupper,
        kernels.LOWER: str.islower,
        kernels.DIGIT: str.isdecimal,
    }
    return table | flags_of(tests)


def ends_of_sentences() -> np.ndarray:
    """Return the marks that end a sentence in any script, by FineWeb's list."""
    found = properties("Sentence_Terminal", "Yes")
    return np.union1d(found[~np.isin(found, points_of(LATER_ENDS))], points_of(KHMER_ENDS))


@functools.cache
def sentence_ends() -> np.ndarray:
    """Return uint32, ascending: `ends_of_sentences`, cached."""
    return kept_table("sentence-ends", ends_of_sentences, __file__, version("regex"))


@functools.cache
def word_table() -> np.ndarray:
    """Return uint16 (0x110000,): Word_Break class and flags of `kernels.words`."""
    made_of = __file__, kernels.__file__, version("regex")
    return kept_table("words", built_word_table, *made_of)


@functools.cache
def joins() -> np.ndarray:
    """Return uint8 (KINDS * CLASSES * CLASSES * KINDS,): whether the second and third of four
    characters are joined. Covers the rules of UAX #29 that look one character back and ahead."""
    k, found = kernels, np.zeros((kernels.KINDS, *(kernels.CLASSES,) * 2, kernels.KINDS), np.uint8)
    letters, kinds_of_letters = (k.LETTER, k.HEBREW), (k.OF_LETTERS, k.OF_HEBREW)
    found[:, k.CR, k.LF] = True  # WB3
    found[:, k.SPACE, k.SPACE] = True  # WB3d
    for one in letters:
        found[:, one, letters] = True  # WB5
        for middle in (k.MID_LETTER, k.MID_NUM_LET, k.SINGLE_QUOTE):
            found[:, one, middle, kinds_of_letters] = True  # WB6
            for before in kinds_of_letters:
                found[before, middle, one] = True  # WB7
        found[:, one, [k.NUMERIC, k.JOINER]] = True  # WB9, WB13a
        found[:, k.NUMERIC, one] = True  # WB10
    found[:, k.HEBREW, k.SINGLE_QUOTE] = True  # WB7a
    found[:, k.HEBREW, k.DOUBLE_QUOTE, k.OF_HEBREW] = True  # WB7b
    found[k.OF_HEBREW, k.DOUBLE_QUOTE, k.HEBREW] = True  # WB7c
    found[:, k.NUMERIC, k.NUMERIC] = True  # WB8
    for middle in (k.MID_NUM, k.MID_NUM_LET, k.SINGLE_QUOTE):
        found[k.OF_DIGITS, middle, k.NUMERIC] = True  # WB11
        found[:, k.NUMERIC, middle, k.OF_DIGITS] = True  # WB12
    found[:, k.KATAKANA, k.KATAKANA] = True  # WB13
    for one in (k.NUMERIC, k.KATAKANA, k.JOINER):
        found[:, one, k.JOINER] = True  # WB13a
    found[:, k.JOINER, [*letters, k.NUMERIC, k.KATAKANA]] = True  # WB13b
    found[:, k.REGIONAL, k.REGIONAL] = True  # WB15, WB16, if the number before is odd
    return found.ravel()


def built_english_table() -> np.ndarray:
    """Build the table of `english_table`."""
    facts = word_table().astype(np.uint32) >> kernels.FACTS & 0x3F
    table = facts << english.FACTS_AT
    letters, small, capital = english_words.letters()
    icons, figures = english_words.icons(), set("0123456789")
    punctuation, quotes = set(english_words.PUNCTUATION), set(english_words.QUOTES)
    everywhere = punctuation | quotes | icons
    in_bmp = {chr(point) for point in scalars() if 0xA1 <= point < 0x10000}
    in_ascii = set(string.ascii_letters) | figures
    characters: dict[int, set[str]] = {
        english.LETTER: letters,
        english.SMALL: small,
        english.CAPITAL: capital,
        english.FIGURE: figures,
        english.QUOTE: quotes,
        english.FRONT: everywhere | set(english_words.CUT_IN_FRONT + english_words.CURRENCIES),
        english.BEHIND: everywhere | set(english_words.CUT_BEHIND),
        english.CURRENCY: set(english_words.CURRENCIES),
        english.BEFORE_DOT: figures | small | punctuation | quotes | set("%²-+|(?:)"),
        english.UNIT_END: {unit[-1] for unit in english_words.UNITS},
        english.INSIDE: icons | set(english_words.CUT_INSIDE),
        english.ICON: icons,
        english.HOST: in_ascii | in_bmp,
        english.SCHEME: {c for c in text_of(scalars()) if c.isalnum()} | set("_+-."),
        english.DOTTED: {"."},
    }
    for flag, which in characters.items():
        table[list(map(ord, which))] |= flag
    return table


@functools.cache
def english_table() -> np.ndarray:
    """Return uint32 (0x110000,): flags of `kernels.english_words`, and facts."""
    made_of = __file__, kernels.__file__, english.__file__, english_words.__file__
    return kept_table("english-words", built_english_table, *made_of, version("regex"))


def packed(sizes: Iterable[int]) -> int:
    return sum(size << english.LENGTH * place for place, size in enumerate(sizes))


@functools.cache
def english_lists() -> np.ndarray:
    """Return uint64 (LISTS, SLOTS): the lists of `kernels.english_words`.

    A listed word that the rules would split into several pieces is also listed by them, to be
    joined.
    """
    found = english_words.listed_words()
    lists = np.zeros((english.LISTS, english.SLOTS), np.uint64)
    for unit in english_words.UNITS:
        enter(lists, english.UNITS, unit)
    words = TextColumn.of(string_array([word.encode() for word in found]))
    pieces = split_by(english.split_english, words, english_table(), lists)
    joints = np.split(pieces.chars, pieces.first[1:-1])
    for sizes, (word, parts) in zip(joints, found.items(), strict=True):
        if len(sizes) >= max(len(parts), 2):
            slot = enter(lists, english.JOINED, word)
            lists[english.JOINTS, slot] = packed(sizes.tolist())
            lists[english.PARTED, slot] = packed(map(len, parts))
    for word, parts in found.items():
        lists[english.PIECES, enter(lists, english.WORDS, word)] = packed(map(len, parts))
    return lists


def enter(lists: np.ndarray, which: int, word: str) -> int:
    """Enter a word in a list and return its slot."""
    value = hash_of(word)
    slot = int(english.slot_of(lists, which, np.uint64(value)))
    lists[which, slot] = value
    return slot


def split_by(kernel: Callable[..., int], texts: TextColumn, *tables: np.ndarray) -> Words:
    first = np.zeros(texts.offsets.size, np.int64)
    # Room for the most words possible. Unused room takes no memory.
    columns = room_for(int(texts.offsets[-1] - texts.offsets[0]) + 1)
    count = kernel(texts.data, texts.offsets, *tables, first, *columns)
    return Words(first, *(column[:count] for column in columns))


def words_of(texts: TextColumn, rule: str) -> Words:
    """Split texts. rule: whitespace, unicode or english."""
    if rule == "english":
        return split_by(english.split_english, texts, english_table(), english_lists())
    if rule == "unicode":
        return split_by(split_unicode, texts, word_table(), joins())
    return split_by(split_whitespace, texts, word_table())


def lines_of(texts: TextColumn) -> Lines:
    bytes_of_all = texts.data[texts.offsets[0] : texts.offsets[-1]]
    count = int(np.count_nonzero(bytes_of_all == ord("\n"))) + texts.offsets.size - 1
    dtypes = np.int64, np.int64, np.uint32, np.uint64, np.bool_
    columns = [np.empty(count, dtype) for dtype in dtypes]
    first = np.zeros(texts.offsets.size, np.int64)
    split_newlines(texts.data, texts.offsets, word_table(), first, *columns)
    return Lines(first, *columns)


def room_for(words: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Allocate chars, facts and hashes for the kernels."""
    return np.empty(words, np.uint32), np.empty(words, np.uint8), np.empty(words, np.uint64)


def hash_of(word: str) -> int:
    """Return the hash of a word, as the kernels compute it."""
    value = 0
    for one in word:
        value = (value * int(kernels.BASE) + ord(one) + 1) % 2**64
    return value


def given_words(first: np.ndarray, words: TextColumn) -> Words:
    """Return the columns of words that are already split."""
    columns = room_for(words.offsets.size - 1)
    facts_of_words(words.data, words.offsets, word_table(), *columns)
    return Words(first, *columns)
