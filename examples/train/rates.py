"""The learning rate of every step: a function of its number alone, so that no state is kept."""

import math
from typing import NamedTuple

LEAST = 0.1
"""Of the peak, where a cosine ends."""


class Rate(NamedTuple):
    peak: float
    warmup: int  # steps in which it rises to the peak; 0: none
    cosine: int  # the step at which it has fallen to LEAST; 0: it stays at the peak

    def at(self, step: int) -> float:
        """Of a step, the first is 0."""
        if step < self.warmup:
            return self.peak * (step + 1) / self.warmup
        if not self.cosine:
            return self.peak
        fallen = min(1.0, (step - self.warmup) / max(1, self.cosine - self.warmup))
        return self.peak * (LEAST + (1 - LEAST) * (1 + math.cos(math.pi * fallen)) / 2)
