"""The keyed permutation is one, and a different one for every key."""

import math
from collections import Counter

import naive_stream
import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.reader.permutation import Permutation


@given(st.integers(1, 3000), st.text(max_size=8))
def test_permutation__has_every_number_once(size, key):
    images = Permutation(size, key)(np.arange(size))
    assert sorted(images.tolist()) == list(range(size))


@examples(40)
@given(st.integers(1, 3000) | st.integers(1, (1 << 62) - 1), st.data())
def test_permutation__equals_naive(size, data):
    numbers = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=5))
    got = Permutation(size, "key")(np.array(numbers))
    assert got.tolist() == [naive_stream.image(number, size, "key") for number in numbers]


def test_permutation__does_not_depend_on_what_is_asked_together():
    shuffle = Permutation(1000, "key")
    whole = shuffle(np.arange(1000))
    parts = np.concatenate([shuffle(np.arange(a, a + 100)) for a in range(0, 1000, 100)])
    assert parts.tolist() == whole.tolist()


@pytest.mark.parametrize("size", [3, 4, 5])
def test_permutation__reaches_all_orders_about_equally_often(size):
    orders = math.factorial(size)
    due = 40
    keys = range(orders * due)
    seen = Counter(tuple(Permutation(size, f"{key}")(np.arange(size))) for key in keys)
    chi_square = sum((count - due) ** 2 / due for count in seen.values())
    assert len(seen) == orders
    assert chi_square < orders + 5 * (2 * orders) ** 0.5
