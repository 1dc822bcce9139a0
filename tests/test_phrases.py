"""Lists of users, and their words found in texts."""

import gzip
import math
import re

import naive_filters
import numpy as np
import pyarrow as pa
import pytest
import zstandard
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.kernels.phrases import lower_text
from corpusmill.mill.filters.configured import ConfiguredFilter, configured
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.features.lists import entries, list_pieces, wrong_lines
from corpusmill.mill.filters.features.phrases import (
    built_word_characters,
    found_in,
    phrases_of,
    word_characters,
)
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.read.unicode_tables import character_table, scalars, text_of
from corpusmill.run.filter_faults import filter_faults

LETTERS = "abAB_1 .-\n\r\u2028\u0301\u0130\u03a3\u03c3éÉ漢字\u00a0\u023a$"
pieces = st.text(LETTERS, max_size=12) | st.text(max_size=4)
texts = st.lists(pieces | st.sampled_from(["ab", " Ab ", "a b", "ΑΣ", "İ"]), max_size=8).map(
    "".join
)
phrases = st.lists(
    st.text(LETTERS.replace("\n", ""), min_size=1, max_size=4), min_size=1, max_size=6
)


@examples(1000)
@given(st.lists(texts, max_size=3), phrases, st.booleans())
def test_phrases__are_those_of_the_regular_expression(texts, phrases, boundaries):
    known = phrases_of(phrases)
    column = TextColumn.of(string_array([text.encode() for text in texts]))
    hits, first = found_in(column, known, boundaries)
    expected = [naive_filters.phrases_in(text, phrases, boundaries) for text in texts]
    assert hits.tolist() == list(map(len, expected))
    names = [*known.phrases, None]
    assert [names[one] for one in first] == [one[0] if one else None for one in expected]


@examples(600)
@given(texts)
def test_lower_text__is_str_lower(text):
    check_lowered(text)


def test_lower_text__of_every_character():
    check_lowered(text_of(scalars()))


def check_lowered(text: str) -> None:
    data = np.frombuffer(text.encode(), np.uint8)
    room = np.empty(2 * data.size + 8, np.uint8)
    size = lower_text(data, 0, data.size, character_table(), room)
    assert room[:size].tobytes().decode() == text.lower()


def test_word_characters__kept_on_disk_are_those_asked_anew():
    assert np.array_equal(word_characters(), built_word_characters())


def measured(texts: list[str], **settings) -> dict:
    column = TextColumn.of(string_array([text.encode() for text in texts]))
    documents = Documents(column, pa.record_batch({"text": pa.nulls(len(texts))}), [])
    found = (
        ConfiguredFilter({"name": "bad_words", **settings}).measurer().measure_documents(documents)
    )
    return {name: list(values) for name, values in found.items()}


def test_bad_words__how_many_the_first_and_how_many_per_word(tmp_path):
    (tmp_path / "list.txt").write_text("# mine\nBad\nvery bad  # both\n\n悪い\n")
    texts = ["A VERY bad, bad badger", "", "悪い 悪いね", "x " * 5_000_000 + "bad"]
    found = measured(texts, list=str(tmp_path / "list.txt"), words="whitespace")
    assert found["bad_words_found"] == [2, 0, 1, 1]
    assert found["first_bad_word"] == ["very bad", None, "悪い", "bad"]
    assert found["bad_word_ratio"][0] == 0.4
    assert math.isnan(found["bad_word_ratio"][1])
    anywhere = measured(texts, list=str(tmp_path / "list.txt"), boundaries=False)
    assert anywhere["bad_words_found"] == [3, 0, 2, 1]


LISTED = "\ufeffone\r\n#two\n  three # four\nfi#ve\n\n" + "six\n" * 100_000 + "last"


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_list__is_its_lines_without_comments(tmp_path, ending):
    packed = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}
    path = tmp_path / f"list.txt{ending}"
    path.write_bytes(packed[ending](LISTED.encode()))
    assert entries(str(path)) == ["one", "three", "fi#ve", *["six"] * 100_000, "last"]
    numbered = [n + k for n, lines in list_pieces(str(path)) for k, one in enumerate(lines) if one]
    assert numbered == [1, 3, 4, *range(6, 100_007)]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"one\ntw\xf6\n", "list:2: expected UTF-8, found the byte 0xf6, probably in a"),
        ("one\n".encode("utf-16"), "list: expected UTF-8, found UTF-16. Save it as UTF-8."),
        (
            b"# one\n\n",
            "list: expected a small word per line, found no entry. Add entries, or remove the",
        ),
        (b"one\nTWO\n", "list:2: expected a small word, found 'TWO'. Correct or remove the line."),
        (b"TWO\n" * 7, "list: 2 more lines have the same fault."),
    ],
)
def test_wrong_list__is_told_with_its_line(tmp_path, content, says):
    (tmp_path / "list").write_bytes(content)
    faults = list(wrong_lines(str(tmp_path / "list"), re.compile("[a-z]+"), "a small word"))
    assert any(fault.replace(f"{tmp_path}/", "").startswith(says) for fault in faults), faults


def test_bad_words__wrong_lists_are_told_before_any_job(tmp_path, monkeypatch):
    (tmp_path / "list").write_bytes(b"\xff")
    entry = {"name": "bad_words", "list": str(tmp_path / "list")}
    (fault,) = filter_faults(configured([entry]), ["web"])
    assert "list:1: expected UTF-8" in fault
    for line in ("a word\t5", "a word\rb", "a\u2028b", "a\0"):
        (tmp_path / "list").write_text(f"{line}\n", "utf-8", newline="")
        (fault,) = filter_faults(configured([entry]), ["web"])
        assert (
            f"list:1: expected a word or phrase without control characters, found {line!r}" in fault
        )
    (tmp_path / "list").write_text("a word\n")
    assert list(filter_faults(configured([entry]), ["web"])) == []
    monkeypatch.setattr("corpusmill.mill.filters.known.bad_words.MOST_TABLE_BYTES", 200)
    (fault,) = filter_faults(configured([entry]), ["web"])
    said = (
        "list: expected a list that can be searched for with at most 200 bytes of memory, found "
        "one that needs 280. "
    )
    assert f"{said}Split the list" in fault
