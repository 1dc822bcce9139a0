"""S-curves and what follows from them, against datasketch, simulation and brute force."""

import itertools

import naive
import numpy as np
import pytest
from datasketch.lsh import _false_negative_probability, _false_positive_probability
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.dedup.band_settings import (
    BandSetting,
    auto_setting,
    chosen_setting,
    least_permutations,
    recall_at,
    settings_with_recall,
)
from corpusmill.tools.tune.bands.design import (
    band_probability,
    expected,
    histogram,
    recommend,
)

SETTINGS = [
    BandSetting(9, 13),
    BandSetting(14, 8),
    BandSetting(18, 6),
    BandSetting(1, 1),
    BandSetting(128, 1),
]
small_settings = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(0, 3))


def all_settings(permutations: int) -> list[BandSetting]:
    both = itertools.product(range(1, permutations + 1), repeat=2)
    return [BandSetting(*one) for one in both if one[0] * one[1] <= permutations]


def steps(low: float, high: float, setting: BandSetting) -> float:
    middles = low + (high - low) * (np.arange(100_000) + 0.5) / 100_000
    return float(recall_at(middles, setting).mean() * (high - low))


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_recall_at__has_the_areas_of_datasketch(setting, threshold):
    below, above = steps(0, threshold, setting), steps(threshold, 1, setting)
    assert below == pytest.approx(_false_positive_probability(threshold, *setting), abs=1e-6)
    missed = 1 - threshold - above
    assert missed == pytest.approx(_false_negative_probability(threshold, *setting), abs=1e-6)


@given(small_settings)
def test_band_probability__equals_naive(case):
    bands, rows, unused = case
    permutations = min(bands * rows + unused, 10)
    bands = min(bands, permutations // rows)
    got = band_probability(permutations, BandSetting(bands, rows))
    places = range(permutations + 1)
    assert got == pytest.approx(
        [naive.band_probability(permutations, bands, rows, equal) for equal in places]
    )


def test_band_probability__of_large_sketches_is_sound():
    got = band_probability(4096, BandSetting(100, 13))
    assert got[12] == 0
    assert got[-1] == pytest.approx(1)
    assert (np.diff(got) > -1e-9).all()


def test_expected__counts_the_candidates_of_random_sketches():
    """Values from few, so that pairs meet; candidates are counted one by one."""
    sketches = np.random.default_rng(3).integers(0, 3, (300, 24), dtype=np.uint32)
    setting = BandSetting(5, 4)
    pairs = expected(histogram(sketches), 0.99, setting)
    candidates = sum(
        naive.shares_band(one, other, *setting)
        for one, other in itertools.combinations(sketches.tolist(), 2)
    )
    assert pairs.false == pytest.approx(candidates, rel=0.05)


def test_expected__parts_the_pairs_at_the_threshold():
    counts = np.array([5, 1, 2, 4, 8])
    got = expected(counts, 0.75, BandSetting(2, 2))
    assert (got.above, got.possible) == (12, 2)
    assert got.missed == pytest.approx(0)  # three equal values of four fill one half
    assert got.false == pytest.approx(2 * 2 / 6)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("threshold", [0.4, 0.7, 0.9])
def test_recommend__equals_brute_force(seed, threshold):
    counts = np.random.default_rng(seed).integers(0, 10 ** np.arange(25, 0, -1).clip(0, 6))
    reaching = [one for one in all_settings(24) if recall_at(threshold, one) >= 0.95]
    best = min(
        reaching,
        key=lambda one: (expected(counts, threshold, one).false, -one.band_rows, one.bands),
    )
    assert recommend(counts, threshold, 0.95) == best


def test_recommend__is_steep_when_the_sample_has_no_false_candidate():
    counts = np.zeros(129, np.int64)
    counts[0] = 1000
    assert recommend(counts, 0.8, 0.995) == (18, 6)


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.95])
def test_auto_setting__has_the_rows_that_are_chosen_without_a_sample(threshold):
    """The designer and the configuration choose by one function: they differ in bands alone."""
    auto, none = auto_setting("verified", 128, threshold), np.zeros(129, np.int64)
    chosen = chosen_setting(128, threshold)
    assert recommend(none, threshold, 0.995) == chosen
    assert auto.band_rows == chosen.band_rows
    assert auto.bands == 128 // chosen.band_rows >= chosen.bands


def test_settings_with_recall__are_the_fewest_bands_of_each_rows():
    for bands, rows in settings_with_recall(64, 0.7, 0.99):
        assert recall_at(0.7, BandSetting(bands, rows)) >= 0.99
        assert bands == 1 or recall_at(0.7, BandSetting(bands - 1, rows)) < 0.99


@pytest.mark.parametrize(("threshold", "recall"), [(0.8, 0.995), (0.05, 0.9), (0.5, 0.5)])
def test_least_permutations__are_the_least_that_reach_the_recall(threshold, recall):
    least = least_permutations(threshold, recall)
    assert settings_with_recall(least, threshold, recall)
    assert not settings_with_recall(least - 1, threshold, recall)
    assert recommend(np.zeros(least, np.int64), threshold, recall) is None
