"""Files appear whole or not at all."""

import errno
import hashlib
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.storage.files import load_json, replacing, replacing_folder, save_json
from corpusmill.mill.storage.sha256 import DigestingFile, file_sha256


def write(path, data: bytes) -> None:
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_replacing__moves_the_file_into_place_at_the_end(tmp_path):
    with replacing(tmp_path / "new" / "a.bin") as temporary:
        temporary.write_bytes(b"1")
        assert not (tmp_path / "new" / "a.bin").exists()
        assert temporary.parent == tmp_path / "new"
    assert names(tmp_path / "new") == ["a.bin"]
    assert (tmp_path / "new" / "a.bin").read_bytes() == b"1"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_replacing__leaves_nothing_on_an_exception(tmp_path, error):
    def fail() -> None:
        with replacing(tmp_path / "a.bin") as temporary:
            temporary.write_bytes(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert names(tmp_path) == []


def test_replacing__keeps_the_old_file_on_an_exception(tmp_path):
    write(tmp_path / "a.bin", b"old")
    with pytest.raises(TypeError):
        write(tmp_path / "a.bin", "no bytes")
    assert names(tmp_path) == ["a.bin"]
    assert (tmp_path / "a.bin").read_bytes() == b"old"


def test_replacing__fails_if_nothing_was_written(tmp_path):
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "a.bin"):
        pass
    assert names(tmp_path) == []


def test_replacing__removes_what_a_killed_writer_left(tmp_path):
    killed = replacing(tmp_path / "a.bin")
    killed.__enter__().write_bytes(b"half")
    assert len(names(tmp_path)) == 1
    write(tmp_path / "a.bin", b"whole")
    assert names(tmp_path) == ["a.bin"]
    with pytest.raises(FileNotFoundError):
        killed.__exit__(None, None, None)  # it was alive after all: it harms nothing
    assert (tmp_path / "a.bin").read_bytes() == b"whole"


def test_replacing__lets_writers_of_longer_names_be(tmp_path):
    with replacing(tmp_path / "train.bin") as other:
        other.write_bytes(b"other")
        write(tmp_path / "train", b"1")
    assert names(tmp_path) == ["train", "train.bin"]


def test_load_json__gives_back_what_was_saved(tmp_path):
    value = {"ä 水": [1, 2.5, None, {"b": "\n"}], "a": 12345678901234567890}
    save_json(tmp_path / "a.json", value)
    assert load_json(tmp_path / "a.json") == value
    assert "水" in (tmp_path / "a.json").read_text("utf-8")


@given(st.lists(st.binary()))
def test_digesting_file__knows_size_and_sha256(blocks):
    sink = io.BytesIO()
    file = DigestingFile(sink)
    for block in blocks:
        assert file.write(block) == len(block)
    whole = b"".join(blocks)
    expected = (whole, len(whole), hashlib.sha256(whole).hexdigest())
    assert (sink.getvalue(), file.bytes, file.sha256) == expected


@pytest.mark.parametrize("dtype", ["<u2", "<u4"])
def test_digesting_file__counts_the_bytes_of_arrays(dtype):
    sink, array = io.BytesIO(), np.arange(1000, dtype=dtype)
    file = DigestingFile(sink)
    file.write(array)
    assert file.bytes == array.nbytes == len(sink.getvalue())
    assert file.sha256 == hashlib.sha256(array.tobytes()).hexdigest()


def test_file_sha256__equals_hashlib(tmp_path):
    data = bytes(range(256)) * 9000
    (tmp_path / "a").write_bytes(data)
    assert file_sha256(tmp_path / "a") == hashlib.sha256(data).hexdigest()


def test_replacing_folder__names_itself_where_there_is_no_room(tmp_path):
    with pytest.raises(OSError, match="No space") as told, replacing_folder(tmp_path / "kept"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert told.value.filename == str(tmp_path / "kept")
    assert list(tmp_path.iterdir()) == []
