"""Sums beside files: what was written is handed out, anything else is refused by name."""

import shutil
import tempfile
from pathlib import Path

import naive
import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.run.lost_files import forget, lost_files
from corpusmill.storage import arrays, sums
from corpusmill.storage.arrays import StoredArray, load_array, save_array
from corpusmill.storage.files import check_folder, load_json, replacing_folder, save_json, writing
from corpusmill.storage.sums import CheckedFile, DamagedError, checked_blocks, load_sums, sums_path

BLOCK = 8


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(sums, "BLOCK_BYTES", BLOCK)
    monkeypatch.setattr(arrays, "BLOCK_BYTES", BLOCK)


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name) / "results"


def write(path: Path, pieces: list[bytes]) -> bytes:
    with writing(path, kept=True) as file:
        for piece in pieces:
            file.write(piece)
    return b"".join(pieces)


def flip(path: Path, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


@examples(100)
@given(pieces=st.lists(st.binary(max_size=30), max_size=6))
def test_writing__sums_equal_naive_however_it_is_written(folder, pieces):
    content = write(folder / "text/0.bin", pieces)
    found = load_sums(folder / "text/0.bin")
    assert found.of_blocks.tolist() == naive.block_sums("text/0.bin", content, BLOCK)
    assert (found.name, found.bytes) == ("text/0.bin", len(content))
    assert b"".join(checked_blocks(folder / "text/0.bin", 2)) == content


@examples(200)
@given(st.binary(min_size=1, max_size=60), st.integers(0, 60), st.integers(0, 60), st.data())
def test_view__is_what_was_written_or_refused(folder, content, start, length, data):
    path = folder / "text/1.bin"
    write(path, [content])
    start = min(start, len(content))
    stop = min(start + length, len(content))
    assert CheckedFile(path).view(start, stop) == content[start:stop]
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    flip(path, bit)
    block = bit // 8 // BLOCK
    if start < stop and start // BLOCK <= block <= (stop - 1) // BLOCK:
        with pytest.raises(DamagedError, match=f"1.bin: block {block} is not what was written"):
            CheckedFile(path).view(start, stop)
    else:
        assert CheckedFile(path).view(start, stop) == content[start:stop]


sorted_keys = st.lists(st.integers(0, 40), max_size=40).map(sorted)


@examples(200)
@given(keys=sorted_keys, key=st.integers(-1, 41), bit=st.integers(0, 40 * 64 - 1))
def test_place_of__is_that_of_searchsorted_or_refused(folder, keys, key, bit):
    path, table = folder / "text/2.npy", np.array(keys, np.int64)
    save_array(path, table)
    assert StoredArray.open(path).place_of(key) == np.searchsorted(table, key)
    if bit < 64 * len(keys):
        flip(path, 8 * (path.stat().st_size - table.nbytes) + bit)
        try:
            assert StoredArray.open(path).place_of(key) == np.searchsorted(table, key)
        except DamagedError as error:
            assert "2.npy: block" in str(error)  # noqa: PT017


@examples(100)
@given(rows=st.integers(1, 20), columns=st.integers(1, 5), data=st.data())
def test_rows__are_those_of_the_array_or_refused(folder, rows, columns, data):
    path, table = folder / "text/3.npy", np.arange(rows * columns, dtype="u4").reshape(rows, -1)
    save_array(path, table)
    wanted = np.array(data.draw(st.lists(st.integers(0, rows - 1), min_size=1)), np.int64)
    assert (StoredArray.open(path).rows(wanted) == table[wanted]).all()
    assert (StoredArray.open(path).rows(wanted, 0) == table[wanted, 0]).all()
    row = data.draw(st.integers(0, rows - 1))
    flip(path, 8 * (path.stat().st_size - table.nbytes + row * 4 * columns))
    if row in wanted:
        with pytest.raises(DamagedError):
            StoredArray.open(path).rows(wanted)


def test_file__under_another_name_is_refused(folder):
    save_array(folder / "text/4.npy", np.arange(3))
    for path, beside in ((folder / "text/4.npy",) * 2,):
        shutil.copyfile(path, folder / "text/5.npy")
        shutil.copyfile(sums_path(beside), sums_path(folder / "text/5.npy"))
    with pytest.raises(
        DamagedError, match=r"expected the sums of text/5\.npy, found those of text/4"
    ):
        load_array(folder / "text/5.npy")


@pytest.mark.parametrize("bit", [0, 100, -9, -1])
def test_sums__that_are_damaged_are_refused(folder, bit):
    save_json(folder / "a.json", {"n": 1})
    beside = sums_path(folder / "a.json")
    flip(beside, bit % (8 * beside.stat().st_size))
    with pytest.raises(DamagedError, match=r"a\.json: its sums in .* are not what was written"):
        load_json(folder / "a.json")


def test_results__may_be_moved(tmp_path):
    save_json(tmp_path / "one/results/text/0.json", {"n": 1})
    shutil.move(tmp_path / "one", tmp_path / "other")
    assert load_json(tmp_path / "other/results/text/0.json") == {"n": 1}


# Folders.


def kept(folder: Path, content: bytes) -> None:
    with replacing_folder(folder) as temporary:
        (temporary / "a").write_bytes(content)
        (temporary / "b").write_bytes(content * 2)


def test_replacing_folder__appears_whole_or_stays_as_it_was(tmp_path):
    folder = tmp_path / "results/tokenizer"
    kept(folder, b"one")
    with pytest.raises(TypeError):
        kept(folder, "no bytes")
    check_folder(folder)
    assert (folder / "a").read_bytes() == b"one"
    (folder.parent / ".tokenizer~9-killed").mkdir()
    kept(folder, b"two")
    assert [path.name for path in folder.parent.iterdir()] == ["tokenizer"]
    assert (folder / "b").read_bytes() == b"twotwo"


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "a").unlink(),
        lambda folder: (folder / "c").write_bytes(b"more"),
        lambda folder: sums_path(folder / "a").unlink(),
        lambda folder: flip(folder / "b", 3),
    ],
    ids=["gone", "one more", "without sums", "flipped"],
)
def test_check_folder__finds_any_change(tmp_path, damage):
    folder = tmp_path / "results/tokenizer"
    kept(folder, b"one")
    damage(folder)
    with pytest.raises(DamagedError, match=r"remove the folder .*results/tokenizer and run again"):
        check_folder(folder)


# Behind barriers.


def test_lost_files__are_those_that_a_barrier_stands_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results, counts = Path("results"), [Path(f"results/scatter/{n}.json") for n in range(2)]
    for n, file in enumerate(counts):
        save_array(Path(f"results/scatter/{n}.npy"), np.arange(3))
        told = {"documents": 3, "index": f"results/scatter/{n}.npy", "digest": "0"}
        save_json(file, told)
    listing = Path("results/scatter/complete.json")
    assert list(lost_files({listing: counts}, results)) == []
    save_json(listing, {"parts": [load_json(file) for file in counts]})
    assert list(lost_files({listing: counts}, results)) == []
    Path("results/scatter/1.npy").unlink()
    (lost,) = lost_files({listing: counts}, results)
    assert lost == (Path("results/scatter/1.npy"), counts[1], listing)
    forget([lost])
    assert [path.exists() for path in (*counts, listing)] == [True, False, False]
