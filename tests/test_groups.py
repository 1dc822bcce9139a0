"""The group of every document of a split, against a naive twin."""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.messages.progress import Silence
from corpusmill.mill.decide.candidates import CopiesOfPart, save_copies
from corpusmill.mill.storage.files import save_json
from corpusmill.mill.storage.tables import save_parquet
from corpusmill.mill.tokens.group_files import GroupFiles, groups_of
from corpusmill.mill.tokens.groups import CellsOfSplit, save_groups

SOURCES = ["web", "code", "books"]
CELLS = [("b", "x"), ("a", "y"), ("a", "x")]


def placed(folder, shards):
    """Placements of shards: lists of (id, source, tokens)."""
    paths = []
    for number, documents in enumerate(shards):
        ids, sources, sizes = zip(*documents, strict=True) if documents else ((), (), ())
        ends = np.cumsum(sizes, dtype=np.int64)
        table = {
            "id": pa.array(ids, pa.uint64()),
            "source": pa.array(sources, pa.string()),
            "token_start": pa.array(ends - np.array(sizes, np.int64), pa.uint64()),
            "token_end": pa.array(ends, pa.uint64()),
        }
        paths.append(folder / f"{number:05d}.parquet")
        save_parquet(paths[-1], pa.table(table))
    return paths


def cells_of(folder, cell_of, blocks=2):
    """Cells by id as `mix` writes them, with documents that no shard has."""
    ids = np.array(sorted(cell_of), np.uint64)
    paths = []
    for number, some in enumerate(np.array_split(ids, blocks)):
        paths.append(folder / f"{number}.arrow")
        cells = np.array([cell_of[id] for id in some.tolist()], np.int64)
        copies = np.array([id % 3 != 2 for id in some.tolist()], np.uint16)
        part = CopiesOfPart(some, {"train": copies}, {"train": cells})
        save_copies(paths[-1], number, [part], ["train"])
    told = {"by": ["source", "topic"], "cells": [{"cell": list(cell)} for cell in CELLS]}
    save_json(folder / "train.json", told)
    return CellsOfSplit.load(folder / "train.json", paths, "train")


DOCUMENTS = st.tuples(st.integers(0, 60).filter(lambda n: n % 3 != 2), st.sampled_from(SOURCES),
                      st.integers(1, 90))  # fmt: skip


@given(st.lists(st.lists(DOCUMENTS, max_size=12), max_size=4), st.booleans(), st.randoms())
def test_groups__equal_naive(tmp_path_factory, shards, mixed, random):
    folder = tmp_path_factory.mktemp("groups")
    cell_of = {id: random.randrange(3) for id in range(61)}
    files = GroupFiles(folder / "groups.npy", folder / "groups.json")
    cells = cells_of(folder, cell_of) if mixed else None
    save_groups(files, placed(folder, shards), cells, Silence())
    every = [document for documents in shards for document in documents]
    names = [(source, CELLS[cell_of[id]] if mixed else None) for id, source, _ in every]
    order = sorted(set(names), key=lambda name: (name[0], name[1] or ()))
    assert np.load(files.numbers).tolist() == [order.index(name) for name in names]
    documents, tokens = Counter(names), Counter()
    for name, (_, _, size) in zip(names, every, strict=True):
        tokens[name] += size
    legend = json.loads(files.legend.read_text())
    groups = groups_of(legend, "legend", len(every))
    assert groups == [(*name, documents[name], tokens[name]) for name in order]
    assert legend["by"] == (["source", "topic"] if mixed else [])


def test_groups__refuse_a_document_that_the_mixture_does_not_have(tmp_path):
    files = GroupFiles(tmp_path / "groups.npy", tmp_path / "groups.json")
    for id in (5, 99):  # without copies; beyond all
        paths = placed(tmp_path, [[(id, "web", 3)]])
        with pytest.raises(ValueError, match="expected only documents of the mixture"):
            save_groups(files, paths, cells_of(tmp_path, dict.fromkeys(range(61), 0)), Silence())
    assert not files.numbers.exists()
