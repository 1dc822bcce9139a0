"""LSH settings: how many pairs a number of bands and rows finds, and which setting is chosen.

A band row is one sketch value of a band; a document's row in a table is another thing.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

RECALL = 0.995
"""The share of pairs just at the threshold that a chosen setting finds."""


class BandSetting(NamedTuple):
    """Bands, and sketch values per band."""

    bands: int
    band_rows: int

    @property
    def values(self) -> int:
        """Sketch values that all bands use together."""
        return self.bands * self.band_rows


def recall_at(similarity: Any, setting: BandSetting) -> Any:
    """The S-curve: the probability that a pair of this Jaccard similarity shares a band."""
    return 1 - (1 - similarity**setting.band_rows) ** setting.bands


def settings_with_recall(permutations: int, threshold: float, recall: float) -> list[BandSetting]:
    """For each number of rows the fewest bands that find this share of pairs at the threshold.

    The curve rises, so a setting finds at least that share of all pairs above the threshold too.
    """
    found = []
    for rows in range(1, permutations + 1):
        settings = (BandSetting(bands, rows) for bands in range(1, permutations // rows + 1))
        least = next((one for one in settings if recall_at(threshold, one) >= recall), None)
        if least is not None:
            found.append(least)
    return found


def chosen_setting(
    permutations: int,
    threshold: float,
    recall: float = RECALL,
    false_candidates: Callable[[BandSetting], float] = lambda setting: 0,
) -> BandSetting | None:
    """The setting with this recall and the fewest false candidates; None if none has this recall.

    Of equals the one with the longest rows, and so the steepest curve: if a sample has no false
    candidate, the corpus may still have some. Without a sample all are equal.
    """
    return min(
        settings_with_recall(permutations, threshold, recall),
        key=lambda one: (false_candidates(one), -one.band_rows),
        default=None,
    )


def auto_setting(method: str, permutations: int, threshold: float) -> BandSetting:
    """The setting that config `auto` means for a dedup.method that compares sketches.

    verified: the chosen rows, in as many bands as the sketch has values for. sketch: the least
    error at the threshold; ValueError if datasketch finds none.
    """
    if method == "verified":
        chosen = chosen_setting(permutations, threshold) or BandSetting(permutations, 1)
        return BandSetting(permutations // chosen.band_rows, chosen.band_rows)
    from datasketch import MinHashLSH

    lsh = MinHashLSH(threshold, num_perm=permutations)
    return BandSetting(lsh.b, lsh.r)


def least_permutations(threshold: float, recall: float) -> int:
    """The smallest sketch with which some setting has this recall: rows of one value reach it."""
    bands = max(1, int(math.log1p(-recall) / math.log1p(-threshold)) - 1)
    while recall_at(threshold, BandSetting(bands, 1)) < recall:
        bands += 1
    return bands
