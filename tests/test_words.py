"""Words as UAX #29 has them, by the package uniseg, as `str.split`, and as spaCy parts English."""

import time

import naive_words
import numpy as np
import pytest
import uniseg.wordbreak
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from word_classes import of_any_class

from corpusmill.kernels import english_words as kernels_of_english
from corpusmill.kernels import words as kernels
from corpusmill.mill.filters.features.english_words import UNITS, listed_words
from corpusmill.mill.filters.features.words import (
    built_english_table,
    built_word_table,
    ends_of_sentences,
    english_table,
    given_words,
    hash_of,
    lines_of,
    sentence_ends,
    word_table,
    words_of,
)
from corpusmill.mill.read.text_column import TextColumn, string_array

USUAL = st.sampled_from([*"aé漢あアก1.,:;'\"_ \n\r\t‍", "👩", "👩‍❤️‍👩", "🇩🇪", 'א"א', "1.5", "a.b"])
TEXTS_OF_ALL_CLASSES = st.lists(st.deferred(of_any_class) | USUAL, max_size=12).map("".join)


def column(texts: list[str]) -> TextColumn:
    return TextColumn.of(string_array([text.encode() for text in texts]))


def facts(words) -> list[tuple]:
    """Of each document its words: hash, characters, facts."""
    rows = list(zip(words.hashes.tolist(), words.chars.tolist(), words.facts.tolist(), strict=True))
    return [rows[start:end] for start, end in zip(words.first, words.first[1:], strict=False)]


def expected(words: list[str]) -> list[tuple]:
    flags = (
        kernels.ALPHA,
        kernels.NO_MARK,
        kernels.NO_BLANK,
        kernels.UPPER,
        kernels.LOWER,
        kernels.DIGIT,
    )
    table = word_table()
    return [
        (
            hash_of(word),
            len(word),
            sum(flag >> kernels.FACTS for flag in flags if any(table[ord(c)] & flag for c in word)),
        )
        for word in words
    ]


def words_by_uniseg(text: str) -> list[str]:
    return [word for word in uniseg.wordbreak.words(text) if word and not word.isspace()]


@examples(800)
@given(st.lists(TEXTS_OF_ALL_CLASSES, max_size=4))
def test_words__are_those_of_uax_29(texts):
    found = facts(words_of(column(texts), "unicode"))
    assert found == [expected(words_by_uniseg(text)) for text in texts]


@examples(1000)
@given(st.lists(st.text(), max_size=4))
def test_words__are_those_of_split(texts):
    found = words_of(column(texts), "whitespace")
    assert facts(found) == [expected(text.split()) for text in texts]
    assert found.counts().tolist() == [len(text.split()) for text in texts]


@given(st.lists(st.text(min_size=1), max_size=9))
def test_given_words__are_known_alike(words):
    found = given_words(np.array([0, len(words)]), column(words))
    assert facts(found) == [expected(words)]


def test_words__of_a_long_line_and_of_scripts_without_spaces():
    (found,) = facts(words_of(column(["ab " * 500_000]), "unicode"))
    assert found == expected(["ab"]) * 500_000
    for text, words in (
        ("漢字かな", ["漢", "字", "か", "な"]),
        ("カタカナ", ["カタカナ"]),
        ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
        ("don't stop: 3,14 e.g. x_1!", ["don't", "stop", ":", "3,14", "e.g", ".", "x_1", "!"]),
    ):
        assert facts(words_of(column([text]), "unicode")) == [expected(words)]


@pytest.mark.whole
def test_word_table__kept_on_disk_is_the_one_built_anew():
    assert (word_table() == built_word_table()).all()
    assert (sentence_ends() == ends_of_sentences()).all()
    flags = {kernels.ALPHA: str.isalpha, kernels.UPPER: str.isupper, kernels.LOWER: str.islower,
             kernels.DIGIT: str.isdecimal}  # fmt: skip
    for point in range(0xD800):
        entry = int(word_table()[point])
        assert all(bool(entry & flag) == test(chr(point)) for flag, test in flags.items())
        assert bool(entry & kernels.NO_BLANK) != chr(point).isspace()


@given(st.lists(st.text("ab\n \té漢\r\u2028"), max_size=5))
def test_lines__are_what_newlines_part(texts):
    found, data = lines_of(column(texts)), "".join(texts).encode()
    lines = [line for text in texts for line in text.split("\n")]
    assert np.diff(found.first).tolist() == [text.count("\n") + 1 for text in texts]
    places = zip(found.starts, found.ends, strict=True)
    assert [data[start:end].decode() for start, end in places] == lines
    assert found.chars.tolist() == list(map(len, lines))
    assert found.hashes.tolist() == list(map(hash_of, lines))
    assert found.blank.tolist() == [not line.strip() for line in lines]


ENGLISH = st.sampled_from([
    *'a7.…,:;?()[]\'’"-—~/\\@#_$€+=<>%&|^`°😀。 \n\u00a0٣\u0301漢é',
    *("Word", "12", "..", "--", "**", "http://", "www.", "example.com", "a.b.co", "US$", "C$"),
    *("'s", "’S", "km", "m/s", "U.S.", "e.g.", "10.0.0.1", "8.8.8.8", "256.1.1.1", ":80"),
    *(":8080", "co", "/x?y=z", "A.", "AB.", "aB.Cd", "-1", "1+1", "a:b", "1,000", "can't"),
    *sorted(listed_words())[::7],
])  # fmt: skip


@examples(1000)
@given(st.lists(st.lists(ENGLISH | st.text(max_size=2), max_size=9).map("".join), max_size=4))
def test_words__of_english_are_those_of_its_rules(texts):
    found = facts(words_of(column(texts), "english"))
    assert found == [expected(naive_words.english_words(text)) for text in texts]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I can't; it's Bob's.", "I ca n't ; it 's Bob 's ."),
        ("They cannot go, gonna... at 10am", "They can not go , gon na ... at 10 am"),
        ("state-of-the-art 2019-20 a--b", "state - of - the - art 2019 - 20 a -- b"),
        ("(see https://a.org/x-y?z=1).", "( see https://a.org/x-y?z=1 ) ."),
        ("Mail me@x.com, 10.1 or 8.8.8.8:80/a-b", "Mail me@x.com , 10.1 or 8.8.8.8:80/a-b"),
        ("**Note**: `code` #1 [a](b.md)", "* * Note * * : ` code ` # 1 [ a](b.md )"),
        ("5km $5 20% U.S. e.g. Dr. Who", "5 km $ 5 20 % U.S. e.g. Dr. Who"),
        ("so (yes):) x/co.", "so ( yes ): ) x / co."),
    ],
)
def test_words__of_english_prose_links_and_markdown(text, words):
    assert facts(words_of(column([text]), "english")) == [expected(words.split())]


@pytest.mark.parametrize(
    "piece", [".", "@", "a@", "'", "-", "7", "(", ":)", "a.", "://", "1.", "co.", "a-"]
)
def test_words__of_english_take_time_in_proportion(piece):
    small, large = (column([piece * (n // len(piece))]) for n in (1 << 16, 1 << 20))
    words_of(small, "english")
    seconds = []
    for one in (small, large):
        start = time.process_time()
        words_of(one, "english")
        seconds.append(time.process_time() - start)
    assert seconds[1] < 100 * seconds[0] + 0.3  # 256 times as long if it were quadratic


def test_english_table__kept_on_disk_is_the_one_built_anew():
    assert (english_table() == built_english_table()).all()


def test_english_lists__have_room_for_what_they_hold():
    assert max(map(len, listed_words())) == kernels_of_english.MOST_CHARS
    assert max(map(len, UNITS)) == kernels_of_english.UNIT_CHARS
