"""Documents of some sources or cells, read as one stream; mixtures that change in mid-training."""

import json

import naive_stream
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stream_corpus import documents, read_manifest, write_corpus, write_manifest

from corpusmill.reader import Batches, Chosen, Corpus, InOrder, Mixture, Shuffled, Windowed, changed
from corpusmill.reader.selection import Selection

GROUPS = [("web", ("web", "en")), ("web", ("web", "de")), ("code", ("code", "en")), ("code", None)]
SHARDS = [[5, 9, 30, 3], [], [2, 2, 2, 7, 8], [100, 1, 40]]


def all_documents(shards: list[list[int]]) -> list[list[int]]:
    return documents([size for own in shards for size in own], 0, 50_000)


@pytest.fixture
def results(tmp_path):
    return write_corpus(tmp_path, {"train": SHARDS}, groups=GROUPS)


@pytest.fixture
def train(results):
    return Corpus(results).split("train")


@given(
    st.lists(st.lists(st.integers(1, 30), max_size=8), min_size=1, max_size=4),
    st.integers(1, 20),
    st.data(),
)
def test_selection__equals_naive(tmp_path_factory, shards, length, data):
    texts = all_documents(shards)
    results = write_corpus(tmp_path_factory.mktemp("chosen"), {"train": shards})
    numbers = data.draw(st.lists(st.integers(0, max(0, len(texts) - 1)), max_size=30 * bool(texts)))
    split = Corpus(results).split("train") if texts else None
    stream = [id for number in numbers for id in texts[number]]
    if len(stream) <= length:
        return
    chosen = Selection(split, np.array(numbers, np.int64), {})
    order = InOrder(chosen, length)
    expected = naive_stream.samples(stream, length)
    assert len(order.samples) == len(expected)
    wanted = np.array(data.draw(st.lists(st.integers(0, len(expected) - 1))), np.int64)
    rows = order.samples.rows(wanted)
    assert rows.tolist() == [expected[number] for number in wanted.tolist()]
    chosen.hold()
    assert (order.samples.rows(wanted) == rows).all()


def test_chosen__has_the_documents_of_sources_and_cells(train):
    texts = all_documents(SHARDS)
    for given_names, groups in (
        ({"sources": ["code"]}, {2, 3}),
        ({"cells": [("web",)]}, {0, 1}),
        ({"cells": [("web", "de"), ("code", "en")]}, {1, 2}),
        ({"sources": ["web"], "cells": [("web", "en")]}, {0}),
        ({}, {0, 1, 2, 3}),
    ):
        chosen = Chosen(train, **given_names)
        own = [id for k, text in enumerate(texts) if k % 4 in groups for id in text]
        assert chosen.tokens == len(own)
        batches = Batches(InOrder(chosen, 5), 1, epochs=1)
        assert [row.tolist() for (row,) in batches] == naive_stream.samples(own, 5)
    assert [group.source for group in train.groups] == ["web", "web", "code", "code"]
    assert sum(group.tokens for group in train.groups) == train.tokens


@pytest.mark.parametrize(
    ("given_names", "said"),
    [
        ({"sources": ["wbe"]}, r"'wbe': expected a source of this split\. Did you mean web\?"),
        ({"cells": [("web", "fr")]}, r"'web:fr': expected a cell of this split\. .*web:de"),
        ({"sources": "web"}, "expected a list of names"),
        ({"sources": []}, "length 5: expected 1 to -1"),
    ],
)
def test_chosen__refuses(train, given_names, said):
    with pytest.raises((ValueError, TypeError), match=said):
        InOrder(Chosen(train, **given_names), 5)


def test_chosen__needs_groups_and_a_whole_shuffle(tmp_path, train):
    old = Corpus(write_corpus(tmp_path / "old", {"train": SHARDS})).split("train")
    with pytest.raises(ValueError, match=r"An earlier version made this corpus: mill it again"):
        Chosen(old, sources=["web"])
    with pytest.raises(TypeError, match="Use Shuffled"):
        Windowed(Chosen(train), 5, 1)
    with pytest.raises(ValueError, match="leave out packed"):
        InOrder(Chosen(train), 5, packed=True)


@pytest.mark.parametrize(
    "damage", ["shorter", "other group", "other total", "no legend", "foreign"]
)
def test_chosen__refuses_damaged_groups(results, damage):
    folder = results / "tokens/train"
    legend = json.loads((folder / "groups.json").read_text())
    numbers = np.load(folder / "groups.npy")
    if damage == "shorter":
        np.save(folder / "groups.npy", numbers[:-1])
    elif damage == "other group":
        np.save(folder / "groups.npy", numbers + 1)
    elif damage == "other total":
        legend["groups"][0]["documents"] += 1
    elif damage == "foreign":
        legend["groups"][0]["source"] = ["a list"]
    (folder / "groups.json").write_text(json.dumps(legend))
    manifest = read_manifest(results)
    for file in manifest["files"]:
        if "groups" in file["path"]:
            file["bytes"] = (results.parent / file["path"]).stat().st_size
    if damage == "no legend":
        manifest["files"] = [one for one in manifest["files"] if "groups.json" not in one["path"]]
    write_manifest(results, manifest)
    with pytest.raises(ValueError, match=r"groups\.\w+.*: .*expected|expected groups"):
        Chosen(Corpus(results).split("train"), sources=["web"])


def test_changed__every_source_keeps_its_place(train):
    weights = {"web": 0.7, "code": 0.3}
    before = Batches(Mixture.of_sources(train, weights, 3, 1), 4)
    seen = [row for _ in range(3) for row in map(tuple, next(before).tolist())]
    state = json.loads(json.dumps(before.state_dict()))
    after = Mixture.of_sources(train, {"code": 0.8, "web": 0.2}, 3, 1)
    with pytest.raises(ValueError, match="pass the state through `changed`"):
        Batches(after, 4).load_state_dict(state)
    later = Batches(after, 4)
    later.load_state_dict(changed(state, after))
    seen += [row for _ in range(2) for row in map(tuple, next(later).tolist())]
    for source in weights:
        own = Batches(Shuffled(Chosen(train, sources=[source]), 3, 1), 1)
        expected = [tuple(next(own)[0].tolist()) for _ in range(20)]
        its = [row for row in seen if row in set(expected)]
        assert its == expected[: len(its)]


def test_changed__new_orders_begin_and_one_order_goes_on_alone(train):
    web, code = (Shuffled(Chosen(train, sources=[name]), 3, 1) for name in ("web", "code"))
    batches = Batches(Mixture([web, code], [1, 1], 1), 2)
    for _ in range(3):
        next(batches)
    state = batches.state_dict()
    alone = changed(state, web)
    assert alone["cursor"] == state["cursor"]["of"][0]
    third = InOrder(train, 3)
    nested = Mixture([third, Mixture([code, web], [1, 3], 2)], [1, 1], 1)
    cursor = changed(state, nested)["cursor"]
    assert cursor["of"][0] == third.begin()
    assert cursor["of"][1]["of"] == state["cursor"]["of"][::-1]
    Batches(nested, 2).load_state_dict(changed(state, nested))
    with pytest.raises(ValueError, match="expected an order that the new order also mixes"):
        changed(state, Shuffled(train, 3, 1))
    with pytest.raises(ValueError, match="expected a position in an order"):
        changed(state | {"cursor": {"of": [{"epoch": -1, "position": 0}] * 2}}, web)
