"""LSH settings: the recall of a number of bands and rows, and the choice of both.

A band row is one sketch value of a band, not a document's row in a table.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

RECALL = 0.995
"""Required recall: share of the pairs with similarity exactly at the threshold that the chosen
setting must find."""


class BandSetting(NamedTuple):
    """Bands, and sketch values per band."""

    bands: int
    band_rows: int

    @property
    def values(self) -> int:
        """Sketch values of all bands together."""
        return self.bands * self.band_rows


def recall_at(similarity: Any, setting: BandSetting) -> Any:
    """Return the probability that a pair of this Jaccard similarity shares a band: the S-curve."""
    return 1 - (1 - similarity**setting.band_rows) ** setting.bands


def settings_with_recall(permutations: int, threshold: float, recall: float) -> list[BandSetting]:
    """Return, for each number of rows, the fewest bands with this recall at the threshold.

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
    """Return the setting with this recall and the fewest false candidates; None if there is none.

    Of ties, choose the longest rows, and so the steepest curve: even if a sample has no false
    candidate, the corpus may have some. Without a sample, all settings tie.
    """
    return min(
        settings_with_recall(permutations, threshold, recall),
        key=lambda one: (false_candidates(one), -one.band_rows),
        default=None,
    )


def auto_setting(method: str, permutations: int, threshold: float) -> BandSetting:
    """Return the setting that config `auto` means for a dedup.method that compares sketches.

    verified: the chosen rows, in as many bands as the sketch allows. sketch: datasketch's choice,
    with the least error at the threshold; raises ValueError if it finds none.
    """
    if method == "verified":
        chosen = chosen_setting(permutations, threshold) or BandSetting(permutations, 1)
        return BandSetting(permutations // chosen.band_rows, chosen.band_rows)
    from datasketch import MinHashLSH

    lsh = MinHashLSH(threshold, num_perm=permutations)
    return BandSetting(lsh.b, lsh.r)


def least_permutations(threshold: float, recall: float) -> int:
    """Return the smallest sketch with which a setting, of single-value rows, has this recall."""
    bands = max(1, int(math.log1p(-recall) / math.log1p(-threshold)) - 1)
    while recall_at(threshold, BandSetting(bands, 1)) < recall:
        bands += 1
    return bands
