"""What a person is shown of a group is what a walk over its pairs in Python finds."""

import difflib
import itertools

import naive
import pytest
from effort import examples
from handmade import extract_by_hand
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.dedup.edges import IDENTICAL, SAME_KEY, STAGES
from corpusmill.mill.dedup.group_reports import (
    LARGEST,
    SAMPLED_PAIRS,
    largest_groups,
    longest_shared,
)
from corpusmill.mill.dedup.resolution import (
    RESOLUTIONS,
    ResolveSetting,
    dropped_documents,
    graph_of,
)

SIMILAR = 100  # of 128 values: enough
FIRST = (0, 0, 0)


def groups_of(extract, resolve: str = "component") -> list[dict]:
    setting = ResolveSetting(resolve, 0.5, SIMILAR, 128, 3)
    graph = graph_of(extract)
    resolution = RESOLUTIONS[resolve](extract, graph, setting)
    dropped = dropped_documents(extract, graph, resolution)
    return largest_groups(extract, graph, resolution, dropped)


def star(texts: list[str]):
    edges = [(0, n, SIMILAR) for n in range(1, len(texts))]
    return extract_by_hand(list(range(len(texts))), [FIRST] * len(texts), texts, edges)


def steps_from(start: int, pairs: list[tuple[int, int]]) -> list[int]:
    steps, found = {start: 0}, [start]
    for one in found:
        for a, b in pairs:
            other = b if a == one else a if b == one else one
            if other not in steps:
                steps[other] = steps[one] + 1
                found.append(other)
    return list(steps.values())


@examples(100)
@given(st.integers(2, 9), st.data())
def test_largest_groups__equal_naive(texts, data):
    every = list(itertools.combinations(range(texts), 2))
    pairs = [pair for pair in every if data.draw(st.booleans())]
    extract = extract_by_hand(
        list(range(texts)), [FIRST] * texts, [str(n) for n in range(texts)],
        [(a, b, SIMILAR) for a, b in pairs],
    )  # fmt: skip
    root = naive.roots(range(texts), pairs)
    expected = []
    for label in sorted(set(root.values())):
        members = [n for n in root if root[n] == label]
        mine = [pair for pair in pairs if pair[0] in members]
        if len(members) > 1:
            steps = steps_from(label, mine)
            possible = len(members) * (len(members) - 1) / 2
            expected.append({
                "texts": len(members), "documents": len(members), "pairs": len(mine),
                "density": round(len(mine) / possible, 6), "kept": 1,
                "steps_from_best":
                    {"mean": round(sum(steps) / len(steps), 2), "greatest": max(steps)},
            })  # fmt: skip
    expected.sort(key=lambda group: -group["texts"])
    got = groups_of(extract)
    for group in got:
        del group["sample"], group["starts"], group["shared"]
    assert got == expected[:LARGEST]


def test_largest_groups__count_a_pair_once_that_shares_several_keys():
    edges = [(0, 1, SAME_KEY)] * 21 + [(0, 2, SAME_KEY)] * 3
    (group,) = groups_of(extract_by_hand([0, 1, 2], [FIRST] * 3, [""] * 3, edges))
    assert (group["pairs"], group["density"]) == (2, round(2 / 3, 6))


def test_largest_groups__show_pairs_and_what_their_texts_share():
    passage = "the same passage in every text"
    (group,) = groups_of(star([f"{n} {passage} {n * 7}" for n in range(40)]))
    assert group["shared"].strip() == passage
    assert group["starts"] == [f"{n} {passage} {n * 7}" for n in (1, 0)]
    assert len(group["sample"]) == SAMPLED_PAIRS
    for pair in group["sample"]:
        assert pair["winner"] == 0
        assert pair["similarity"] == round(SIMILAR / 128, 4)
        assert pair["stage"] == "sketch"
    assert [group["sample"][n]["id"] for n in (0, -1)] == [1, 39]


@pytest.mark.parametrize("resolve", RESOLUTIONS)
def test_largest_groups__of_copies_are_their_numbers(resolve):
    edges = [(0, 1, IDENTICAL), (0, 2, IDENTICAL), (3, 4, IDENTICAL)]
    extract = extract_by_hand(list(range(5)), [FIRST] * 5, ["a"] * 3 + ["b"] * 2, edges)
    copies = {"winner": 0, "similarity": 1.0, "stage": "identical"}
    assert groups_of(extract, resolve) == [
        {
            "texts": 1,
            "documents": 3,
            "sample": [{"id": n} | copies for n in (1, 2)],
            "starts": ["a", "a"],
            "shared": "a",
        },
        {
            "texts": 1,
            "documents": 2,
            "sample": [{"id": 4} | copies | {"winner": 3}],
            "starts": ["b", "b"],
            "shared": "b",
        },
    ]


def test_largest_groups__have_those_with_most_documents_too():
    many = [(0, n, IDENTICAL) for n in range(1, 50)]
    pairs = [(50 + 2 * n, 51 + 2 * n, SIMILAR) for n in range(2 * LARGEST)]
    count = 50 + 4 * LARGEST
    groups = groups_of(
        extract_by_hand(list(range(count)), [FIRST] * count, [""] * count, many + pairs)
    )
    assert {"texts": 1, "documents": 50}.items() <= groups[LARGEST].items()


def test_largest_groups__name_stages_and_chains():
    edges = [(0, 1, SIMILAR), (1, 2, SIMILAR)]
    (group,) = groups_of(extract_by_hand([0, 1, 2], [FIRST] * 3, ["a", "b", "c"], edges))
    assert [pair["stage"] for pair in group["sample"]] == ["sketch", "chain"]
    assert group["sample"][1]["similarity"] is None
    assert set(STAGES.values()) >= {"sketch", "chain"}


def test_largest_groups__have_those_from_which_no_document_is_dropped():
    edges = [(0, 2, 0), (2, 3, 0)]  # may be similar, but share nothing
    (group,) = groups_of(extract_by_hand([0, 1, 2, 3], [FIRST] * 4, list("abca"), edges), "kept")
    assert (group["texts"], group["documents"], group["sample"]) == (3, 3, [])
    assert (group["starts"], group["shared"]) == (["a", "c"], "")


def test_largest_groups__cut_no_character_of_a_text_in_two():
    long = "水" * 5000
    (group,) = groups_of(star([long + "a", long + "b"]))
    assert group["shared"] == "水" * 2000
    assert group["starts"] == ["水" * 300] * 2


@given(st.text("aä😀", max_size=40), st.text("aä😀", max_size=40))
def test_longest_shared__equals_difflib(a, b):
    expected = difflib.SequenceMatcher(None, a, b, autojunk=False).find_longest_match()
    assert longest_shared(a, b) == a[expected.a : expected.a + expected.size]
