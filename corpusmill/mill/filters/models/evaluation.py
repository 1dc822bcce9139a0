"""How well scores tell good texts from bad ones."""

from typing import Any, NamedTuple

import numpy as np

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class AtThreshold(NamedTuple):
    """What `min_score` would do."""

    min_score: float
    precision: float | None
    """Share of the kept texts that are good; None if none is kept."""
    recall: float
    """Share of the good texts that are kept."""
    bad_kept: float
    """Share of the bad texts that are kept."""


class Evaluation(NamedTuple):
    """Of texts that the model has not seen."""

    good: int
    bad: int
    accuracy: float
    """Share of the texts on the right side of 0.5, where both classes weigh the same."""
    roc_auc: float
    """The chance that a good text has a higher score than a bad one; half of the ties count."""
    thresholds: list[AtThreshold]

    def as_json(self) -> dict[str, Any]:
        return self._asdict() | {"thresholds": [one._asdict() for one in self.thresholds]}


def evaluated(scores: np.ndarray, good: np.ndarray) -> Evaluation:
    """scores: float32, good: bool, both (texts,); some are good and some are not."""
    of_good, of_bad = scores[good], scores[~good]
    accuracy = ((of_good >= 0.5).mean() + (of_bad < 0.5).mean()) / 2
    return Evaluation(
        of_good.size, of_bad.size, round(float(accuracy), 6), round(roc_auc(of_good, of_bad), 6),
        [at_threshold(of_good, of_bad, least) for least in THRESHOLDS],
    )  # fmt: skip


def roc_auc(of_good: np.ndarray, of_bad: np.ndarray) -> float:
    """By counting, so exactly."""
    ordered = np.sort(of_bad)
    below = np.searchsorted(ordered, of_good, "left").sum()
    not_above = np.searchsorted(ordered, of_good, "right").sum()
    return float(below + not_above) / (2 * of_good.size * of_bad.size)


def at_threshold(of_good: np.ndarray, of_bad: np.ndarray, least: float) -> AtThreshold:
    # As the filter compares: float32 with what the configuration says.
    good, bad = int((of_good >= least).sum()), int((of_bad >= least).sum())
    precision = round(good / (good + bad), 6) if good + bad else None
    return AtThreshold(least, precision, round(good / of_good.size, 6), round(bad / of_bad.size, 6))
