"""How much disk a run takes, from its plan alone, and whether it is there: what `check` says, and
what stops a run before its first job."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from corpusmill.run.read_sizes import EXPECTED_DOCUMENT_BYTES

if TYPE_CHECKING:  # a run looks for its disk before it imports these
    from corpusmill.run.config import Config
    from corpusmill.run.layout import Layout

PACKED_LZ4 = 0.65
"""Of text, which is in `text`, in `cut` and `edited` if there are such, and in `scatter`."""

PACKED_ZSTD = 0.38
TOKEN_BYTES = 4 / 4.2
"""A token of four bytes for so many bytes of text; two where a vocabulary is small."""

LEAST_KEPT = 0.5
"""Of a corpus of which less stays, the half may be enough."""


class Disk(NamedTuple):
    """Bytes that are written, nothing removed."""

    likely: float
    least: float


def expected_disk(config: Config, layout: Layout, exported: float) -> Disk:
    """exported: bytes that its exports take, for a byte of token shards."""
    of_documents = 4 * config.permutations + 32 + 12 * (config.band_setting[0] + 1) + 60
    parts = 1 + layout.cuts_spans + layout.edits
    before = parts * PACKED_LZ4 + of_documents / EXPECTED_DOCUMENT_BYTES
    of_tokens = 1 + config.output.join + exported
    final = PACKED_LZ4 + PACKED_ZSTD + TOKEN_BYTES * of_tokens
    copies = sum(file.text_bytes * config.weights[file.source] for file in layout.inputs.milled)
    likely = before * layout.inputs.text_bytes + final * copies
    # Text that packs and drops far better than most, tokens of two bytes.
    least_final = final - TOKEN_BYTES / 2 * of_tokens
    least = 0.5 * before * layout.inputs.text_bytes + LEAST_KEPT * least_final * copies
    return Disk(likely, least)


def existing(results: Path) -> Path:
    """Where the results are or will be."""
    return results if results.exists() else Path(".")


def free_bytes(results: Path) -> int:
    return shutil.disk_usage(existing(results)).free


def unwritable(results: Path) -> list[str]:
    """Why nothing can be written."""
    folder = existing(results)
    if {"{", "}"} & set(str(Path.cwd())):
        return [f"{Path.cwd()}: Snakemake takes {{ and }} in a path for its own. Work elsewhere."]
    if not os.access(folder, os.W_OK | os.X_OK):
        return [f"{folder.resolve()}: nothing can be written here. Work in another folder."]
    return []


def disk_faults(least: float, results: Path) -> list[str]:
    """Why nothing, or not enough, can be written. least: bytes that will be."""
    if faults := unwritable(results):
        return faults
    free = free_bytes(results)
    if least > free:
        least -= sum(file.stat().st_size for file in results.rglob("*") if file.is_file())
    if least > free:
        return [
            f"{existing(results).resolve()}: {amount(free)} are free, and at least {amount(least)} "
            "more will be written. Make room, or work on another disk."
        ]
    return []


def amount(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"
