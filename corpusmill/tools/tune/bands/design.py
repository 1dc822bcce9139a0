"""Predictions of what an LSH setting finds among the pairs of a sample, and what it costs.

Similarity is the Jaccard similarity of two sets of shingles. Sketches estimate it: in a pair with
similarity s, each of the `permutations` values is equal with probability s.
"""

from typing import Any, NamedTuple

import numpy as np

from corpusmill.kernels.similarity import count_pairs
from corpusmill.mill.dedup.band_settings import BandSetting, chosen_setting

DIGEST_BYTES, VALUE_BYTES, ENTRY_BYTES = 32, 4, 12


def bytes_per_document(permutations: int, bands: int) -> int:
    """Return the bytes on disk between the steps: sketch, digest, and a key and a row number per
    band."""
    return VALUE_BYTES * permutations + ENTRY_BYTES * bands + DIGEST_BYTES


def histogram(signatures: np.ndarray) -> np.ndarray:
    """Return int64 (permutations + 1,): the number of pairs with k equal values, for each k."""
    counts = np.zeros(signatures.shape[1] + 1, np.int64)
    count_pairs(signatures, counts)
    return counts


def similarities(counts: np.ndarray) -> np.ndarray:
    """Return the estimated similarity at each place of a histogram."""
    return np.arange(counts.size) / (counts.size - 1)


def band_probability(permutations: int, setting: BandSetting) -> np.ndarray:
    """Return float64 (permutations + 1,): the chance that two sketches with k equal values share a
    band.

    The equal values are at random places. The mean over a binomial k is the S-curve, so a sum over
    a histogram of k is an unbiased count of candidates. The S-curve at k/permutations is biased:
    most pairs have one or two equal values by chance, and cannot share a band of four.
    """
    factorials = np.cumsum(np.log(np.maximum(np.arange(permutations + 1), 1)))  # logarithms

    def choose(n: Any, k: Any) -> Any:
        return factorials[n] - factorials[k] - factorials[n - k]

    rows = setting.band_rows
    share = np.zeros(permutations - setting.values + 1)  # of values that no band uses
    for values in range(share.size - 1 + rows, permutations + 1, rows):  # then one more band
        larger = np.zeros(values + 1)
        outside = np.arange(share.size)
        for inside in range(rows + 1):
            equal = outside + inside
            ways = choose(rows, inside) + choose(values - rows, outside) - choose(values, equal)
            larger[equal] += np.exp(ways) * (share if inside < rows else 1)
        share = larger
    return share


class Expected(NamedTuple):
    """The pairs of a histogram, with the expected outcome of a setting."""

    above: int  # estimated at or above the threshold
    missed: float  # of these: share no band
    possible: int  # below it, with enough equal values to share a band
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
    """Choose the setting for the pairs of a sample."""
    return chosen_setting(
        counts.size - 1, threshold, recall, lambda one: expected(counts, threshold, one).false
    )
