"""Pair jobs share the band keys without gap or overlap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.storage.buckets import bucket_count, bucket_slices

END = 1 << 64


@given(st.integers(1, 60), st.integers(1, 40))
def test_bucket_slices__cover_every_band_and_key_exactly_once(buckets, bands):
    slices = [share for b in range(buckets) for share in bucket_slices(b, buckets, bands)]
    for band in range(bands):
        ranges = [(share.low, share.high) for share in slices if share.band == band]
        assert [low for low, _ in ranges] == [0, *(high for _, high in ranges[:-1])]
        assert ranges[-1][1] == END
    assert {share.band for share in slices} == set(range(bands))


@given(st.integers(1, 60), st.integers(1, 40))
def test_bucket_slices__are_even_to_one_key(buckets, bands):
    sizes = [
        sum(share.high - share.low for share in bucket_slices(b, buckets, bands))
        for b in range(buckets)
    ]
    assert max(sizes) - min(sizes) <= 1
    assert sum(sizes) == bands * END


@pytest.mark.parametrize(("documents", "expected"), [(0, 1), (1, 1), (11, 1), (12, 2), (1000, 90)])
def test_bucket_count__keeps_each_at_bucket_entries(documents, expected):
    assert bucket_count(documents, bands=9, bucket_entries=100) == expected
