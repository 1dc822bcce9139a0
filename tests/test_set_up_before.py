"""Tokenizers kept in the user's cache give the folder that setting up would give."""

import hashlib
import logging
import os
import shutil
from pathlib import Path

import msgspec
import pytest
from tokenizer_kinds import byte_level

from corpusmill.mill.storage.files import check_folder
from corpusmill.mill.tokens import set_up_before, tokenizer_check, tokenizer_folder
from corpusmill.mill.tokens.set_up_before import (
    MOST_ENTRIES,
    Asked,
    entries,
    entry_of,
    files_of,
    keep,
    vocabulary_of,
)
from corpusmill.mill.tokens.tokenizer_check import check_tokenizer
from corpusmill.mill.tokens.tokenizer_folder import TokenizerChoice

ASKED = Asked("auto", "auto", "given")


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/corpusmill/tokenizers"


@pytest.fixture
def given(tmp_path) -> Path:
    """A local tokenizer."""
    return Path(byte_level(tmp_path / "given"))


@pytest.fixture
def set_up_count(monkeypatch):
    """A list that gets one member for each tokenizer that is set up, not taken from the cache."""
    count, made = [], tokenizer_folder.keep_tokenizer

    def counted(*arguments):
        count.append(arguments)
        return made(*arguments)

    monkeypatch.setattr(tokenizer_folder, "keep_tokenizer", counted)
    return count


def choice(given: Path, **changed) -> TokenizerChoice:
    return TokenizerChoice(str(given), "auto", "auto", 300)._replace(**changed)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_keep__second_time_from_the_cache_with_equal_files(
    cache, given, tmp_path, set_up_count, caplog
):
    caplog.set_level(logging.INFO)
    first = choice(given).keep(tmp_path / "a/tokenizer", "given")
    expected = contents(tmp_path / "a/tokenizer")
    shutil.rmtree(tmp_path / "a")
    second = choice(given).keep(tmp_path / "a/tokenizer", "given")
    assert first == second
    assert contents(tmp_path / "a/tokenizer") == expected
    check_folder(tmp_path / "a/tokenizer")
    assert len(set_up_count) == 1
    assert "set up in an earlier run" in caplog.text
    assert len(list(cache.iterdir())) == 1


def test_keep__other_settings_have_their_own_entries(cache, given, tmp_path, set_up_count):
    choice(given).keep(tmp_path / "a", "given")
    assert choice(given, engine="reference").keep(tmp_path / "b", "given").engine == "reference"
    with pytest.raises(ValueError, match="unknown_end"):
        choice(given, end_of_text="unknown_end").keep(tmp_path / "c", "given")
    assert len(set_up_count) == 3
    assert len(list(cache.iterdir())) == 2


def test_keep__another_name_has_its_own_entry(cache, given, tmp_path, set_up_count):
    choice(given).keep(tmp_path / "a", "given")
    assert choice(given).keep(tmp_path / "b", "other").source == "other"
    assert len(set_up_count) == 2


def test_keep__changed_file_is_noticed_even_with_equal_size_and_time(
    cache, given, tmp_path, set_up_count
):
    choice(given).keep(tmp_path / "a", "given")
    path = given / "tokenizer_config.json"
    state, content = path.stat(), path.read_bytes()
    path.write_bytes(content[:-1] + b" ")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    choice(given).keep(tmp_path / "b", "given")
    assert len(set_up_count) == 2


def test_keep__other_version_of_a_library_has_its_own_entry(
    cache, given, tmp_path, set_up_count, monkeypatch
):
    choice(given).keep(tmp_path / "a", "given")
    monkeypatch.setattr(set_up_before, "version", lambda library: "99.9")
    choice(given).keep(tmp_path / "b", "given")
    assert len(set_up_count) == 2


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(path.read_bytes()[:-9] + b"x" + path.read_bytes()[-8:]),
        lambda path: (path.unlink(), os.mkfifo(path)),
        lambda path: (path.unlink(), path.symlink_to("/nowhere")),
    ],
    ids=["empty", "short", "changed", "pipe", "broken link"],
)
def test_keep__damaged_entry_is_made_again(cache, given, tmp_path, set_up_count, harm):
    expected = choice(given).keep(tmp_path / "a", "given")
    harm(next(cache.iterdir()))
    assert choice(given).keep(tmp_path / "b", "given") == expected
    assert choice(given).keep(tmp_path / "c", "given") == expected
    assert len(set_up_count) == 2


def test_keep__if_gigatoken_is_not_used_each_run_says_why(
    cache, given, tmp_path, set_up_count, monkeypatch
):
    monkeypatch.setattr(tokenizer_folder, "first_difference", lambda *_: "planted")
    for name in ("a", "b"):
        assert choice(given).keep(tmp_path / name, "given").engine == "reference"
    assert len(set_up_count) == 2


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "..", ""])
def test_files_of__no_file_leaves_the_folder(tmp_path, name):
    content = msgspec.msgpack.encode({"tokenizer.json": b"{}", name: b"x"})
    (tmp_path / "entry").write_bytes(hashlib.sha256(content).digest() + content)
    assert files_of(tmp_path / "entry") is None


def test_keep__works_without_a_writable_cache(given, tmp_path, set_up_count, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    choice(given).keep(tmp_path / "a", "given")
    choice(given).keep(tmp_path / "b", "given")
    assert len(set_up_count) == 2


def test_keep__file_changed_during_set_up_is_not_kept(cache, given, tmp_path, monkeypatch):
    made = tokenizer_folder.keep_tokenizer

    def changing(*arguments):
        facts = made(*arguments)
        (given / "tokenizer_config.json").write_text("{}")
        return facts

    monkeypatch.setattr(tokenizer_folder, "keep_tokenizer", changing)
    choice(given).keep(tmp_path / "a", "given")
    assert not cache.exists()


def test_check_tokenizer__does_not_load_a_tokenizer_that_was_set_up_before(
    cache, given, tmp_path, monkeypatch
):
    expected = check_tokenizer(given)
    choice(given).keep(tmp_path / "a", "given")

    def refuse(*_):
        raise AssertionError("loaded")

    monkeypatch.setattr(tokenizer_check, "whole_vocabulary", refuse)
    assert check_tokenizer(given) == expected


def test_vocabulary_of__only_of_equal_files_and_settings(cache, given, tmp_path):
    assert vocabulary_of(str(given), ASKED) is None
    facts = choice(given).keep(tmp_path / "a", "given")
    assert vocabulary_of(str(given), ASKED) == facts.vocabulary
    assert vocabulary_of(str(given), ASKED._replace(engine="gigatoken")) is None
    assert vocabulary_of(str(given), ASKED._replace(end_of_text="</s>")) is None
    (given / "more.json").write_text("{}")
    assert vocabulary_of(str(given), ASKED) is None


def test_entry_of__not_for_hub_names_folders_with_links_or_folders(given, cache, monkeypatch):
    assert entry_of("miller/unknown", ASKED) is None
    assert entry_of(str(given), ASKED).parent == cache == entries()
    monkeypatch.setattr(set_up_before, "MOST_BYTES", 10)
    assert entry_of(str(given), ASKED) is None
    monkeypatch.undo()
    (given / "more").mkdir()
    assert entry_of(str(given), ASKED) is None
    (given / "more").rmdir()
    (given / "more").symlink_to("tokenizer.json")
    assert entry_of(str(given), ASKED) is None


def test_keep__only_the_newest_entries_stay(given, tmp_path, cache):
    choice(given).keep(tmp_path / "a", "given")
    (first,) = cache.iterdir()
    for number in range(MOST_ENTRIES):
        keep(tmp_path / "a", cache / f"entry-{number}")
    assert not first.exists()
    assert len(list(cache.iterdir())) == MOST_ENTRIES
    assert files_of(cache / "entry-0").keys() == {
        path.name for path in (tmp_path / "a").iterdir() if path.name[0] != "."
    }
