"""Sums beside files: what was written is handed out, anything else is refused by name."""

import shutil
import struct
import tempfile
from pathlib import Path

import naive
import numpy as np
import pytest
import xxhash
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.storage import arrays, sums
from corpusmill.mill.storage.arrays import StoredArray, load_array, save_array
from corpusmill.mill.storage.files import (
    check_folder,
    load_json,
    replacing_folder,
    save_json,
    writing,
)
from corpusmill.mill.storage.recipes import Recipe, Recipes, as_stored, following, recipe_of
from corpusmill.mill.storage.sums import (
    CheckedFile,
    DamagedError,
    checked_blocks,
    load_sums,
    sums_path,
)
from corpusmill.mill.storage.writeback import start_transfer
from corpusmill.run.made_again import lost_files

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


def test_writing__starts_the_transfer_to_the_disk_in_stretches(folder, monkeypatch):
    asked = []

    def transfer(file, start, stop):
        start_transfer(file, start, stop)
        asked.append((start, stop, Path(file.name).stat().st_size))

    monkeypatch.setattr(sums, "TRANSFER_BYTES", 10)
    monkeypatch.setattr(sums, "start_transfer", transfer)
    write(folder / "long", [b"4444", b"", b"55555", b"1", b"333", b"a" * 30])
    assert asked == [(0, 10, 10), (10, 43, 43)]


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
        with pytest.raises(
            DamagedError, match=f"1.bin: block {block} differs from what was written"
        ):
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
        DamagedError, match=r"expected the checksums of text/5\.npy, found those of text/4"
    ):
        load_array(folder / "text/5.npy")


@pytest.mark.parametrize("bit", [0, 100, -9, -1])
def test_sums__that_are_damaged_are_refused(folder, bit):
    save_json(folder / "a.json", {"n": 1})
    beside = sums_path(folder / "a.json")
    flip(beside, bit % (8 * beside.stat().st_size))
    with pytest.raises(DamagedError, match=r"its checksums in .* are not what was written"):
        load_json(folder / "a.json")


@pytest.mark.parametrize("now", [b"\xdc", b"n and no eight bytes"])
def test_sums__that_somebody_damaged_and_summed_again_are_refused(folder, now):
    save_json(folder / "a.json", {"n": 1})
    beside = sums_path(folder / "a.json")
    content = beside.read_bytes()[:-8].replace(b"a.json", b"a.jso" + now)
    beside.write_bytes(content + struct.pack("<Q", xxhash.xxh3_64_intdigest(content)))
    with pytest.raises(DamagedError, match=r"its checksums in .* are not what was written"):
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
    results, tables = Path("results"), [f"results/scatter/{n}.npy" for n in range(2)]
    for table in tables:
        save_array(Path(table), np.arange(3))
    told = [{"documents": 3, "index": table, "digest": "0"} for table in tables]
    assert list(lost_files(told, results)) == []
    Path(tables[1]).unlink()
    assert list(lost_files(told, results)) == [Path(tables[1])]
    assert list(lost_files(told[:1], results)) == []


# Recipes.


def recipes(digests: dict[str, bytes]) -> Recipes:
    return Recipes(as_stored({n: Recipe(1, d) for n, d in digests.items()}))


@examples(100)
@given(st.dictionaries(st.text(), st.tuples(st.integers(0, 2**64 - 1), st.binary(min_size=16,
       max_size=16)), max_size=30), st.text())  # fmt: skip
def test_recipes__are_found_by_name_or_by_the_folder_above(written, name):
    table = {key.strip("/"): Recipe(*made) for key, made in written.items() if key.strip("/")}
    found = Recipes(as_stored(table))
    assert {key: found.of(key) for key in table} == table
    assert {key: found.of(f"{key}/a/b.json") for key in table} == table
    assert name.strip("/") in table or found.of(name) == next(
        (table[above] for above in folders_above(name) if above in table), None
    )


def folders_above(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]


def test_file__of_another_recipe_is_refused(folder):
    path, name = folder / "text/6.json", "text/6.json"
    with following(recipes({name: b"a" * 16})):
        save_json(path, {"n": 1})
        assert load_json(path) == {"n": 1}
    with following(recipes({name: b"b" * 16})):
        with pytest.raises(DamagedError, match=r"6\.json: made from other settings"):
            load_json(path)
        save_json(path, {"n": 2})
        assert load_json(path) == {"n": 2}
    with following(recipes({"text/7.json": b"b" * 16})):  # nobody says by which
        assert load_json(path) == {"n": 2}
    assert load_json(path) == {"n": 2}


def test_file__of_no_run_is_refused_by_a_run(folder):
    save_json(folder / "text/8.json", {})
    with (
        following(recipes({"text/8.json": b"a" * 16})),
        pytest.raises(DamagedError, match="found 000000000000"),
    ):
        load_json(folder / "text/8.json")


def test_folder__of_another_recipe_is_refused(tmp_path):
    folder = tmp_path / "results/tokenizer"
    with following(recipes({"tokenizer": b"a" * 16})):
        kept(folder, b"one")
        check_folder(folder)
    with following(recipes({"tokenizer": b"b" * 16})), pytest.raises(DamagedError, match="recipe"):
        check_folder(folder)


def test_sums__of_another_version_are_told_as_such(folder):
    path = folder / "text/9.json"
    save_json(path, {})
    sums_path(path).write_bytes(b"millsum1" + sums_path(path).read_bytes()[8:])
    with pytest.raises(
        DamagedError, match=r"9\.json: its checksums in .* are from another version"
    ):
        load_json(path)


@pytest.mark.parametrize("bit", [0, 70, 200, -1])
def test_recipes__that_are_damaged_are_refused(tmp_path, bit):
    path = tmp_path / "recipes"
    path.write_bytes(as_stored({"a": Recipe(1, b"a" * 16)}))
    assert Recipes.load(path).of("a") == (1, b"a" * 16)
    flip(path, bit % (8 * path.stat().st_size))
    with pytest.raises(ValueError, match="recipes: its content differs from what the run wrote"):
        Recipes.load(path)


def test_recipe__is_another_one_when_anything_is():
    made = [
        recipe_of(step, told, inputs)
        for step in ("sign", "band")
        for told in (["a"], ["b"], ["a", ""], ["", "a"])
        for inputs in ([], [("a", b"1" * 16)], [("a", b"2" * 16)], [("b", b"1" * 16)])
    ]
    assert len({*made}) == len(made)
    inputs = [("a", b"1" * 16), ("b", b"2" * 16)]
    assert recipe_of("sign", [], inputs) == recipe_of("sign", [], inputs[::-1])
