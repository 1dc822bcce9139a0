"""Which bands and rows: what a setting finds, what it costs, and the best one for a recall.

Similarity is Jaccard's of two sets of shingles. Sketches estimate it: of `permutations` values a
pair with similarity s has a binomial number equal, s of them on average.
"""

from typing import Any, NamedTuple

import numpy as np

from corpusmill.kernels.similarity import count_pairs

DIGEST_BYTES, VALUE_BYTES, ENTRY_BYTES = 32, 4, 12


class BandSetting(NamedTuple):
    """Bands, and sketch values per band."""

    bands: int
    rows: int


def s_curve(similarity: Any, setting: BandSetting) -> Any:
    """The probability that a pair of this Jaccard similarity shares a band."""
    return 1 - (1 - similarity**setting.rows) ** setting.bands


def bytes_per_document(permutations: int, bands: int) -> int:
    """On disk between the steps: sketch, digest, and a key and a row number per band."""
    return VALUE_BYTES * permutations + ENTRY_BYTES * bands + DIGEST_BYTES


def histogram(signatures: np.ndarray) -> np.ndarray:
    """int64 (permutations + 1,): how many pairs of documents have k values equal, for each k."""
    counts = np.zeros(signatures.shape[1] + 1, np.int64)
    count_pairs(signatures, counts)
    return counts


def similarities(counts: np.ndarray) -> np.ndarray:
    """The estimate of similarity that each place of a histogram stands for."""
    return np.arange(counts.size) / (counts.size - 1)


def band_probability(permutations: int, setting: BandSetting) -> np.ndarray:
    """float64 (permutations + 1,): how likely two sketches with k equal values share a band.

    The equal values are in places drawn at random. The mean over a binomial k is the S-curve, so
    a sum over a histogram of k is an unbiased count of candidates. The S-curve at k/permutations
    is not: most pairs have one or two equal values by accident, and can share no band of four.
    """
    factorials = np.cumsum(np.log(np.maximum(np.arange(permutations + 1), 1)))  # logarithms

    def choose(n: Any, k: Any) -> Any:
        return factorials[n] - factorials[k] - factorials[n - k]

    bands, rows = setting
    share = np.zeros(permutations - bands * rows + 1)  # of the values that no band uses
    for values in range(share.size - 1 + rows, permutations + 1, rows):  # and one band more
        larger = np.zeros(values + 1)
        outside = np.arange(share.size)
        for inside in range(rows + 1):
            equal = outside + inside
            ways = choose(rows, inside) + choose(values - rows, outside) - choose(values, equal)
            larger[equal] += np.exp(ways) * (share if inside < rows else 1)
        share = larger
    return share


class Expected(NamedTuple):
    """Pairs of a histogram, and what a setting is expected to make of them."""

    above: int  # at or above the threshold, by their estimate
    missed: float  # of these: share no band
    possible: int  # below it, with enough equal values to share a band at all
    false: float  # of these: do share one


def expected(counts: np.ndarray, threshold: float, setting: BandSetting) -> Expected:
    above = similarities(counts) >= threshold
    found = band_probability(counts.size - 1, setting)
    possible = ~above & (np.arange(counts.size) >= setting.rows)
    return Expected(
        above=int(counts[above].sum()),
        missed=float(counts[above] @ np.maximum(1 - found[above], 0)),
        possible=int(counts[possible].sum()),
        false=float(counts[possible] @ found[possible]),
    )


def settings_with_recall(permutations: int, threshold: float, recall: float) -> list[BandSetting]:
    """For each number of rows the fewest bands that find this share of pairs at the threshold.

    The curve rises, so a setting finds at least that share of all pairs above the threshold too.
    """
    found = []
    for rows in range(1, permutations + 1):
        settings = (BandSetting(bands, rows) for bands in range(1, permutations // rows + 1))
        least = next((one for one in settings if s_curve(threshold, one) >= recall), None)
        if least is not None:
            found.append(least)
    return found


def recommend(counts: np.ndarray, threshold: float, recall: float) -> BandSetting | None:
    """The setting with this recall at the threshold and the fewest false candidates.

    Among equals the one with most rows, and so the steepest curve: that a sample has no false
    candidate does not mean that the corpus has none. None when no setting reaches the recall.
    """
    settings = settings_with_recall(counts.size - 1, threshold, recall)
    return min(
        settings, key=lambda one: (expected(counts, threshold, one).false, -one.rows), default=None
    )


def least_permutations(threshold: float, recall: float) -> int:
    """The smallest sketch with which some setting has this recall: rows of one value reach it."""
    bands = max(1, int(np.log1p(-recall) / np.log1p(-threshold)) - 1)
    while s_curve(threshold, BandSetting(bands, 1)) < recall:
        bands += 1
    return bands
