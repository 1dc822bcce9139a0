"""Predict what an LSH setting finds of the pairs of a sample, and what it costs.

Similarity is Jaccard's of two sets of shingles. Sketches estimate it: of `permutations` values a
pair with similarity s has a binomial number equal, s of them on average.
"""

from typing import Any, NamedTuple

import numpy as np

from corpusmill.kernels.similarity import count_pairs
from corpusmill.mill.dedup.band_settings import BandSetting, chosen_setting

DIGEST_BYTES, VALUE_BYTES, ENTRY_BYTES = 32, 4, 12


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

    rows = setting.band_rows
    share = np.zeros(permutations - setting.values + 1)  # of the values that no band uses
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
    possible = ~above & (np.arange(counts.size) >= setting.band_rows)
    return Expected(
        above=int(counts[above].sum()),
        missed=float(counts[above] @ np.maximum(1 - found[above], 0)),
        possible=int(counts[possible].sum()),
        false=float(counts[possible] @ found[possible]),
    )


def recommend(counts: np.ndarray, threshold: float, recall: float) -> BandSetting | None:
    """The setting that is chosen if the pairs of a sample are known."""
    return chosen_setting(
        counts.size - 1, threshold, recall, lambda one: expected(counts, threshold, one).false
    )
