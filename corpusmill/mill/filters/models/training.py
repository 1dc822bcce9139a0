"""Train a quality model on good and bad texts: logistic regression on hashed word n-grams.

The same texts give the same bytes on any machine and in any order.
"""

from typing import NamedTuple

import numpy as np

from corpusmill.kernels.quality import learn, score_examples
from corpusmill.messages.progress import Progress
from corpusmill.mill.filters.models.evaluation import Evaluation, evaluated
from corpusmill.mill.filters.models.examples import Examples, held_out
from corpusmill.mill.filters.models.quality_model import Definition, QualityModel
from corpusmill.mill.read.ids import keyed_hash


class Settings(NamedTuple):
    """Training settings."""

    held_out: float
    """Share of the texts held out for evaluation."""
    epochs: int
    rate: float
    seed: int


class Trained(NamedTuple):
    model: QualityModel
    evaluation: Evaluation
    learnt_from: dict[str, int]
    """Numbers of texts by class: good, bad."""


def trained(
    examples: Examples, definition: Definition, settings: Settings, progress: Progress
) -> Trained:
    """Train a model and evaluate it on the held-out examples.

    ValueError if a class has too few texts for both.
    """
    apart = held_out(examples, settings.held_out, settings.seed)
    seen, unseen = examples.at(np.flatnonzero(~apart)), examples.at(np.flatnonzero(apart))
    for some, what in ((seen, "in the training set"), (unseen, "in the held-out set")):
        for good, name in ((True, "good"), (False, "bad")):
            if not (some.good == good).any():
                count = (examples.good == good).sum()
                raise ValueError(
                    "expected good and bad texts in the training set and in the held-out set; "
                    f"found {count} different {name} texts, none of them {what}. "
                    "Give more texts, or change --held-out."
                )
    model = learnt(seen, definition, settings, progress)
    scores = np.empty(unseen.good.size, np.float32)
    score_examples(unseen.features, unseen.starts, unseen.stops, model.weights, model.bias, scores)
    counts = {"good": int(seen.good.sum()), "bad": int((~seen.good).sum())}
    return Trained(model, evaluated(scores, unseen.good), counts)


def learnt(
    examples: Examples, definition: Definition, settings: Settings, progress: Progress
) -> QualityModel:
    """Train a model. Each epoch visits all examples in its own order, by keyed hash."""
    weights, squares = np.zeros((2, 1 << definition.bits))
    bias = np.zeros(2)
    for epoch in range(settings.epochs):
        keys = keyed_hash(examples.keys, settings.seed, f"train-filter/epoch {epoch}")
        ordered = examples.at(np.argsort(keys, kind="stable"))
        learn(
            ordered.features, ordered.starts, ordered.stops, ordered.good,
            balance(ordered.good), settings.rate, weights, squares, bias,
        )  # fmt: skip
        progress.advance(1)
    return QualityModel(definition, float(bias[0]), weights.astype(np.float32))


def balance(good: np.ndarray) -> np.ndarray:
    """Return float64 (2,): weights of bad and good texts that give both classes the same total."""
    count = int(good.sum())
    return good.size / (2.0 * np.array([good.size - count, count]))
