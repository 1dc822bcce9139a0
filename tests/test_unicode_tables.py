"""The character table says of every code point what Python says."""

import functools
import string

import numba
import numpy as np

from corpusmill.kernels.clean import CASE_IGNORABLE as IGNORABLE
from corpusmill.kernels.clean import CASED, CODE_POINT, DROP, IRREGULAR, SPACE
from corpusmill.mill.read.unicode_tables import built_table, character_table

SCALARS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


@functools.cache
def flagged(flag: int) -> set[int]:
    return set(np.flatnonzero(built_table() & np.uint32(flag)).tolist())


def test_character_table__has_an_entry_for_every_code_point():
    table = character_table()
    assert (table.shape, table.dtype) == ((0x110000,), np.uint32)
    assert character_table() is table  # made once per process


def test_character_table__kept_on_disk_is_the_one_built_anew():
    assert (character_table() == built_table()).all()


def test_character_table__is_kept_in_the_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "new"))
    make = character_table.__wrapped__
    once, again = make(), make()
    assert len(list((tmp_path / "new").iterdir())) == 1
    assert (once == again).all()
    assert (once == built_table()).all()


def test_character_table__lowers_as_python():
    special = flagged(IRREGULAR) | flagged(SPACE)
    got = (built_table() & np.uint32(CODE_POINT)).tolist()
    wrong = [c for c in SCALARS if c not in special and chr(got[c]) != chr(c).lower()]
    assert wrong == []


def test_character_table__irregular_are_capital_sigma_and_dotted_i():
    assert flagged(IRREGULAR) == {0x3A3, 0x130}


def test_character_table__spaces_are_what_python_strips():
    assert flagged(SPACE) == {c for c in range(0x110000) if chr(c).isspace()}
    lowered = built_table()[sorted(flagged(SPACE))] & np.uint32(CODE_POINT)
    assert set(lowered.tolist()) == {0x20}


def test_character_table__drops_ascii_punctuation_alone():
    assert flagged(DROP) == set(map(ord, string.punctuation))


def test_character_table__cased_and_ignorable_exclude_each_other():
    assert not flagged(CASED) & flagged(IGNORABLE)
    assert {ord(c) for c in "aZßΣİσ"} <= flagged(CASED)
    assert {ord(c) for c in "'.:\u00ad\u0301ʰ"} <= flagged(IGNORABLE)
