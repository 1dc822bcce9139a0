"""Measure how well scores separate good texts from bad ones."""

from typing import Any, NamedTuple

import numpy as np

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class AtThreshold(NamedTuple):
    """The effect of one `min_score`."""

    min_score: float
    precision: float | None
    """Share of the kept texts that are good; None if none is kept."""
    recall: float
    """Share of the good texts that are kept."""
    bad_kept: float
    """Share of the bad texts that are kept."""


class Evaluation(NamedTuple):
    """Results on texts that the model was not trained on."""

    good: int
    bad: int
    accuracy: float
    """Balanced accuracy at 0.5."""
    roc_auc: float
    """Probability that a good text scores higher than a bad one; ties count half."""
    thresholds: list[AtThreshold]

    def as_json(self) -> dict[str, Any]:
        return self._asdict() | {"thresholds": [one._asdict() for one in self.thresholds]}


def evaluated(scores: np.ndarray, good: np.ndarray) -> Evaluation:
    """Evaluate scores, float32 (texts,). good: bool (texts,); both classes must occur."""
    of_good, of_bad = scores[good], scores[~good]
    accuracy = ((of_good >= 0.5).mean() + (of_bad < 0.5).mean()) / 2
    return Evaluation(
        of_good.size, of_bad.size, round(float(accuracy), 6), round(roc_auc(of_good, of_bad), 6),
        [at_threshold(of_good, of_bad, least) for least in THRESHOLDS],
    )  # fmt: skip


def roc_auc(of_good: np.ndarray, of_bad: np.ndarray) -> float:
    """Return the area under the ROC curve, computed exactly by counting."""
    ordered = np.sort(of_bad)
    below = np.searchsorted(ordered, of_good, "left").sum()
    not_above = np.searchsorted(ordered, of_good, "right").sum()
    return float(below + not_above) / (2 * of_good.size * of_bad.size)


def at_threshold(of_good: np.ndarray, of_bad: np.ndarray, least: float) -> AtThreshold:
    # Compare as the filter does: float32 scores with the configured number.
    good, bad = int((of_good >= least).sum()), int((of_bad >= least).sum())
    precision = round(good / (good + bad), 6) if good + bad else None
    return AtThreshold(least, precision, round(good / of_good.size, 6), round(bad / of_bad.size, 6))
