"""Sketches are datasketch's, bit for bit."""

import naive
import numpy as np
import pyarrow as pa
import pytest
from datasketch import LeanMinHash, MinHash
from effort import examples
from handmade import text_part
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.kernels.sketch import TILE, lower_affine32, lower_legacy
from corpusmill.mill.dedup.minhash import NO_SHINGLE, MinHasher, permutations_of
from corpusmill.mill.read.text_column import TextColumn

SCHEMES = ["affine32", "legacy"]
PUBLISHED = (
    "The quick brown fox jumps over the lazy dog; the DOG barks — twice! Über straße.",
    [16577316, 19445529, 41971003, 65710845, 98652548, 152172223],
)
EDGES = {
    "empty": "",
    "only marks": "?! ...",
    "one character": "a",
    "one too short": "abcdefghijkl",
    "exactly the width": "abcdefghijklm",
    "one more": "abcdefghijklmn",
    "many scripts": "ΑΣ ΣΑΣ. İstanbul — 水曜日 😀 Việt Nam; naïve café, coöperate",
    "one run": "a" * 100,
}


def column(texts: list[str]) -> TextColumn:
    return TextColumn.of(pa.array(texts, pa.large_string()))


def reference(text: str, hasher: MinHasher) -> MinHash:
    """datasketch's own sketch of the shingles that plain Python finds."""
    count, seed, width = hasher.permutations, hasher.seed, hasher.shingle_chars
    if hasher.scheme == "legacy":
        sketch = MinHash(count, seed, scheme="legacy")
        shingles = [run.encode() for run in naive.runs(naive.clean(text), width)]
    else:
        sketch = MinHash(count, seed, hashfunc=lambda hash: hash, scheme="affine32")
        shingles = naive.rolling_hashes(naive.clean(text), width)
    if shingles:
        sketch.update_batch(shingles)
    return sketch


def tile_text(shingles: int) -> str:
    words = [f"{n:x}" for n in range(shingles)]
    return " ".join(words)[: shingles + 12].rstrip(" ").ljust(shingles + 12, "z")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", [0, 1, 42, 2**32 - 1])
@pytest.mark.parametrize("count", [1, 128])
def test_permutations_of__equal_datasketch(scheme, seed, count):
    got = permutations_of(scheme, count, seed)
    expected = MinHash(count, seed, scheme=scheme).permutations
    assert [list(map(int, half)) for half in got] == [list(map(int, half)) for half in expected]


def test_permutations_of__legacy_are_the_published_ones():
    a, b = permutations_of("legacy", 128, 1)
    assert a[:2].tolist() == [775169054918279404, 2109959069025162]
    assert b[:2].tolist() == [1758426461858698312, 965365488286768773]


def test_sign__gives_the_published_signature():
    text, expected = PUBLISHED
    (got,) = MinHasher("legacy", 128, 13, 1).sign(column([text]))
    assert got[:6].tolist() == expected


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", EDGES)
def test_sign__equals_datasketch_at_the_edges(scheme, name):
    hasher = MinHasher(scheme, 128, 13, 1)
    (got,) = hasher.sign(column([EDGES[name]]))
    assert got.tolist() == reference(EDGES[name], hasher).hashvalues.tolist()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("shingles", [TILE - 1, TILE, TILE + 1, 2 * TILE + 7])
def test_sign__equals_datasketch_across_tile_borders(scheme, shingles):
    text, hasher = tile_text(shingles), MinHasher(scheme, 16, 13, 7)
    assert len(naive.runs(naive.clean(text), 13)) == shingles
    (got,) = hasher.sign(column([text]))
    assert got.tolist() == reference(text, hasher).hashvalues.tolist()


# In a text of thousands of shingles one that is left out is hardly ever the least.
@pytest.mark.parametrize(
    ("lower", "type"), [(lower_affine32, np.uint32), (lower_legacy, np.uint64)]
)
@pytest.mark.parametrize("place", [0, 1, TILE - 1, TILE, 2 * TILE - 1, 2 * TILE, 2 * TILE + 6])
def test_lower__looks_at_every_hash(lower, type, place):
    hashes = np.full(2 * TILE + 7, 9, np.uint32)
    hashes[place] = 5
    signature = np.full(3, NO_SHINGLE, np.uint32)
    lower(hashes, hashes.size, np.array([1, 2, 3], type), np.array([0, 1, 2], type), signature)
    assert signature.tolist() == [5, 11, 17]


@pytest.mark.parametrize("b", [0, 1, 2**61 - 7, 2**61 - 6, 2**61 - 5, 2**61 - 2])
def test_lower_legacy__takes_the_remainder_at_the_prime(b):
    signature = np.full(1, NO_SHINGLE, np.uint32)
    a, b_of = np.array([1], np.uint64), np.array([b], np.uint64)
    lower_legacy(np.array([5], np.uint32), 1, a, b_of, signature)
    assert signature.tolist() == [(5 + b) % (2**61 - 1) % 2**32]


@pytest.mark.parametrize("scheme", SCHEMES)
@examples(40)
@given(
    texts=st.lists(st.text(max_size=80), max_size=4),
    width=st.integers(1, 20),
    permutations=st.integers(1, 24),
)
def test_sign__equals_datasketch(scheme, texts, width, permutations):
    hasher = MinHasher(scheme, permutations, width, 3)
    got = hasher.sign(column(texts))
    assert got.shape == (len(texts), permutations)
    assert got.tolist() == [reference(text, hasher).hashvalues.tolist() for text in texts]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_sign__without_a_shingle_is_the_greatest_everywhere(scheme):
    short = "abc" if scheme == "legacy" else "?"
    got = MinHasher(scheme, 8, 13, 1).sign(column(["", short]))
    assert (got == NO_SHINGLE).all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_sign__of_a_slice_is_the_slice_of_all(scheme):
    array = pa.array([*EDGES.values()], pa.large_string())
    hasher = MinHasher(scheme, 16, 13, 1)
    whole = hasher.sign(TextColumn.of(array))
    assert (hasher.sign(TextColumn.of(array.slice(2, 4))) == whole[2:6]).all()
    assert hasher.sign(TextColumn.of(array.slice(3, 0))).shape == (0, 16)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_sign__saved_sketch_loads_as_lean_minhash(scheme, step, tmp_path):
    texts = [PUBLISHED[0], PUBLISHED[0].replace("quick", "slow")]
    text_part(tmp_path / "0.arrow", texts)
    hasher = MinHasher(scheme, 128, 13, 1)
    step("sign").sign(tmp_path / "0.arrow", hasher, tmp_path / "s.npy", tmp_path / "d.npy")
    rows = np.load(tmp_path / "s.npy")
    one, other = (LeanMinHash(seed=1, hashvalues=row, scheme=scheme) for row in rows)
    expected = reference(texts[0], hasher).jaccard(reference(texts[1], hasher))
    assert one.jaccard(other) == expected
    assert 0.4 < expected < 1


@pytest.mark.parametrize("scheme", SCHEMES)
def test_sign__of_no_permutations_has_no_values(scheme):
    assert MinHasher(scheme, 0, 13, 1).sign(column(["a text", ""])).shape == (2, 0)
