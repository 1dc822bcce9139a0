"""Shortages of mixtures that the sizes of the input files show before the run.

The text of a plain file has at most as many bytes as the file, times what normalization may add.
Compressed files and formats of the user have no such bound, so nothing is said of them; nor of
budgets in tokens or documents.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from corpusmill.mill.decide.fates import TRAIN
from corpusmill.mill.decide.mixture import Mixture, as_fraction
from corpusmill.mill.decide.shares import first_shares
from corpusmill.mill.read.readers import format_of, formats
from corpusmill.run.config import Config
from corpusmill.run.plan import InputFile

GROWTH = {"none": 1, "nfc": 3, "ftfy": math.inf}
"""Maximum growth of a text by each mode of `normalize`: NFC makes 12 bytes of the 4 of U+1D160."""

Bound = float
"""A number of bytes; infinite if unknown."""


def certain_shortages(config: Config, files: Sequence[InputFile]) -> list[str]:
    """Return a sentence per shortage that no run with these milled files can avoid."""
    growth = GROWTH[config.normalize.mode]
    return list(_shortages(config, files, growth, "its files can have at most"))


def likely_shortages(config: Config, files: Sequence[InputFile]) -> list[str]:
    """Return a sentence per shortage if normalization adds nothing, as for nearly all texts."""
    return list(_shortages(config, files, 1, "its files seem to have at most"))


def _shortages(
    config: Config, files: Sequence[InputFile], growth: float, have: str
) -> Iterator[str]:
    stages = [one for one in config.composed if one.mixture.unit == "bytes" and one.mixture.budget]
    if not stages:
        return
    known = formats(config.input.readers)
    most: dict[str, Bound] = dict.fromkeys(config.weights, 0)
    for file in files:
        if config.weights[file.source]:
            is_bound = file.bytes is not None and format_of(file.path, known).is_plain
            is_bound &= growth < math.inf
            most[file.source] += (file.bytes or 0) * growth if is_bound else math.inf
    for stage in stages:
        place = "" if stage.split == TRAIN else f"stage {stage.split}: "
        yield from (f"{place}mixture: {one}" for one in _of_mixture(stage.mixture, most, have))


def _of_mixture(mixture: Mixture, most: Mapping[str, Bound], have: str) -> Iterator[str]:
    """Yield a sentence per shortage. most: bytes that each source can have at most."""
    first, budget = mixture.axes[0], mixture.budget or 0
    cells: dict[str, Bound] = {}
    for source, bytes in most.items():
        name = first.groups[source] if first.groups else "" if first.column else source
        cells[name] = cells.get(name, 0) + bytes
    limits = {name: bytes * _times(mixture, name)[0] for name, bytes in cells.items()}
    shares = None if first.column else first_shares(mixture.shares)
    found = False
    if shares is not None and mixture.on_shortage != "rescale":
        for name, share in shares.items():
            if share * budget > limits[name]:
                times, key = _times(mixture, name)
                yield (
                    f"the budget wants {int(share * budget):,} bytes of {first.name} {name}, but "
                    f"{have} {cells[name]:,} bytes of text, so {int(limits[name]):,} with {key} "
                    f"{float(times):g}. Lower its share or the budget, or raise {key}."
                )
                found = True
    total = sum(limits[name] for name in cells if shares is None or shares.get(name))
    if not found and budget > total:
        yield (
            f"the budget wants {budget:,} bytes, but {have.replace('its', 'the')} "
            f"{sum(cells.values()):,} bytes of text, so {int(total):,} with max_epochs and "
            f"max. Lower the budget, or raise one of them."
        )
    of_all = mixture.max_epochs.all
    if of_all is not None and mixture.on_shortage != "repeat":
        allowed_bytes = sum(cells.values()) * as_fraction(of_all)
        if budget > allowed_bytes:
            yield (
                f"the budget wants {budget:,} bytes, but {have.replace('its', 'the')} "
                f"{sum(cells.values()):,} bytes of text, so {int(allowed_bytes):,} with "
                f"max_epochs.all {of_all:g}. Lower the budget, or raise max_epochs.all."
            )


def _times(mixture: Mixture, name: str) -> tuple[Fraction, str]:
    """Return how often a cell can be used at most, and the key that says so. name: along the first
    axis; empty for cells whose names are not known."""
    maxima = mixture.max_epochs
    epochs = maxima.of_cell((name,))
    if not name and epochs is not None:
        epochs = max(epochs, *maxima.cells.values(), 0)
    if epochs is None or mixture.on_shortage == "repeat" or epochs > mixture.most:
        return Fraction(mixture.most), "max"
    return as_fraction(epochs), "max_epochs"
