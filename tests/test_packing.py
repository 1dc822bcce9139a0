"""Documents of a split are packed into rows: best fit, longest first, as an index."""

import heapq
import itertools

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.kernels.packing import best_fit, by_row, cut_documents, longest_first, merged
from corpusmill.mill.account.summary import PACKED, packed_in_words, packed_of
from corpusmill.mill.storage.arrays import load_array
from corpusmill.mill.storage.files import load_json, save_json
from corpusmill.mill.tokens.pack_files import PackFiles, npy_header, pack_name, runs
from corpusmill.mill.tokens.packing import packing_of, save_packing
from corpusmill.reader.packing import packed

SIZES = st.lists(st.integers(1, 40), max_size=40)
LENGTHS = st.integers(2, 20)


def starts_of(sizes: list[int]) -> np.ndarray:
    return np.cumsum([0, *sizes])


def rows_of(sizes: list[int], length: int) -> list[list[tuple[int, int]]]:
    """(start, size) of the pieces of each row."""
    made = packing_of(starts_of(sizes), length)
    start, size = (one[made.pieces].tolist() for one in (made.start, made.size))
    found = list(zip(start, size, strict=True))
    return [found[a:b] for a, b in itertools.pairwise(made.first.tolist())]


@given(SIZES, LENGTHS)
def test_cut_documents__equals_naive(sizes, length):
    expected = naive.cut_documents(sizes, length)
    start, size = np.empty(len(expected), np.int64), np.empty(len(expected), np.int32)
    cut_documents(starts_of(sizes), length, start, size)
    assert list(zip(start.tolist(), size.tolist(), strict=True)) == expected


@given(st.lists(st.integers(1, 9)))
def test_longest_first__is_a_stable_sort(sizes):
    got = longest_first(np.array(sizes, np.int32), 9)
    assert got.tolist() == sorted(range(len(sizes)), key=lambda piece: -sizes[piece])


@given(st.lists(st.booleans(), max_size=60), st.randoms())
def test_merged__gives_rows_in_ascending_order(pushes, random):
    left, right = np.full((2, len(pushes)), -1, np.int32)
    rows = list(range(len(pushes)))
    random.shuffle(rows)
    root, expected = -1, []
    for push, row in zip(pushes, rows, strict=True):
        if push or not expected:
            root = merged(left, right, root, row)
            heapq.heappush(expected, row)
        else:
            assert root == heapq.heappop(expected)
            root = merged(left, right, left[root], right[root])
    assert root == (expected[0] if expected else -1)


@given(st.lists(st.integers(1, 70), max_size=60), st.integers(0, 30))
def test_best_fit__equals_naive(sizes, more):
    capacity = max([1, *sizes]) + more
    row_of = np.empty(len(sizes), np.int32)
    rows = best_fit(np.array(sizes, np.int32), capacity, row_of)
    expected = naive.best_fit(sizes, capacity)
    assert (rows, row_of.tolist()) == (max([-1, *expected]) + 1, expected)


@given(st.lists(st.integers(0, 7)))
def test_by_row__lists_the_pieces_of_each_row_in_order(row_of):
    first, pieces = np.zeros(9, np.int64), np.empty(len(row_of), np.int32)
    by_row(np.array(row_of, np.int32), first, pieces)
    got = [pieces[first[row] : first[row + 1]].tolist() for row in range(8)]
    assert got == [[n for n, own in enumerate(row_of) if own == row] for row in range(8)]


@given(SIZES, LENGTHS)
def test_packing_of__has_the_rows_of_the_reader(sizes, length):
    plan = packed(starts_of(sizes), length)
    made = packing_of(starts_of(sizes), length)
    assert made.start[made.pieces].tolist() == plan.start.tolist()
    assert made.size[made.pieces].tolist() == plan.size.tolist()
    assert made.first.tolist() == plan.first.tolist()


def test_packing_of__is_that_of_the_reader_on_many_documents():
    sizes = np.random.default_rng(2).lognormal(5, 1.2, 20_000).astype(int) + 1
    starts = np.append(0, np.cumsum(sizes))
    made, plan = packing_of(starts, 512), packed(starts, 512)
    assert np.array_equal(made.start[made.pieces], plan.start)
    assert np.array_equal(made.first, plan.first)


@given(SIZES, LENGTHS)
def test_packing_of__never_cuts_a_document_that_fits(sizes, length):
    pieces = {piece for row in rows_of(sizes, length) for piece in row}
    documents = zip(starts_of(sizes).tolist(), sizes, strict=False)
    assert {one for one in documents if one[1] <= length + 1} <= pieces
    long = sum(size > length + 1 for size in sizes)
    assert packing_of(starts_of(sizes), length).cut_documents == long


@given(SIZES, LENGTHS, st.integers(0, 9))
def test_save_packing__equals_naive(tmp_path_factory, sizes, length, seed):
    folder = tmp_path_factory.mktemp("pack")
    files = PackFiles(folder / "a.npy", folder / "b.npy", folder / "c.json")
    save_packing(files, packing_of(starts_of(sizes), length), length, seed, len(sizes))
    rows = naive.packed_index(sizes, length, seed)
    pieces, ends = load_array(files.pieces), load_array(files.rows)
    assert pieces.tolist() == [[a, b] for row in rows for a, b in row]
    assert ends.tolist() == np.cumsum([0, *map(len, rows)]).tolist()
    filled = sum(b - a for row in rows for a, b in row)
    facts = load_json(files.facts)
    assert (facts["rows"], facts["pieces"]) == (len(rows), len(pieces))
    assert facts["fill_rate"] == (filled / (len(rows) * (length + 1)) if rows else 0)
    assert facts["filled_tokens"] == filled


def test_save_packing__writes_arrays_that_numpy_loads(tmp_path):
    files = PackFiles(tmp_path / "a.npy", tmp_path / "b.npy", tmp_path / "c.json")
    save_packing(files, packing_of(starts_of([5, 9, 2]), 4), 4, 1, 3)
    pieces = np.load(files.pieces, mmap_mode="r")
    assert (pieces.dtype, pieces.shape) == (np.dtype("<u8"), (4, 2))
    assert files.pieces.read_bytes().startswith(npy_header((4, 2)))
    assert np.load(files.rows)[-1] == 4


def test_packing_of__refuses_more_pieces_than_it_can_count():
    starts = np.array([0, 1 << 33], np.int64)
    with pytest.raises(ValueError, match=r"length 2: expected at most 2,147,483,647 pieces"):
        packing_of(starts, 2)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5))))
def test_runs__are_ranges_in_turn(ranges):
    first, counts = np.array(ranges, np.int64).reshape(-1, 2).T
    assert runs(first, counts).tolist() == [a + k for a, n in ranges for k in range(n)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pack-2048.npy", (2048, "npy")),
        ("pack-2.rows.npy", (2, "rows.npy")),
        ("pack-1048576.json", (1 << 20, "json")),
        ("pack-1048577.json", None),
        ("pack-1.npy", None),
        ("pack-02.npy", None),
        ("pack-٢.npy", None),
        ("00001.json", None),
    ],
)
def test_pack_name__is_that_of_an_index(name, expected):
    assert pack_name(name) == expected


def test_summary__has_packed_rows_by_split_and_length(tmp_path):
    facts = {"length": 8, "rows": 4, "documents": 9, "cut_documents": 2, "fill_rate": 0.98765}
    for split, own in {"train": facts, "test": facts | {"rows": 0}}.items():
        save_json(tmp_path / split / "pack-8.json", own)
    packed = packed_of([tmp_path / split / "pack-8.json" for split in ("train", "test")])
    assert list(packed) == ["train", "test"]
    assert packed["train"]["8"] == {name: facts[name] for name in PACKED}
    assert list(packed_in_words(packed)) == [
        "train packed to 8 tokens: 4 rows, 98.77 % full, 2 of 9 documents cut"
    ]
