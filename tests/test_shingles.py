"""Shingle hashes in the kernel are the hashes that plain integers and hashlib give."""

import naive
import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.kernels.shingles import rolling_hashes, sha1_hashes

WIDTHS = [1, 13, 40]
texts = st.text(
    st.one_of(st.sampled_from("ab ß水😀\U0010ffff"), st.characters(exclude_categories=["Cs"])),
    max_size=60,
)


def code_points(text: str) -> np.ndarray:
    return np.array([*map(ord, text), 0], np.uint32)


def rolling(text: str, width: int) -> list[int]:
    hashes = np.zeros(max(1, len(text) - width + 1), np.uint32)
    count = rolling_hashes(code_points(text), len(text), width, hashes)
    return hashes[:count].tolist()


def sha1(text: str, width: int) -> list[int]:
    hashes = np.zeros(max(1, len(text) - width + 1), np.uint32)
    message, w = np.full(4 * width + 72, 0xAA, np.uint8), np.zeros(80, np.uint32)
    count = sha1_hashes(code_points(text), len(text), width, message, w, hashes)
    return hashes[:count].tolist()


@pytest.mark.parametrize("width", WIDTHS)
@given(text=texts)
def test_rolling_hashes__equal_naive(width, text):
    assert rolling(text, width) == naive.rolling_hashes(text, width)


@pytest.mark.parametrize("width", WIDTHS)
@examples(50)
@given(text=texts)
def test_sha1_hashes__equal_hashlib(width, text):
    assert sha1(text, width) == naive.sha1_hashes(text, width)


# SHA-1 pads to blocks of 64 bytes; 55, 56, 63 and 64 bytes are where padding changes shape.
@pytest.mark.parametrize("width", [1, 13, 14, 16, 40, 55, 56, 63, 64, 119, 120, 128, 256])
@pytest.mark.parametrize("character", ["a", "ß", "水", "😀"])
def test_sha1_hashes__equal_hashlib_at_block_borders(width, character):
    text = character * width + "x"
    assert sha1(text, width) == naive.sha1_hashes(text, width)
