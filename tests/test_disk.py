"""The disk space that a run needs, from its plan."""

import numpy as np
import pytest
from test_layout import config_with, layout

from corpusmill.mill.tokens.pack_files import PackFiles
from corpusmill.mill.tokens.packing import packing_of, save_packing
from corpusmill.run.disk import TEXT_PER_TOKEN, Disk, expected_disk, packed_bytes
from corpusmill.run.read_sizes import EXPECTED_DOCUMENT_BYTES

BYTES_SHARE = 0.99
"""Of train."""


def disk(**sections) -> Disk:
    """Of a run of 3 GB."""
    return expected_disk(config_with(**sections), layout(**sections), 0)


@pytest.mark.parametrize("length", [2, 64, 512, 2048])
def test_packed_bytes__are_those_of_documents_of_the_expected_size(tmp_path, length):
    sizes = np.random.default_rng(1).lognormal(5.6, 1, 5_000).astype(int) + 1
    sizes = sizes * EXPECTED_DOCUMENT_BYTES // int(sizes.mean() * TEXT_PER_TOKEN) + 1
    files = PackFiles(tmp_path / "a.npy", tmp_path / "b.npy", tmp_path / "c.json")
    starts = np.append(0, np.cumsum(sizes))
    save_packing(files, packing_of(starts, length), length, 1, sizes.size)
    written = files.pieces.stat().st_size + files.rows.stat().st_size
    expected = packed_bytes(length) * EXPECTED_DOCUMENT_BYTES * sizes.size
    assert written == pytest.approx(expected, rel=0.25)


def test_expected_disk__counts_packed_rows_of_every_length():
    without, one, two = (disk(output={"pack": pack}) for pack in ([], [64], [64, 2]))
    assert one.likely - without.likely == pytest.approx(3e9 * packed_bytes(64))
    assert two.likely - one.likely == pytest.approx(3e9 * packed_bytes(2))
    assert without.least < one.least < two.least


def test_expected_disk__follows_the_budget_of_a_mixture():
    budgets = [{"bytes": 10**9}, {"bytes": 2 * 10**9}, {"documents": 10**6}]
    one, two, documents = (disk(mixture={"budget": budget}) for budget in budgets)
    assert one.likely < two.likely < disk().likely
    per_byte = (two.likely - one.likely) / 1e9
    assert documents.likely == pytest.approx(two.likely)
    assert disk().likely - two.likely == pytest.approx(per_byte * (BYTES_SHARE * 3e9 - 2e9))


def test_expected_disk__counts_every_stage():
    stages = [{"name": name, "budget": {"bytes": 10**9}} for name in ("one", "two")]
    assert disk(stages=stages).likely == pytest.approx(
        disk(mixture={"budget": {"bytes": 2 * 10**9}}).likely
    )


def test_expected_disk__has_ids_that_are_counted_before_the_shuffle():
    tokenizer = {"source": "somewhere"}
    tokens = disk(mixture={"budget": {"tokens": 10**8}}, tokenizer=tokenizer)
    same = disk(mixture={"budget": {"bytes": int(10**8 * TEXT_PER_TOKEN)}}, tokenizer=tokenizer)
    assert tokens.likely - same.likely > 0.9 * 3e9
