"""Orders other than shuffled: as found, and curricula in bands."""

import itertools
import json
from collections import Counter
from pathlib import Path

import naive_orders as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_orders import Document

from corpusmill.mill.decide.curriculum import Arranging, Curriculum
from corpusmill.mill.decide.splits_and_copies import order_keys
from corpusmill.mill.read.ids import ROW_BITS
from corpusmill.mill.shuffle.arranging import (
    OrderGiven,
    arrange,
    bands_of,
    lines_of,
    load_orders,
    names_of_bands,
    save_values,
)
from corpusmill.mill.shuffle.orders import MOST_SIZE, fractions_of, high_product, starts_of_bands
from corpusmill.mill.shuffle.targets import emissions
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.files import save_json

AS_FOUND = Arranging(["train"], None)
NUMBERS = st.integers(0, 2**64 - 1)
NAN = float("nan")


def by_value(bands: int, descending: bool = False, missing: str = "last") -> Arranging:
    return Arranging(["train"], Curriculum("score", "score", bands, descending, missing))


def parts_of(rows: list[list[tuple[int, float, int]]]) -> list[list[Document]]:
    """rows: size, value and copies of each document, by part."""
    return [
        [Document(part << ROW_BITS | row, *facts) for row, facts in enumerate(of_part)]
        for part, of_part in enumerate(rows)
    ]


FACTS = st.tuples(
    st.integers(1, 30),
    st.sampled_from([0.0, -0.0, 1.0, 2.5, -3.0, 7.0, NAN, float("inf")]),
    st.integers(0, 4),
)
PARTS = st.lists(st.lists(FACTS, max_size=8), min_size=1, max_size=4).map(parts_of)


class Placed:
    """The copies of all parts of a corpus, in order."""

    def __init__(self, folder: Path, parts: list[list[Document]], arranging: Arranging, shards: int,
                 per_block: int = 2) -> None:  # fmt: skip
        blocks = [parts[at : at + per_block] for at in range(0, len(parts), per_block)]
        paths = [folder / f"{block}.arrow" for block in range(len(blocks))]
        for place, (path, block) in enumerate(zip(paths, blocks, strict=True)):
            save_values(path, place * per_block, arranging, map(columns, block))
        arranged = arrange(paths, arranging)
        self.told = arranged.told
        starts, told = folder / "starts.npy", folder / "order.json"
        save_array(starts, arranged.starts)
        save_json(told, {"splits": arranged.told})
        found = []
        for part, documents in enumerate(parts):
            given = OrderGiven(arranging, [paths[part // per_block]], [told], [starts])
            ids = np.array([one.id for one in documents], np.uint64)
            copies = {"train": np.array([one.copies for one in documents], np.uint16)}
            orders = load_orders(given, part)
            those = emissions(ids, copies, {"train": shards}, {"train": 42}, orders)
            found += zip(those.target.tolist(), those.key.tolist(), ids[those.row].tolist(),
                         those.copy.tolist(), strict=True)  # fmt: skip
        self.rows = sorted(found)
        self.copies = [(id, copy) for _, _, id, copy in self.rows]
        self.keys = [key for _, key, _, _ in self.rows]
        size = {one.id: one.size for of_part in parts for one in of_part}
        self.sizes: Counter = Counter(dict.fromkeys(range(shards), 0))
        for target, _, id, _ in self.rows:
            self.sizes[target] += size[id]


def columns(documents: list[Document]) -> dict[str, np.ndarray]:
    return {
        "size": np.array([one.size for one in documents], np.int64),
        "value": np.array([one.value for one in documents], np.float64),
        "train": np.array([one.copies for one in documents], np.uint16),
    }


def every(parts: list[list[Document]]) -> list[Document]:
    return [one for part in parts for one in part]


def written(parts: list[list[Document]]) -> list[tuple[int, int]]:
    return [(one.id, copy) for one in every(parts) for copy in range(one.copies)]


@given(st.lists(NUMBERS, min_size=1), st.lists(NUMBERS, min_size=1))
def test_high_product__equals_naive(numbers, others):
    pairs = [*itertools.product(numbers[:5], others[:5])]
    got = high_product(*(np.array(column, np.uint64) for column in zip(*pairs, strict=True)))
    assert got.tolist() == [a * b >> 64 for a, b in pairs]


@given(st.integers(1, MOST_SIZE - 1), st.data())
def test_fractions_of__equal_naive(total, data):
    parts = data.draw(st.lists(st.integers(0, total - 1), max_size=5))
    got = fractions_of(np.array(parts, np.int64), total)
    assert got.tolist() == [(part << 64) // total for part in parts]


def test_fractions_of__refuses_more_than_fits():
    with pytest.raises(ValueError, match=r"^shuffle\.order: the text of a split has .* bytes"):
        fractions_of(np.zeros(1, np.int64), MOST_SIZE)


@given(st.lists(st.integers(0, 2**50), min_size=1, max_size=9))
def test_starts_of_bands__equal_naive(sizes):
    assert starts_of_bands(sizes).tolist() == naive.starts(sizes)


@given(PARTS, st.integers(1, 5))
def test_as_found__equals_naive(tmp_path_factory, parts, shards):
    got = Placed(tmp_path_factory.mktemp("order"), parts, AS_FOUND, shards)
    assert got.copies == naive.as_found(every(parts))
    assert got.keys == naive.keys_as_found(every(parts))


@given(PARTS, st.integers(1, 5))
def test_as_found__shards_differ_by_a_document_at_most(tmp_path_factory, parts, shards):
    got = Placed(tmp_path_factory.mktemp("order"), parts, AS_FOUND, shards)
    longest = max((one.size for one in every(parts)), default=0)
    mean = sum(got.sizes.values()) / shards
    assert all(abs(size - mean) <= longest for size in got.sizes.values())


def has_value(documents: list[Document]) -> bool:
    used = [one for one in documents if one.copies]
    return not used or any(one.value == one.value for one in used)


@given(PARTS.filter(lambda parts: has_value(every(parts))), st.sampled_from([1, 2, 3, 7]),
       st.booleans(), st.integers(1, 3))  # fmt: skip
def test_curriculum__equals_naive(tmp_path_factory, parts, bands, descending, shards):
    folder = tmp_path_factory.mktemp("order")
    got = Placed(folder, parts, by_value(bands, descending), shards)
    assert sorted(got.copies) == written(parts)
    signed = [one._replace(value=-one.value if descending else one.value) for one in every(parts)]
    limits = naive.limits(signed, bands)
    band = {one.id: naive.band(one.value, limits, bands) for one in signed}
    sizes = [sum(one.size * one.copies for one in signed if band[one.id] == k)
             for k in range(bands + 1)]  # fmt: skip
    starts = naive.starts(sizes)
    copies = {one.id: one.copies for one in signed}
    for key, (id, copy) in zip(got.keys, got.copies, strict=True):
        numbers = np.array([id], np.uint64), np.array([copy]), np.array([copies[id]])
        (hashed,) = order_keys(*numbers, seed=42).tolist()
        first, end = starts[band[id]], starts[band[id] + 1]
        assert key == first + (hashed * (end - first) >> 64)
    in_order = [band[id] for id, _ in got.copies]
    assert in_order == sorted(in_order)
    assert [one["size"] for one in got.told["train"]["bands"]] in (sizes, [])
    assert len([*lines_of(got.told)]) in (bands + 1, 0)


def many(count: int, copies: int) -> list[list[Document]]:
    chance = np.random.default_rng(7)
    rows = zip(chance.integers(1, 500, count).tolist(), chance.normal(size=count).tolist(),
               [copies] * count, strict=True)  # fmt: skip
    rows = [*rows]
    return parts_of([rows[: count // 3], rows[count // 3 :]])


def test_curriculum__bands_and_shards_have_equal_sizes(tmp_path):
    got = Placed(tmp_path, many(30_000, 1), by_value(8), 5)
    of_bands = [band["size"] for band in got.told["train"]["bands"]]
    assert of_bands[-1] == 0
    assert max(of_bands[:-1]) - min(of_bands[:-1]) <= 1000
    sizes = [*got.sizes.values()]
    assert max(sizes) < 1.03 * min(sizes)


def test_curriculum__copies_are_far_apart_in_their_band(tmp_path):
    got = Placed(tmp_path, many(3000, 3), by_value(4), 2)
    places: dict[int, list[int]] = {}
    for place, (id, _) in enumerate(got.copies):
        places.setdefault(id, []).append(place)
    of_band = len(got.copies) / 4
    nearest = min(high - low for its in places.values() for low, high in itertools.pairwise(its))
    assert nearest > 0.25 * of_band  # a third, but documents differ in size


def test_curriculum__within_one_band_is_the_shuffled_order(tmp_path):
    parts = many(500, 2)
    got = Placed(tmp_path, parts, by_value(1), 3)
    ids = np.array([one.id for one in every(parts)], np.uint64)
    plain = emissions(ids, {"train": np.full(ids.size, 2, np.uint16)}, {"train": 3}, {"train": 42})
    assert got.copies == [*zip(ids[plain.row].tolist(), plain.copy.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("values", "missing", "said"),
    [
        ([NAN, NAN], "last", r"^shuffle\.order: no document of train has a value for score\. "
         r"Choose another value\.$"),
        ([NAN, 1.0], "fail", r"^shuffle\.order: 1 documents of train have no value for score\. Set "
         r"missing to last, or filter them out\.$"),
    ],
)  # fmt: skip
def test_curriculum__refuses_documents_without_a_value(tmp_path, values, missing, said):
    parts = parts_of([[(3, value, 1) for value in values]])
    with pytest.raises(ValueError, match=said):
        Placed(tmp_path, parts, by_value(2, missing=missing), 1)


def test_curriculum__of_no_document_has_no_band(tmp_path):
    got = Placed(tmp_path, parts_of([[(3, NAN, 0)]]), by_value(2), 1)
    assert got.told == {"train": {"value": "score", "edges": [], "bands": []}}
    assert json.loads((tmp_path / "order.json").read_text())["splits"] == got.told


@pytest.mark.parametrize(
    ("edges", "descending", "expected"),
    [
        ([], False, ["any", "none"]),
        ([1.0, 2.5], False, ["<1", "1 to 2.5", ">=2.5", "none"]),
        ([-2.5, 1.0], True, [">2.5", "2.5 to -1", "<=-1", "none"]),
        ([float("inf")], False, ["<inf", ">=inf", "none"]),
    ],
)
def test_names_of_bands__are_their_limits(edges, descending, expected):
    assert names_of_bands(np.array(edges, np.float64), descending) == expected


@given(st.lists(st.floats(), max_size=9), st.lists(st.floats(allow_nan=False), max_size=4))
def test_bands_of__equals_naive(values, limits):
    edges = sorted(limits)
    got = bands_of(np.array(values, np.float64), np.array(edges, np.float64), 9).tolist()
    assert got == [naive.band(value, edges, 9) for value in values]
