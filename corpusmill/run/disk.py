"""Estimate the disk space of a run from its plan, and check that it is free.

`check` reports it; a run stops before its first job if there is too little.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from corpusmill.mill.decide.fates import TRAIN
from corpusmill.run.read_sizes import EXPECTED_DOCUMENT_BYTES

if TYPE_CHECKING:  # a run looks for its disk before it imports these
    from corpusmill.run.config import Config
    from corpusmill.run.layout import Layout
    from corpusmill.run.mixture_config import MixtureKeys

PACKED_LZ4 = 0.65
"""Compressed size per byte of text in `text`, `cut` and `edited`."""

SCATTERED = 1
"""Size per byte of text in `scatter`, which is not compressed."""

PACKED_ZSTD = 0.38
TEXT_PER_TOKEN = 4.2
"""Bytes of text per token."""
TOKEN_BYTES = 4 / TEXT_PER_TOKEN
"""Bytes of token ids per byte of text, for ids of 4 bytes. Small vocabularies need half."""

PIECE_BYTES, ROW_BYTES = 16, 8
"""Size of a piece and of a row in the indexes of packed rows."""

BYTES_OF_ORDER = 20
"""Of each document in the tables that put documents in order."""
LEAST_KEPT = 0.5
"""Minimum share of the expected final files for which to require space: filters may drop the
rest."""


class Disk(NamedTuple):
    """Bytes that a run writes if it removes nothing."""

    likely: float
    least: float


def expected_disk(config: Config, layout: Layout, exported: float) -> Disk:
    """Estimate the disk space of a run. exported: bytes of exports per byte of token shards."""
    of_documents = 4 * config.permutations + 32 + 12 * (config.band_setting[0] + 1) + 60
    of_documents += BYTES_OF_ORDER * layout.arranges
    parts = 1 + layout.cuts_spans + layout.edits
    counted = TOKEN_BYTES * layout.counts_tokens  # of documents, and again with their copies
    before = parts * PACKED_LZ4 + of_documents / EXPECTED_DOCUMENT_BYTES + counted
    of_tokens = 1 + config.output.join + exported
    packed = sum(map(packed_bytes, config.output.pack))
    final = SCATTERED + PACKED_ZSTD + TOKEN_BYTES * of_tokens + packed + counted
    copies = bytes_of_copies(config, layout)
    likely = before * layout.inputs.text_bytes + final * copies
    # Assumes text that compresses and drops far more than usual, and tokens of two bytes.
    least_final = final - (TOKEN_BYTES * of_tokens + packed + counted) / 2
    least = 0.5 * before * layout.inputs.text_bytes + LEAST_KEPT * least_final * copies
    return Disk(likely, least)


def bytes_of_copies(config: Config, layout: Layout) -> float:
    """Return the expected text bytes of all shards, if nothing is dropped."""
    whole = sum(file.text_bytes * config.weights[file.source] for file in layout.inputs.milled)
    if not layout.mixes:
        return whole
    train = config.splits.fractions[TRAIN] * whole
    mixed = [likely_bytes(mixture, train) for mixture in config.mixtures.values()]
    return whole - train + sum(mixed)


def likely_bytes(mixture: MixtureKeys, train: float) -> float:
    """Return the expected text bytes of train or a stage. train: without a mixture."""
    size = mixture.budget.size
    if size is None:
        return train
    of_unit = {"tokens": TEXT_PER_TOKEN, "documents": EXPECTED_DOCUMENT_BYTES, "bytes": 1}
    return size * of_unit[mixture.budget.unit]


def packed_bytes(length: int) -> float:
    """Return the bytes of an index of packed rows per byte of text: long documents are cut."""
    pieces = 1 / EXPECTED_DOCUMENT_BYTES + 1 / TEXT_PER_TOKEN / length
    return PIECE_BYTES * pieces + ROW_BYTES / TEXT_PER_TOKEN / (length + 1)


def existing(results: Path) -> Path:
    """Return the results folder, or the current folder if it does not exist yet."""
    return results if results.exists() else Path(".")


def free_bytes(results: Path) -> int:
    return shutil.disk_usage(existing(results)).free


def unwritable(results: Path) -> list[str]:
    """Return the reason if nothing can be written."""
    folder = existing(results)
    if {"{", "}"} & set(str(Path.cwd())):
        return [
            f"{Path.cwd()}: Snakemake treats {{ and }} in a path as wildcards. Work "
            "in a different folder."
        ]
    if not os.access(folder, os.W_OK | os.X_OK):
        return [
            f"{folder.resolve()}: no write permission. Change the permissions, or work in a "
            "different folder."
        ]
    return []


def disk_faults(least: float, results: Path) -> list[str]:
    """Return why nothing, or not enough, can be written. least: bytes that a run needs."""
    if faults := unwritable(results):
        return faults
    free = free_bytes(results)
    if least > free:
        least -= sum(file.stat().st_size for file in results.rglob("*") if file.is_file())
    if least > free:
        return [
            f"{existing(results).resolve()}: {amount(free)} are free, but the run still has "
            f"to write at least {amount(least)}. Free some space, or use a different disk."
        ]
    return []


def amount(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"
