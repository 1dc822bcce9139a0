"""A trial of the sampler: an epoch has each sample once, and targets are shifted inputs."""

import time
from typing import NamedTuple

import numpy as np

from corpusmill.reader.batches import Batches
from corpusmill.reader.samples import Samples
from corpusmill.reader.shuffled import Shuffled
from corpusmill.reader.split import Split

MOST_CHECKED = 1 << 27
"""Maximum number of positions of an epoch that are tried. Each takes a byte of memory."""
BATCH = 64
SECONDS = 1.0


class Drawn(NamedTuple):
    samples: int  # in the split
    checked: int  # positions of an epoch that were tried
    repeated: int
    tokens_per_second: float
    shifted: int  # samples read whose targets are the inputs shifted by one
    read: int


def drawn(split: Split, length: int, seed: int) -> Drawn:
    order = Shuffled(split, length, seed)
    samples = len(order.samples)
    checked = min(samples, MOST_CHECKED)
    seen = np.zeros(samples, bool)
    for at in range(0, checked, 1 << 20):
        seen[order.numbers(0, np.arange(at, min(at + (1 << 20), checked)))] = True
    batches = Batches(order, BATCH)
    tokens, start = 0, time.perf_counter()
    while (seconds := time.perf_counter() - start) < SECONDS and tokens < split.tokens:
        tokens += next(batches)[:, 1:].size
    first = np.arange(0, samples, max(1, samples // BATCH))[:BATCH]
    windows = Samples(split, length)
    shifted = int(sum(is_shifted(windows, number) for number in first.tolist()))
    repeated = checked - int(seen.sum())
    return Drawn(samples, checked, repeated, tokens / seconds, shifted, len(first))


def is_shifted(samples: Samples, number: int) -> bool:
    """Say whether inputs and targets of a sample are the split's tokens, shifted by one."""
    start = number * samples.length
    row = samples[number]
    inputs = samples.split.read(start, start + samples.length)
    targets = samples.split.read(start + 1, start + samples.length + 1)
    return bool((row[:-1] == inputs).all() and (row[1:] == targets).all())
