"""Who is compared with whom: by source, by a member of the record; and how many sources agree."""

import hashlib
import itertools

import naive
import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from handmade import extract_by_hand, order_rows, verdict_file
from hypothesis import given
from hypothesis import strategies as st
from test_config import SHIPPED, faults

from corpusmill.mill.dedup.candidates import identical_edges, same_key_edges
from corpusmill.mill.dedup.edges import BY_DIGEST, IDENTICAL, WINNERS
from corpusmill.mill.dedup.extracts import Extract
from corpusmill.mill.dedup.lsh import Bands, salted, sorted_bands, sorted_digests
from corpusmill.mill.dedup.policies import (
    Comparing,
    compared_of_part,
    exact_numbers,
    numbers_of_sources,
    salts_of,
)
from corpusmill.mill.dedup.resolution import (
    RESOLUTIONS,
    ResolveSetting,
    dropped_documents,
    graph_of,
    winners_of,
)
from corpusmill.mill.dedup.twins import resolution_of
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.buckets import Slice
from corpusmill.mill.storage.files import save_json

SIMILAR = 7  # of 8 values
EXACT = 1
"""Number of the source that is compared only with equal texts."""
WHOLE = Slice(0, 0, 1 << 64)
POLICIES = {"a": "near", "b": "exact", "c": "none"}


@st.composite
def mixed_corpora(draw) -> Extract:
    """Documents of a few texts and of two sources, one of them exact; pairs of the others."""
    texts = draw(st.lists(st.integers(0, 4), max_size=12))
    sources = [draw(st.sampled_from([0, EXACT])) for _ in texts]
    ids = range(len(texts))
    stars = [(*pair, IDENTICAL) for pair in naive.identical_pairs(dict(enumerate(texts)))]
    near = [id for id in ids if sources[id] != EXACT]
    first = {
        text: min(id for id in near if texts[id] == text) for text in map(texts.__getitem__, near)
    }
    pairs = [
        pair for pair in itertools.combinations(sorted(first.values()), 2) if draw(st.booleans())
    ]
    order = [draw(st.tuples(st.integers(0, 2), st.none(), st.integers(0, 1))) for _ in ids]
    edges = draw(st.permutations(stars + [(*pair, SIMILAR) for pair in pairs]))
    return extract_by_hand(list(ids), order, [str(text) for text in texts], edges, sources)


def dropped_of(extract: Extract, resolve: str) -> np.ndarray:
    graph, setting = graph_of(extract, [EXACT]), ResolveSetting(resolve, 0.5, SIMILAR, 8, 3)
    return dropped_documents(extract, graph, resolution_of(extract, graph, setting))


def about(extract: Extract) -> tuple[list[int], dict[int, int], set[int], set[frozenset]]:
    """Documents from best to worst, their texts, the exact ones, and similar pairs."""
    ids, edges = extract.ids.tolist(), extract.edges.tolist()
    order = dict(zip(ids, order_rows(extract.order), strict=True))
    text_of = naive.roots(ids, [(a, b) for a, b, matches in edges if matches == IDENTICAL])
    exact = {
        id for id, source in zip(ids, extract.sources.tolist(), strict=True) if source == EXACT
    }
    alike = {frozenset({text_of[a], text_of[b]}) for a, b, matches in edges if matches == SIMILAR}
    similar = {
        frozenset({a, b})
        for a, b in itertools.combinations(ids, 2)
        if frozenset({text_of[a], text_of[b]}) in alike
    }
    return sorted(ids, key=lambda id: (order[id], id)), text_of, exact, similar


@examples(300)
@given(mixed_corpora())
def test_kept_resolution__keeps_what_a_walk_over_the_documents_keeps(extract):
    ranked, text_of, exact, similar = about(extract)
    kept = naive.kept_documents(ranked, similar, text_of, exact)
    dropped = dropped_of(extract, "kept")
    assert sorted(set(ranked) - set(dropped["id"].tolist())) == sorted(kept)


@pytest.mark.parametrize("resolve", RESOLUTIONS)
@examples(300)
@given(extract=mixed_corpora())
def test_resolutions__drop_an_exact_document_only_for_an_equal_text(resolve, extract):
    ranked, text_of, exact, _ = about(extract)
    dropped = dropped_of(extract, resolve)
    kept = set(ranked) - set(dropped["id"].tolist())
    for id, winner, similarity, stage in dropped.tolist():
        assert winner in kept
        assert ranked.index(winner) < ranked.index(id)
        assert (stage == BY_DIGEST) == (text_of[id] == text_of[winner])
        if {id, winner} & exact:
            assert (stage, similarity) == (BY_DIGEST, 1)
    assert len({(text_of[id], id in exact) for id in kept}) == len(kept)


@pytest.mark.parametrize(
    ("ranks", "winners"),
    [
        ([0, 1, 2], {1: 0}),  # the exact one is best: the near one is dropped, and drops nobody
        ([1, 0, 2], {0: 1, 2: 1}),
        ([2, 1, 0], {1: 2}),  # the near one is dropped for another: the exact one stays
        ([1, 2, 0], {1: 0}),
    ],
)
@pytest.mark.parametrize("resolve", RESOLUTIONS)
def test_resolutions__of_an_exact_a_near_and_a_similar_document(resolve, ranks, winners):
    edges = [(0, 1, IDENTICAL), (1, 2, SIMILAR)]
    order = [(rank, 0, 0) for rank in ranks]
    extract = extract_by_hand([0, 1, 2], order, ["same", "same", "some"], edges, [EXACT, 0, 0])
    assert dict(dropped_of(extract, resolve)[["id", "winner"]].tolist()) == winners


@examples(100)
@given(mixed_corpora(), st.data())
def test_winners_of__count_documents_and_sources(extract, data):
    numbers = [data.draw(st.integers(0, 3)) for _ in extract.ids]
    dropped = dropped_of(extract, "component")
    found = winners_of(extract._replace(sources=np.array(numbers, np.uint32)), dropped)
    assert found.dtype == WINNERS
    clusters: dict[int, list[int]] = {}
    for id, winner, *_ in dropped.tolist():
        clusters.setdefault(winner, []).append(id)
    expected = [
        (winner, len(ids), len({numbers[id] for id in (winner, *ids)}))
        for winner, ids in sorted(clusters.items())
    ]
    assert found.tolist() == expected


@pytest.mark.parametrize("candidates", ["kept", "all"])
@pytest.mark.parametrize("within", [None, "dump"])
def test_compared_of_part__follows_policy_filter_and_member(tmp_path, candidates, within):
    fates, sources = ["kept", "empty"] * 3, [name for name in "abc" for _ in range(2)]
    values = ["x", "", None, "x", "水", None]
    columns = {"member:dump": pa.array(values, pa.string())} if within else {}
    ranked = verdict_file(tmp_path / "0", fates, sources, [1] * 6, **columns)
    found = compared_of_part(ranked, Comparing(candidates, within, POLICIES))
    taking_part = [fate == "kept" or candidates == "all" for fate in fates]
    for policy, got in (("near", found.near), ("exact", found.exact)):
        expected = [POLICIES[name] == policy for name in sources]
        assert got.tolist() == [a and b for a, b in zip(taking_part, expected, strict=True)]
    assert found.kept.tolist() == [fate == "kept" for fate in fates]
    if within:
        assert found.salts.tolist() == [naive_salt(value) for value in values]
    else:
        assert found.salts is None


def naive_salt(value: str | None) -> int:
    return 0 if value is None else int(hashlib.sha256(value.encode()).hexdigest()[:16], 16)


def test_salts_of__no_documents_are_none():
    assert salts_of(pa.array([], pa.string())).size == 0
    assert salts_of(pa.array([None], pa.string())).tolist() == [0]


def test_salted__equal_keys_differ_by_salt_alone():
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 1 << 64, 4, np.uint64).repeat(3)
    salts = np.tile(rng.integers(0, 1 << 64, 3, np.uint64), 4)
    got = salted(keys, salts)
    both = zip(keys.tolist(), salts.tolist(), strict=True)
    assert got.tolist() == [naive.mixed((key + salt) & naive.MASK_64) for key, salt in both]
    assert len(set(got.tolist())) == 12
    assert salted(keys, None) is keys


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["x", "y", None])), max_size=14))
def test_bands__pair_only_documents_with_the_same_value(tmp_path_factory, documents):
    folder = tmp_path_factory.mktemp("bands")
    texts, values = zip(*documents, strict=True) if documents else ((), ())
    sketches = np.array(texts, np.uint32).reshape(-1, 1)
    digests = np.zeros((len(texts), 32), np.uint8)
    digests[:, 31] = texts  # the first words are all equal
    salts, rows = salts_of(pa.array(values, pa.string())), np.arange(len(texts), dtype=np.uint32)
    sorted_bands(sketches, rows, 1, 1, folder / "bands", salts)
    sorted_digests(digests, rows, folder / "texts", salts)
    save_array(folder / "digests", digests)
    expected = naive.identical_pairs(dict(enumerate(documents)))
    bands, of_texts = (Bands(0, folder / name) for name in ("bands", "texts"))
    equal = identical_edges([of_texts], WHOLE, [folder / "digests"])
    assert sorted(equal[["a", "b"]].tolist()) == expected
    assert sorted(same_key_edges([bands], WHOLE)[["a", "b"]].tolist()) == expected


def test_numbers_of_sources__are_places_among_the_sorted_names(tmp_path):
    ranked = verdict_file(tmp_path / "0", ["kept"] * 3, ["c", "a", "c"], [1] * 3)
    assert numbers_of_sources(ranked.measures, ["c", "b", "a"]).tolist() == [2, 0, 2]
    assert exact_numbers({"c": "exact", "a": "exact", "b": "near"}) == [0, 2]


@pytest.mark.parametrize(("wanted", "expected"), [(1, "111111"), (2, "010011"), (3, "000011")])
def test_agreed_by__counts_sources_of_clusters_but_not_of_exempt_ones(
    step, tmp_path, wanted, expected
):
    ranked = verdict_file(tmp_path / "0", ["kept"] * 6, list("aabbcc"), [1] * 6)
    winners = np.array([(1 << 32 | 1, 4, 2), (1 << 32 | 3, 1, 1), (2 << 32, 1, 9)], WINNERS)
    save_array(tmp_path / "winners", winners)
    save_json(tmp_path / "bin", {"winners": str(tmp_path / "winners")})
    assign = step("assign")
    agreement = assign.Agreement(wanted, POLICIES)
    got = assign.agreed_by([tmp_path / "bin"], 1, agreement, ranked.measures, 6)
    assert "".join(map(str, got.astype(int))) == expected


@pytest.mark.parametrize(
    ("source", "dedup", "expected"),
    [
        ({"held_out": True, "duplicates": "none"}, {},
         'sources: "more" is held_out, so duplicates has no effect. Remove duplicates.'),
        ({"duplicates": "none"}, {"min_sources": 6},
         "dedup.min_sources: 6 exceeds the number of compared sources (5), so none of their "
         "documents would be kept. Lower it."),
        ({"duplicates": "fuzzy"}, {},
         "sources[6].duplicates: expected one of near, exact, none, got fuzzy."),
        ({}, {"within": ""}, "dedup.within"),
    ],
)  # fmt: skip
def test_check_config__refuses_policies_that_have_no_effect(source, dedup, expected):
    more = {"name": "more", "files": ["a.jsonl"]} | source
    (told,) = faults({"sources": [*SHIPPED["sources"], more], "dedup": dedup})
    assert told.startswith(expected)
