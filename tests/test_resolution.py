"""Who is kept, and for whom each other is dropped: as the greedy rule in Python says."""

import itertools

import naive
import numpy as np
import pytest
from effort import examples
from handmade import extract_by_hand, order_rows
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.kernels import similarity as kernels
from corpusmill.mill.dedup.edges import (
    BY_BAND,
    BY_CHAIN,
    BY_DIGEST,
    BY_SHINGLES,
    BY_SKETCH,
    DROPPED,
    IDENTICAL,
    SAME_KEY,
)
from corpusmill.mill.dedup.extracts import Extract
from corpusmill.mill.dedup.order import REJECTED
from corpusmill.mill.dedup.resolution import (
    RESOLUTIONS,
    ResolveSetting,
    dropped_documents,
    graph_of,
)

WIDTH, PERMUTATIONS = 3, 8
HIGH = 0xFFFFFFF0 << 32

syllables = st.lists(st.sampled_from(["ab", "Ca", "bb", "c ", "水"]), max_size=6).map("".join)
thresholds = st.sampled_from([0.05, 0.3, 0.5, 0.8, 0.99])


@st.composite
def corpora(draw, method: str = "verified") -> Extract:
    """Documents of a few texts that are more or less alike, in several parts; pairs of them."""
    texts = draw(st.lists(syllables, min_size=1, max_size=9, unique=True))
    text_of = draw(st.lists(st.integers(0, len(texts) - 1), max_size=14))
    parts = draw(st.lists(st.integers(0, 2), min_size=len(text_of), max_size=len(text_of)))
    ids = sorted(part << 32 | row for row, part in enumerate(parts))
    if draw(st.booleans()):
        ids = [HIGH + id for id in ids]
    value = st.integers(0, 1)
    rank = st.sampled_from([0, 1, int(REJECTED)])
    order = [draw(st.tuples(rank, st.one_of(st.none(), value), value)) for _ in ids]
    of_ids = dict(zip(ids, text_of, strict=True))
    stars = [(*pair, IDENTICAL) for pair in naive.identical_pairs(of_ids)]
    first = sorted(set(ids) - {b for _, b, _ in stars})
    matches = {
        "verified": st.one_of(st.none(), st.integers(0, PERMUTATIONS)),
        "sketch": st.sampled_from([None, SAME_KEY]),
        "exact": st.none(),
    }[method]
    among = ids if method == "sketch" else first
    drawn = [(a, b, draw(matches)) for a, b in itertools.combinations(among, 2)]
    pairs = [pair for pair in drawn if pair[2] is not None]
    edges = draw(st.permutations(pairs + (stars if method != "sketch" else [])))
    return extract_by_hand(ids, order, [texts[t] for t in text_of], edges)


def setting_of(resolve: str, threshold: float = 0.5) -> ResolveSetting:
    # As certain_matches: so many equal values that their share is above the threshold.
    enough = max(6, int(threshold * PERMUTATIONS) + 1)
    return ResolveSetting(resolve, threshold, enough, PERMUTATIONS, WIDTH)


def dropped_of(extract: Extract, setting: ResolveSetting) -> np.ndarray:
    graph = graph_of(extract)
    return dropped_documents(extract, graph, RESOLUTIONS[setting.resolve](extract, graph, setting))


def texts_of(extract: Extract) -> dict[int, str]:
    offsets, data = extract.texts
    spans = itertools.pairwise(offsets.tolist())
    texts = [bytes(data[start:stop]).decode() for start, stop in spans]
    return dict(zip(extract.ids.tolist(), texts, strict=True))


def known_of(extract: Extract, setting: ResolveSetting) -> dict[frozenset, tuple]:
    """Of every pair of documents that an edge calls similar: how similar, and what decided."""
    texts, similar = texts_of(extract), {}
    for a, b, matches in extract.edges.tolist():
        if matches == IDENTICAL:
            continue
        if matches == SAME_KEY:
            value, stage = None, BY_BAND
        elif matches >= setting.enough:
            value, stage = matches / setting.permutations, BY_SKETCH
        else:
            sets = [naive.shingles(texts[id], setting.shingle_chars) for id in (a, b)]
            value, stage = naive.jaccard(*sets), BY_SHINGLES
        if value is None or value >= setting.threshold:
            similar[frozenset({a, b})] = (value, stage)
    return similar


def naive_dropped(extract: Extract, setting: ResolveSetting) -> list[tuple]:
    ids = extract.ids.tolist()
    stars = [(a, b) for a, b, matches in extract.edges.tolist() if matches == IDENTICAL]
    first = naive.roots(ids, stars)
    order = dict(zip(ids, order_rows(extract.order), strict=True))
    ranked = sorted(ids, key=lambda id: (order[id], id))
    best = {}
    for id in ranked:
        best.setdefault(first[id], id)
    similar = known_of(extract, setting)
    if setting.resolve == "kept":
        found = naive.kept_winners(list(best), similar)
    else:
        found = naive.component_winners(list(best), similar, (None, BY_CHAIN))
    expected = []
    for id in ids:
        if first[id] in found:
            winner, value, stage = found[first[id]]
            expected.append((id, best[winner], value, stage))
        elif id != best[first[id]]:
            expected.append((id, best[first[id]], 1, BY_DIGEST))
    return expected


def readable(dropped: np.ndarray) -> list[tuple]:
    return [
        (id, winner, None if np.isnan(value) else value, stage)
        for id, winner, value, stage in dropped.tolist()
    ]


def in_float32(rows: list[tuple]) -> list[tuple]:
    return [(a, b, None if v is None else float(np.float32(v)), s) for a, b, v, s in rows]


@pytest.mark.parametrize("resolve", RESOLUTIONS)
@examples(400)
@given(extract=corpora(), threshold=thresholds)
def test_resolutions__equal_naive(resolve, extract, threshold):
    setting = setting_of(resolve, threshold)
    got = dropped_of(extract, setting)
    assert got.dtype == DROPPED
    assert readable(got) == in_float32(naive_dropped(extract, setting))


@examples(200)
@given(extract=corpora("sketch"))
def test_component_resolution__of_shared_keys_equals_naive(extract):
    setting = setting_of("component")
    got = readable(dropped_of(extract, setting))
    assert got == naive_dropped(extract, setting)
    assert {row[2] for row in got} <= {None}
    assert {row[3] for row in got} <= {BY_BAND, BY_CHAIN}


@pytest.mark.parametrize("resolve", RESOLUTIONS)
@examples(100)
@given(extract=corpora("exact"))
def test_resolutions__without_sketches_drop_equal_texts_only(resolve, extract):
    setting = ResolveSetting(resolve, 0.8, 1, 0, WIDTH)
    got = readable(dropped_of(extract, setting))
    assert got == naive_dropped(extract, setting)
    texts = texts_of(extract)
    kept = [texts[id] for id in set(texts) - {row[0] for row in got}]
    assert sorted(kept) == sorted(set(texts.values()))


@examples(300)
@given(extract=corpora(), threshold=thresholds)
def test_kept_resolution__drops_only_what_is_like_a_kept_better_one(extract, threshold):
    setting = setting_of("kept", threshold)
    dropped = dropped_of(extract, setting)
    texts, similar = texts_of(extract), known_of(extract, setting)
    order = dict(zip(extract.ids.tolist(), order_rows(extract.order), strict=True))
    least = {text: min(id for id in texts if texts[id] == text) for text in texts.values()}
    kept = set(texts) - set(dropped["id"].tolist())
    for id, winner, *_ in dropped.tolist():
        assert winner in kept
        assert (order[winner], winner) < (order[id], id)
        pair = frozenset({least[texts[id]], least[texts[winner]]})
        assert texts[id] == texts[winner] or pair in similar
    assert len({texts[id] for id in kept}) == len(kept)
    assert not any(frozenset({least[texts[a]], least[texts[b]]}) in similar
                   for a, b in itertools.combinations(kept, 2))  # fmt: skip


def chain(order: list[int]) -> Extract:
    """a ~ b ~ c ~ d: neighbours share 0.85 and more of their shingles, the ends less than 0.4."""
    rng = np.random.default_rng(5)
    long = "".join(map(chr, rng.permutation(400) + 0x4E00))
    texts = [long[start : start + 202] for start in (0, 15, 30, 45)]
    edges = [(a, b, 0) for a, b in itertools.combinations(range(4), 2)]
    return extract_by_hand([0, 1, 2, 3], [(rank, 0, 0) for rank in order], texts, edges)


@pytest.mark.parametrize(
    ("order", "kept", "winners"),
    [
        ([0, 1, 2, 3], [0, 2], {1: 0, 3: 2}),
        ([3, 2, 1, 0], [1, 3], {0: 1, 2: 3}),
        ([1, 0, 2, 3], [1, 3], {0: 1, 2: 1}),
        ([2, 3, 1, 0], [0, 3], {1: 0, 2: 3}),
    ],
)
def test_kept_resolution__of_a_chain_drops_only_neighbours(order, kept, winners):
    extract = chain(order)
    dropped = dropped_of(extract, setting_of("kept", 0.84))
    assert dict(dropped[["id", "winner"]].tolist()) == winners
    assert sorted(set(range(4)) - set(winners)) == kept
    assert (dropped["similarity"] == np.float32(185 / 215)).all()


def test_component_resolution__of_a_chain_keeps_one():
    dropped = dropped_of(chain([0, 1, 2, 3]), setting_of("component", 0.84))
    near, nan = np.float32(185 / 215).item(), None
    expected = [(1, 0, near, BY_SHINGLES), (2, 0, nan, BY_CHAIN), (3, 0, nan, BY_CHAIN)]
    assert readable(dropped) == expected


@pytest.mark.parametrize("resolve", RESOLUTIONS)
def test_resolutions__keep_texts_without_shingles_apart(resolve):
    edges = [(0, 1, 0), (0, 2, 3), (1, 2, 5)]
    extract = extract_by_hand([0, 1, 2], [(0, 0, 0)] * 3, ["", " ", "..."], edges)
    assert dropped_of(extract, setting_of(resolve, 0.05)).size == 0


@pytest.mark.parametrize("resolve", RESOLUTIONS)
def test_resolutions__a_similarity_at_the_threshold_is_enough(resolve):
    # Of 4 and 5 shingles 4 are common: 0.8, which as a quotient of floats is the literal 0.8.
    extract = extract_by_hand([0, 1], [(0, 0, 0)] * 2, ["abcdef", "abcdefg"], [(0, 1, 0)])
    expected = [(1, 0, np.float32(0.8).item(), BY_SHINGLES)]
    assert readable(dropped_of(extract, setting_of(resolve, 0.8))) == expected
    assert dropped_of(extract, setting_of(resolve, np.nextafter(0.8, 1))).size == 0


@pytest.mark.parametrize("room", [0, 16, 48, 1 << 25])
@examples(30)
@given(extract=corpora())
def test_resolve_kept__decides_the_same_with_room_for_any_number_of_sets(room, extract):
    setting = setting_of("kept")
    expected = dropped_of(extract, setting)
    kept_slots = []
    kept_if_room = kernels.set_of.py_func

    def set_of(*arguments):
        *found, held = kept_if_room(*arguments)
        kept_slots.append(held)
        return *found, held

    # As Python: compiled, the kernels hold the limit that they were compiled with.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "KEPT_SLOTS", room)
        patch.setattr(kernels, "set_of", set_of)
        patch.setattr("corpusmill.mill.dedup.resolution.resolve_kept", kernels.resolve_kept.py_func)
        got = dropped_of(extract, setting)
    assert got.tobytes() == expected.tobytes()
    assert max(kept_slots, default=0) <= room
