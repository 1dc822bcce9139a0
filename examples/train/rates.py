"""The learning rate of every step, which depends only on its number."""

import math
from typing import NamedTuple

LEAST = 0.1
"""Final rate of a cosine, relative to the peak."""


class Rate(NamedTuple):
    peak: float
    warmup: int  # steps of increase to the peak; 0: none
    cosine: int  # step at which the rate has fallen to LEAST; 0: constant

    def at(self, step: int) -> float:
        """Return the rate of a step, counted from 0."""
        if step < self.warmup:
            return self.peak * (step + 1) / self.warmup
        if not self.cosine:
            return self.peak
        fallen = min(1.0, (step - self.warmup) / max(1, self.cosine - self.warmup))
        return self.peak * (LEAST + (1 - LEAST) * (1 + math.cos(math.pi * fallen)) / 2)
