"""Held-out texts: gathered once each, and found wherever they are equal whole."""

import naive
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.decide.holdout import (
    DTYPE,
    gathered,
    origins_of,
)

# Few different digests, some with the same first 8 bytes: only the rest tells them apart.
digests = st.builds(
    lambda head, tail: bytes([head] * 8 + [tail] * 24), st.integers(0, 2), st.integers(0, 2)
)
blocks = st.lists(st.lists(st.tuples(digests, st.integers(1, 3)), max_size=6), max_size=3)


def array(digests: list[bytes]) -> np.ndarray:
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 32)


def table(blocks) -> np.ndarray:
    origins = [np.array([by for _, by in block], np.uint8) for block in blocks]
    return gathered([array([digest for digest, _ in block]) for block in blocks], origins)


def pairs(held_out: np.ndarray) -> list[tuple[bytes, int]]:
    return [(entry["digest"].tobytes(), int(entry["origin"])) for entry in held_out]


@given(blocks)
def test_gathered__equals_naive(blocks):
    got = table(blocks)
    flat = [entry for block in blocks for entry in block]
    assert got.dtype == DTYPE
    assert pairs(got) == naive.gathered([d for d, _ in flat], [by for _, by in flat])


@given(blocks, st.lists(digests, max_size=8))
def test_origins_of__equal_naive(blocks, documents):
    held_out = table(blocks)
    got = origins_of(array(documents), held_out)
    assert got.dtype == np.uint8
    assert got.tolist() == naive.matches(documents, pairs(held_out))


def test_origins_of__need_the_whole_digest():
    held_out = table([[(b"\1" * 32, 2)]])
    documents = [b"\1" * 32, b"\1" * 31 + b"\2", b"\1" * 8 + b"\0" * 24, b"\0" * 32]
    assert origins_of(array(documents), held_out).tolist() == [2, 0, 0, 0]
