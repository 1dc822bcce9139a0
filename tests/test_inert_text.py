"""Texts that are decoded without str are those that str and unicodedata give."""

import json
import unicodedata

import msgspec
import numpy as np
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.messages.progress import Silence
from corpusmill.mill.read.inert_text import inert_table, inert_text
from corpusmill.mill.read.normalization import normalizer
from corpusmill.mill.read.readers import SeenBytes, read_normal_records, read_records
from corpusmill.mill.read.records import Malformed, NormalRecord
from corpusmill.mill.read.unicode_tables import scalars, text_of
from corpusmill.mill.storage.streams import READ_LIMITS

# Inert, composing, out of order, Hangul, singletons, of two to four bytes, controls, escapes.
TRICKY = 'aé水😀\u0301\u0327\u212b\u0958\u1100\u1161\u11a8\u3099\U0001d15e\x7f\x00\n\t"\\/'
texts = st.text(st.one_of(st.sampled_from(TRICKY), st.characters(exclude_categories=["Cs"])))
strict = msgspec.json.Decoder(str)


@examples(300)
@given(texts, st.booleans())
@example("ä" * 100 + "e\u0301", False)
def test_inert_text__is_the_normal_text_or_none(text, ascii_only):
    found = inert_text(msgspec.Raw(json.dumps(text, ensure_ascii=ascii_only).encode()))
    assert found in (None, unicodedata.normalize("NFC", text).encode())


@examples(300)
@given(st.lists(st.sampled_from([*b'"\\/bfnrtu0a\x1f\x7f', *range(0x80, 0x100)])))
@example([0xED, 0xA0, 0x80])
@example([0xC0, 0x80])
@example([0xE0, 0x80, 0x80])
@example([0xF0, 0x80, 0x80, 0x80])
@example([0xF4, 0x90, 0x80, 0x80])
def test_inert_text__of_bytes_that_are_not_json_is_none(inner):
    raw = bytes([0x22, *inner, 0x22])
    try:
        expected = strict.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        expected = None
    if 0x22 in bytes(inner).replace(b"\\\\", b"").replace(b'\\"', b""):
        return  # msgspec ends the string at the first quote
    found = inert_text(msgspec.Raw(raw))
    assert found is None or (expected is not None and found == expected.encode())


@pytest.mark.parametrize("raw", [b"null", b"1", b"{}", b"[]"])
def test_inert_text__of_another_value_is_none(raw):
    assert inert_text(msgspec.Raw(raw)) is None


@pytest.mark.parametrize(
    "text", ["", "a", "zażółć", "水", "가", "😀", "—“”", 'a\nb\tc"d\\e/f\rg\bh\f']
)
def test_inert_text__decodes_usual_texts(text):
    assert inert_text(msgspec.Raw(msgspec.json.encode(text))) == text.encode()


def test_inert_table__has_no_character_that_a_neighbour_changes():
    table, every = inert_table(), text_of(scalars())
    inert = "".join(one for one in every if table[ord(one)])
    assert len(inert) > 1_000_000
    assert unicodedata.normalize("NFC", inert) == inert
    # Whatever is composed of several characters has only one that may be inert: the first.
    for one in every:
        parts = unicodedata.normalize("NFD", one)
        if len(parts) > 1 and unicodedata.normalize("NFC", parts) == one:
            assert not any(table[ord(part)] for part in parts[1:]), one


LINES = [
    '{"text": "plain", "n": 1}', '{"n":[1,2],"text":"e\u0301 zażółć \\n \\"q\\" \\u00e9"}',
    '{"text": null}', '{"text": 3}', "[1]", "", "{", '{"no": "text"}', '{"text":"a","text":"b"}',
    '{"text":"\\ud800 lone"}', '{"text":"\\ud83d\\ude00"}', '{"text":"tab\there"}',
    '{"text":"\\x"}',
    '{"text":"&amp; schÃ¶n"}', '{"text":""}', '{"text":"水😀","x":"\\ud800"}',
]  # fmt: skip


@pytest.mark.parametrize("mode", ["nfc", "none", "ftfy"])
def test_read_normal_records__are_the_records_normalized(tmp_path, mode):
    path = tmp_path / "a.jsonl"
    lines = [line.encode() for line in LINES] + [b'{"text":"\xff"}', b'{"text":"\xed\xa0\x80"}']
    path.write_bytes(b"\n".join(lines) + b"\n")
    mend = normalizer(mode)
    expected = [
        one
        if isinstance(one, Malformed)
        else NormalRecord(one.line, mend(one.text).encode(), one.rest)
        for one in read_records(str(path), "text", Silence(), mode == "ftfy")
    ]
    seen = SeenBytes({"source": "s", "path": str(path)})
    got = list(read_normal_records(str(path), "text", Silence(), mode, [], seen, READ_LIMITS))
    assert got == expected
    assert len(got) == len(lines)
    assert seen.told()["bytes"] == path.stat().st_size
    assert {type(one) for one in got} == {Malformed, NormalRecord}


def test_inert_table__says_nothing_of_surrogates():
    assert not np.any(inert_table()[0xD800:0xE000])
