"""What is written for a bin is what the bin reads, over parts, batches and blocks of parts."""

import itertools
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pytest
from effort import examples
from handmade import edge_array, order_by_hand, order_rows, text_part, verdict_file
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.decide.fates import KEPT
from corpusmill.mill.dedup.components import bins_of, paired, union_find
from corpusmill.mill.dedup.edges import DROPPED, IDENTICAL, Similarity
from corpusmill.mill.dedup.extracts import ExtractFiles, Known, read_extract, write_extract
from corpusmill.mill.dedup.order import Preference, Ranked, order_of_part
from corpusmill.mill.dedup.winners import clusters_of_part
from corpusmill.mill.read.ids import dense_numbers, ids_of_part, starts_of_parts
from corpusmill.mill.storage.arrays import load_array, save_array
from corpusmill.mill.storage.files import load_json, save_json, writing

ANY_ORDER = Preference({"s": None}, {"s": 1}, None, None)
documents = st.tuples(st.text(max_size=5), st.integers(0, 6))
parts_of_documents = st.lists(st.lists(documents, max_size=9), min_size=1, max_size=4)


def order_of_id(id: int) -> tuple[int, int | None, int]:
    return id, None if id % 3 == 0 else id + 1, 2**64 - 1 - id


def write_block(folder: Path, number: int, parts, first: int, bins: int) -> dict:
    """parts: of every document the text and the label."""
    offsets = []
    with writing(folder / f"{number}.arrows") as file:
        for part, rows in enumerate(parts, first):
            text = text_part(folder / f"{part}.arrow", [text for text, _ in rows])
            ids = ids_of_part(part, len(rows))
            order = order_by_hand([order_of_id(i) for i in ids.tolist()])
            known = Known(ids, order, (ids % np.uint64(3)).astype(np.uint32))
            labels = np.array([label for _, label in rows], np.uint32)
            read = []
            offsets.append(write_extract(file, text, known, labels, bins, read.append))
            assert sum(read) == len(rows)
    save_array(folder / f"{number}.npy", np.array(offsets))
    save_array(folder / f"{number}.edges", edge_array([]))
    save_array(folder / f"{number}.starts", np.zeros(bins + 1, np.int64))
    kinds = {"data": "arrows", "index": "npy", "edges": "edges", "edge_starts": "starts"}
    return {name: str(folder / f"{number}.{kind}") for name, kind in kinds.items()}


@examples(150)
@given(parts=parts_of_documents, block=st.integers(1, 3), batch_rows=st.integers(1, 4))
def test_read_extract__gives_what_was_written(parts, block, batch_rows):
    bins = 3
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr("corpusmill.mill.read.parts.MAX_BATCH_ROWS", batch_rows)
        patch.setattr("corpusmill.mill.storage.sliced_streams.BLOCK_BYTES", 6)
        blocks = [
            write_block(Path(name), number, parts[first : first + block], first, bins)
            for number, first in enumerate(range(0, len(parts), block))
        ]
        extracts = [read_extract(blocks, bin) for bin in range(bins)]
    for bin, extract in enumerate(extracts):
        expected = [
            (part << 32 | row, text.encode() if (label - 1) % 2 else b"")
            for part, rows in enumerate(parts)
            for row, (text, label) in enumerate(rows)
            if label and (label - 1) // 2 == bin
        ]
        offsets, data = extract.texts
        spans = itertools.pairwise(offsets.tolist())
        texts = [bytes(data[start:stop]) for start, stop in spans]
        assert list(zip(extract.ids.tolist(), texts, strict=True)) == expected
        order = order_by_hand([order_of_id(id) for id, _ in expected])
        assert order_rows(extract.order) == order_rows(order)
        assert extract.sources.tolist() == [id % 3 for id, _ in expected]
        assert extract.edges.size == 0


def test_read_extract__of_nothing(tmp_path):
    blocks = [write_block(tmp_path, 0, [[], [("a", 0)]], 0, 2)]
    for listing in (blocks, []):
        extract = read_extract(listing, 1)
        assert (extract.ids.size, order_rows(extract.order), extract.edges.size) == (0, [], 0)
        assert extract.texts.offsets.tolist() == [0]


CORPUS = [["ab", "b", "c"], [], ["ab", "", "d", "ab"], ["x"], ["c", "ab"]]
EDGES = [(0, 2 << 32, IDENTICAL), (0, 2 << 32 | 3, IDENTICAL), (0, 4 << 32 | 1, IDENTICAL),
         (2, 4 << 32, IDENTICAL), (1, 2 << 32 | 2, 5), (2 << 32 | 2, 3 << 32, 128)]  # fmt: skip


def extracted(step, folder: Path, bins: int, block: int, files: int) -> list:
    """Extracts of all bins, as the scripts make them from CORPUS and EDGES in so many files."""
    starts = starts_of_parts([len(part) for part in CORPUS])
    table = edge_array(EDGES)
    ends = np.column_stack([table["a"], table["b"]])
    needs = np.zeros(starts[-1], bool)
    needs[dense_numbers(ends[table["matches"] < 100].ravel(), starts)] = True
    roots = union_find([ends], starts)
    save_array(folder / "labels", bins_of(roots, paired(roots), needs, bins))
    save_array(folder / "starts", starts)
    pairs = [folder / f"{number}.pairs.json" for number in range(files)]
    for number in range(files):
        save_array(folder / f"{number}.pairs", np.sort(table[number::files], order=("a", "b")))
        save_json(pairs[number], {"file": str(folder / f"{number}.pairs")})
    texts, ranked = [], []
    for number, part in enumerate(CORPUS):
        texts.append(text_part(folder / f"{number}.arrow", part))
        sizes = [len(text) for text in part]
        path = folder / f"{number}.verdicts"
        ranked.append(verdict_file(path, [KEPT] * len(part), ["s"] * len(part), sizes))
    groups = SimpleNamespace(labels=folder / "labels", starts=folder / "starts")
    blocks = []
    for first in range(0, len(CORPUS), block):
        kinds = ("data", "index", "edges", "edge_starts", "counts")
        out = {kind: folder / f"{first}.{kind}" for kind in kinds}
        mine, extract = slice(first, first + block), step("extract")
        extract.extract(
            extract.Parts(texts[mine], *zip(*ranked[mine], strict=True)), groups,
            pairs, first, bins, ANY_ORDER, ExtractFiles(**out),
        )  # fmt: skip
        blocks.append(load_json(out["counts"]))
    return [read_extract(blocks, bin) for bin in range(bins)]


@pytest.mark.some(5)
@pytest.mark.parametrize("bins", [1, 2, 5])
@pytest.mark.parametrize("block", [1, 2, 9])
@pytest.mark.parametrize("files", [1, 3])
def test_extract__brings_every_document_and_pair_to_one_bin(step, tmp_path, bins, block, files):
    extracts = extracted(step, tmp_path, bins, block, files)
    edges = [edge for extract in extracts for edge in extract.edges.tolist()]
    assert sorted(edges) == sorted(EDGES)
    ids = [id for extract in extracts for id in extract.ids.tolist()]
    assert sorted(ids) == sorted({end for edge in EDGES for end in edge[:2]})
    for extract in extracts:
        assert extract.ids.tolist() == sorted(extract.ids.tolist())
        assert set(extract.edges["a"]) | set(extract.edges["b"]) == set(extract.ids)
        for part in range(len(CORPUS)):
            of_part = order_of_part(Ranked(*[tmp_path / f"{part}.verdicts"] * 2), part, ANY_ORDER)
            mine = extract.ids >> np.uint64(32) == part
            rows = extract.ids[mine] & np.uint64(0xFFFFFFFF)
            whole, mine = order_rows(of_part), np.flatnonzero(mine)
            got = order_rows(extract.order)
            assert [got[k] for k in mine] == [whole[row] for row in rows.tolist()]
        lengths = extract.texts.sizes().tolist()
        wanted = {1: 1, 2 << 32 | 2: 1}
        assert lengths == [wanted.get(id, 0) for id in extract.ids.tolist()]


@pytest.mark.parametrize("bins", [1, 3])
def test_resolve__and_assign_read_back_who_is_dropped(step, tmp_path, bins):
    extracted(step, tmp_path, bins, 2, 2)
    reports = []
    for bin in range(bins):
        step("resolve").resolve(
            sorted(tmp_path.glob("*.counts")), bin, {"resolve": "kept", "shingle_chars": 3},
            Similarity(0.5, 128), {"s": "near"}, tmp_path / f"{bin}.dropped",
            tmp_path / f"{bin}.winners", tmp_path / f"{bin}.report",
        )  # fmt: skip
        reports.append(load_json(tmp_path / f"{bin}.report"))
        table = load_array(tmp_path / f"{bin}.dropped")
        assert table.dtype == DROPPED
        assert table["id"].tolist() == sorted(table["id"].tolist())
    assert sum(report["documents"] for report in reports) == 9
    assert sum(report["pairs"] for report in reports) == 2
    assert sum(report["measured"] for report in reports) == 1
    resolved = sorted(tmp_path.glob("*.report"))
    dropped_of_part = step("assign").dropped_of_part
    got = [
        pair
        for part in range(len(CORPUS))
        for pair in dropped_of_part(resolved, part)[["id", "winner"]].tolist()
    ]
    copies = [(2 << 32, 0), (2 << 32 | 3, 0), (4 << 32, 2), (4 << 32 | 1, 0)]
    expected = sorted([*copies, (3 << 32, 2 << 32 | 2)])
    assert sorted(got) == expected
    clusters = [clusters_of_part(resolved, part, 4) for part in range(len(CORPUS))]
    assert all((one.sources == 1).all() for one in clusters)
    sizes = [one.documents.tolist() for one in clusters]
    winners = Counter(winner for _, winner in expected)
    assert sizes == [
        [1 + winners[part << 32 | row] for row in range(4)] for part in range(len(CORPUS))
    ]
