"""The next place where a pattern begins, against a plain search."""

import naive
import numba
import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.kernels.finding import any_of, finder, literal

PATTERNS = {
    "marks": ([*any_of(".!?"), literal("。")], 0),
    "ranges": ([((0x0A, 0x0D),), ((0xE2, 0xE2), (0x80, 0x80), (0xA8, 0xA9))], 0),
    "any_case": ([literal("ab"), literal("z.b")], 0x20),
}


def compiled(find):
    return numba.njit(lambda data, start, stop: find(data, start, stop))


FOUND = {name: compiled(finder(*given)) for name, given in PATTERNS.items()}
# Mostly long ways without any, so that blocks of 64 bytes are passed over.
texts = st.lists(
    st.integers(0, 70).map("x".__mul__) | st.sampled_from([*".!?。\nabABZz", "\u2028", "\u2027"]),
    max_size=12,
).map("".join)


@pytest.mark.parametrize("name", PATTERNS)
@examples(400)
@given(texts, st.data())
def test_finder__finds_what_a_plain_search_does(name, text, data):
    raw = text.encode()
    start = data.draw(st.integers(0, len(raw)))
    stop = data.draw(st.integers(start, len(raw)))
    got = FOUND[name](np.frombuffer(raw, np.uint8), start, stop)
    assert got == naive.find_pattern(raw, start, stop, *PATTERNS[name])


@pytest.mark.parametrize("size", [1, 63, 64, 65, 66, 128, 200])
def test_finder__sees_the_last_bytes_and_none_behind(size):
    data = np.frombuffer(b"x" * (size - 1) + b"." + b"!" * 100, np.uint8)
    assert FOUND["marks"](data[:size], 0, size) == size - 1
    assert FOUND["marks"](data[: size - 1], 0, size - 1) == size - 1
