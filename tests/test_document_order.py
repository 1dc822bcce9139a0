"""The check of the order of documents that are not shuffled."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.tools.verify.document_order import AsFoundCheck, SplitOrder
from corpusmill.tools.verify.findings import Findings
from corpusmill.tools.verify.shard_documents import Placed, Shard

COPIES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), max_size=5)


@given(st.lists(COPIES, max_size=4))
def test_as_found__finds_copies_that_do_not_ascend(shards):
    findings, check = Findings(), AsFoundCheck()
    for number, copies in enumerate(shards):
        columns = np.array(copies, np.uint64).reshape(-1, 2).T
        placed = Placed(columns[1], columns[0], pa.array([], pa.string()))
        check.hold(SimpleNamespace(findings=findings), Shard("train", number, ""), placed)
    every = [one for copies in shards for one in copies]
    ascends = all(one < other for one, other in pairwise(every))
    assert (not findings.damages) == ascends


@pytest.mark.parametrize(
    ("told", "shuffled"),
    [
        ("shuffled", ["train", "validation", "stage"]),
        ("as_found", []),
        ({"by": "chars", "bands": 2}, ["validation"]),
    ],
)
def test_split_order__of_a_curriculum_is_of_train_only(told, shuffled):
    order = SplitOrder(told)
    assert [s for s in ("train", "validation", "stage") if order.is_shuffled(s)] == shuffled
