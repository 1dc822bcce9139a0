"""A filtered and sketched sample of all sources, and a smaller sample of it to mill."""

from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from corpusmill.mill.dedup.minhash import MinHasher
from corpusmill.mill.filters.measuring import decided
from corpusmill.mill.read.digests import digest_words, digests_of
from corpusmill.mill.read.ids import unit_hash
from corpusmill.mill.read.parts import SCHEMA, TextPart
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.storage.files import replacing
from corpusmill.run.config import Config
from corpusmill.run.job_progress import phase
from corpusmill.run.layout import Layout
from corpusmill.run.typed import as_given
from corpusmill.tools.tune.estimate.mixing import FirstCells
from corpusmill.tools.tune.measuring import measured_batches
from corpusmill.tools.tune.sample import Sampled, Source, Wanted, proportional_sample, sources_of

MOST_FILES = 256
"""Maximum number of files of a source that are read. They are evenly spaced."""

TRIAL_BYTES = 32_000_000
"""Maximum bytes of text in the milled sample."""

SMALL_BYTES = 200_000
"""Size of the first part of the milled sample. Two sizes separate a job's fixed time from that of
its text."""

TAKEN_BYTES = 200_000_000
"""Maximum bytes of text that is filtered and compared. Further text is only counted."""


class Sizes(NamedTuple):
    """Approximate bytes of text."""

    read: int
    taken: int = TAKEN_BYTES
    trial: int = TRIAL_BYTES


class Texts(NamedTuple):
    """The texts to compare: a row for each sampled document that the filters keep."""

    sources: np.ndarray  # int64 (documents,): number of its source
    signatures: np.ndarray  # uint32 (documents, permutations)
    digests: np.ndarray  # uint64 (documents,)
    sizes: np.ndarray  # int64 (documents,): bytes
    cells: np.ndarray  # int64 (documents, stages): place in `names` of Reading.cells

    def by_source(self, count: int, values: np.ndarray | None = None) -> np.ndarray:
        """Return float64: the documents of each source, or sums of `values` over them."""
        return np.bincount(self.sources, values, count).astype(float)


class Reading(NamedTuple):
    sources: list[Sampled]
    texts: Texts
    trial: dict[str, list[Path]]
    """Maps each source to its files of the milled sample. The largest source comes first."""
    cells: list[FirstCells]
    """Of each stage that a mixture composes."""

    @property
    def text_bytes(self) -> float:
        """Of the whole corpus."""
        return sum(one.weight * one.text_bytes for one in self.sources)


def read_some(config: Config, layout: Layout, wanted: Sizes, folder: Path) -> Reading:
    """Read a sample. folder: for the sample."""
    files = layout.inputs.milled
    sources = sorted(sources_of(config, files), key=lambda one: (-one.text_bytes, one.name))
    part = folder / "sample.arrow"
    read_bytes = min(wanted.read, layout.inputs.text_bytes)
    taken_bytes = min(wanted.taken, read_bytes)
    read = read_bytes / max(layout.inputs.text_bytes, 1)
    taken = taken_bytes / max(read_bytes, 1)
    milled = wanted.trial / max(taken_bytes, 1)
    how = Wanted.by(config)
    with phase("reading", int(read * sum(one.bytes for one in sources))) as progress:
        found = proportional_sample(sources, how, (read, taken), MOST_FILES, part, progress)
    cells = [FirstCells(one.mixture.axes[0], config.weights) for one in config.composed]
    return Reading(
        found,
        texts_kept(config, part, found, cells),
        trial_files(sources, part, milled, how.seed, folder),
        cells,
    )


def texts_kept(
    config: Config, part: Path, sampled: list[Sampled], cells: list[FirstCells]
) -> Texts:
    """Return the documents of the sample that the filters keep. cells: of each stage."""
    names = [one.name for one in sampled]
    exact = config.dedup.method == "exact"
    hasher = MinHasher(**as_given(config.minhash) | ({"permutations": 0} if exact else {}))
    pieces = [Texts(np.zeros(0, np.int64), np.zeros((0, hasher.permutations), np.uint32),
                    np.zeros(0, np.uint64), np.zeros(0, np.int64),
                    np.zeros((0, len(cells)), np.int64))]  # fmt: skip
    with phase("filtering", sum(one.sampled for one in sampled), "documents") as progress:
        for left, table in measured_batches(part, config.filters, progress):
            kept = decided(config.filters, table).fates.kept
            column = TextColumn.of(left.texts.array().filter(pa.array(kept)))
            source = np.array([names.index(file["source"]) for file in left.files], np.int64)
            sources = source[left.batch.column("file").to_numpy()[kept]]
            of_kept = table.filter(pa.array(kept))
            places = [one.places(of_kept, [names[k] for k in sources.tolist()]) for one in cells]
            pieces.append(
                Texts(
                    sources,
                    hasher.sign(column),
                    digest_words(digests_of(column)),
                    column.sizes(),
                    np.array(places, np.int64).reshape(len(cells), sources.size).T,
                )
            )
    return Texts(*map(np.concatenate, zip(*pieces, strict=True)))


def trial_files(
    sources: list[Source], part: Path, share: float, seed: int, folder: Path
) -> dict[str, list[Path]]:
    """Write an even share of the documents of a text part as JSON lines."""
    field = {one.name: msgspec.json.encode(one.text_field) for one in sources}
    lines: dict[str, list[bytes]] = {one.name: [] for one in sources}
    before, text_part = 0, TextPart(part, SCHEMA.names)
    for batch in text_part.batches():
        rows = np.arange(before, before + batch.num_rows, dtype=np.uint64)
        before += batch.num_rows
        chosen = np.flatnonzero(unit_hash(rows, seed, "sample/milled") < share)
        for row in batch.take(pa.array(chosen)).to_pylist():
            name, rest = text_part.files[row["file"]]["source"], row["rest"]
            text = msgspec.json.encode(row["text"])
            lines[name].append(b"{%s:%s%s}\n" % (field[name], text, b"," + rest if rest else b""))
    return {
        name: trial_files_of(some, SMALL_BYTES if number == 0 else 0, folder / f"{number:03d}")
        for number, (name, some) in enumerate(lines.items())
    }


def trial_files_of(lines: list[bytes], small: int, path: Path) -> list[Path]:
    """Write the files of a source. small: bytes of a separate file, which is read first."""
    sizes = np.cumsum([len(line) for line in lines])
    first = int(np.searchsorted(sizes, small)) + 1 if small else 0
    found = []
    for place, some in enumerate((lines[:first], lines[first:])):
        if some:
            found.append(path.with_name(f"{path.name}-{place}.jsonl"))
            with replacing(found[-1]) as temporary:
                temporary.write_bytes(b"".join(some))
    return found
