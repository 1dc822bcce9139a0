"""Some of every source read, filtered and sketched; and a smaller sample of it to mill."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from corpusmill.messages.progress import Progress
from corpusmill.mill.dedup.minhash import MinHasher
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.measuring import Measures, decided
from corpusmill.mill.filters.registry import filter_class, measuring
from corpusmill.mill.read.digests import digests_of
from corpusmill.mill.read.normalization import normalizer
from corpusmill.mill.read.parts import SCHEMA
from corpusmill.mill.read.records import Malformed, Record
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.storage.files import replacing
from corpusmill.run.config import Config, Source
from corpusmill.run.layout import Layout
from corpusmill.run.plan import InputFile
from corpusmill.run.typed import as_given
from corpusmill.tools.tune.calibrate.sample import Amount, FileReading, Wanted
from corpusmill.tools.tune.least_keys import keys_of_file

BATCH_BYTES = 16 << 20
MOST_FILES = 256
"""Of a source that are entered, at even distances."""

TRIAL_BYTES = 32_000_000
"""Of text, in the sample that is milled, at most."""

SMALL_BYTES = 200_000
"""Of the first part of it: two sizes tell what a job takes by itself from what its text does."""

TAKEN_BYTES = 200_000_000
"""Of text, at most, of what is read: filtered and compared. The rest is counted."""

PURPOSE = "estimate"


class ReadSource(NamedTuple):
    """What was read of a source, and how much it has in all."""

    name: str
    bytes: int
    """Of its files."""
    read_share: float
    """Of the bytes of its files."""
    records: int
    malformed: int
    documents: int
    taken: int
    """Of the documents, by chance: what follows is of these alone."""
    text_bytes: int
    kept: int
    """By the filters, with what is left of their text:"""
    kept_bytes: int

    @property
    def taken_share(self) -> float:
        """Of all of the source."""
        return self.read_share * (self.taken / self.documents if self.documents else 1)


class ReadTexts(NamedTuple):
    """What is compared, a row for each document that the filters keep, source by source."""

    signatures: np.ndarray  # uint32 (documents, permutations)
    digests: np.ndarray  # uint64 (documents,)
    sizes: np.ndarray  # int64 (documents,): bytes


def chosen_files(files: list[InputFile]) -> list[InputFile]:
    places = np.unique(np.linspace(0, len(files) - 1, min(len(files), MOST_FILES)).astype(int))
    return [files[place] for place in places]


class SourceReader:
    """Reads a share of a source, batch by batch."""

    def __init__(self, config: Config, source: Source, share: float, taken_share: float) -> None:
        """share: of its files that is read. taken_share: of the documents there."""
        self._config, self._source = config, source
        self._wanted = Wanted(
            0, 0, config.shuffle.seed, config.normalize.mode,
            config.input.readers, config.input.limits,
        )  # fmt: skip
        self._share, self._bound = share, int(taken_share * 2**64)
        self._hasher = MinHasher(**_hasher(config))
        self.signatures: list[np.ndarray] = []
        self.digests: list[np.ndarray] = []
        self.sizes: list[np.ndarray] = []
        self.counts = dict.fromkeys(ReadSource._fields[3:], 0)

    def records(
        self, files: list[InputFile], progress: Progress
    ) -> Iterator[tuple[int, int, Record | Malformed]]:
        """Key, place of the file and record of what is read."""
        field = self._source.text_field
        purpose = f"{PURPOSE}/{self._source.name}"
        for place, file in enumerate(files):
            reading = FileReading(file, place, field, self._share, self._wanted, purpose)
            keys = keys_of_file(place, self._wanted.seed, purpose)
            for key, record in zip(keys, reading.records(progress), strict=False):
                yield key, place, record

    def read(self, files: list[InputFile], trial: "TrialWriter", progress: Progress) -> ReadSource:
        """trial: takes some of the records."""
        mend = normalizer(self._config.normalize.mode)
        entered = chosen_files(files)
        amount = Amount(progress)
        named = [{"source": self._source.name, "path": file.path} for file in entered]
        rows: list[tuple[bytes, bytes, int, int]] = []
        held = 0
        for key, place, record in self.records(entered, amount):
            self.counts["records"] += 1
            if isinstance(record, Malformed):
                self.counts["malformed"] += 1
                continue
            self.counts["documents"] += 1
            if key >= self._bound:
                continue
            text = mend(record.text).encode("utf-8")
            trial.add(key, self._source.text_field, record.text, record.rest, len(text))
            rows.append((text, record.rest, place, record.line))
            held += len(text) + len(record.rest)
            if held >= BATCH_BYTES:
                self._add(rows, named)
                rows, held = [], 0
        self._add(rows, named)
        size = sum(file.bytes or 0 for file in files)
        share = min(1.0, amount.bytes / size) if size else 1.0
        return ReadSource(self._source.name, size, share, **self.counts)

    def _add(self, rows: list[tuple[bytes, bytes, int, int]], named: list[dict]) -> None:
        if not rows:
            return
        texts, rests, files, lines = zip(*rows, strict=True)
        columns = [
            string_array(texts), string_array(rests).cast(pa.large_binary()),
            pa.array(files, pa.uint32()), pa.array(lines, pa.uint64()),
        ]  # fmt: skip
        batch = pa.record_batch(columns, schema=SCHEMA)
        left, kept = self._filtered(Documents(TextColumn.of(columns[0]), batch, named))
        self.counts["taken"] += len(rows)
        self.counts["text_bytes"] += sum(map(len, texts))
        column = TextColumn.of(left.texts.array().filter(pa.array(kept)))
        self.counts["kept"] += column.offsets.size - 1
        self.counts["kept_bytes"] += int(column.sizes().sum())
        self.signatures.append(self._hasher.sign(column))
        self.digests.append(np.ascontiguousarray(digests_of(column)[:, :8]).view("<u8").ravel())
        self.sizes.append(column.sizes())

    def _filtered(self, documents: Documents) -> tuple[Documents, np.ndarray]:
        """What is left of documents, and which of them the filters keep."""
        filters = self._config.filters
        measures = Measures([measuring(one) for one in filters if filter_class(one).values])
        left, _ = measures.add(documents)
        names = [self._source.name] * len(documents)
        sizes = pa.array(left.texts.sizes().astype(np.uint64))
        sources = pa.array(names, pa.string()).dictionary_encode()
        table = pa.table({**measures.columns(), "text_bytes": sizes, "source": sources})
        return left, decided(filters, table).fates.kept


def _hasher(config: Config) -> dict:
    exact = config.dedup.method == "exact"
    return as_given(config.minhash) | ({"permutations": 0} if exact else {})


class TrialWriter:
    """A sample of the records that are read, as JSON lines: by their keys, whatever is in them."""

    def __init__(self, folder: Path, name: str, share: float, small: bool) -> None:
        """small: whether some of it make a file of their own, which is read first."""
        self._bound, self._folder, self._name = int(share * 2**64), folder, name
        self._lines: list[list[bytes]] = [[], []]
        self._bytes, self._small = [0, 0], SMALL_BYTES if small else 0

    def add(self, key: int, field: str, text: str, rest: bytes, text_bytes: int) -> None:
        if key < self._bound:
            place = int(self._bytes[0] >= self._small)
            self._bytes[place] += text_bytes
            # A lone surrogate, which ftfy mends, cannot be written.
            encoded = msgspec.json.encode(text.encode("utf-8", "replace").decode("utf-8"))
            members = b"," + rest if rest else b""
            line = b"{%s:%s%s}\n" % (msgspec.json.encode(field), encoded, members)
            self._lines[place].append(line)

    def files(self) -> list[Path]:
        """Written, those that have a record."""
        found = []
        for place, lines in enumerate(self._lines):
            path = self._folder / f"{self._name}-{place}.jsonl"
            if lines:
                with replacing(path) as temporary:
                    temporary.write_bytes(b"".join(lines))
                found.append(path)
        return found


class Reading(NamedTuple):
    sources: list[ReadSource]
    texts: ReadTexts
    trial: dict[str, list[Path]]
    """Source -> its files of the sample that is milled, the source with most text first."""


class Sizes(NamedTuple):
    """Bytes of text, about."""

    read: int
    taken: int = TAKEN_BYTES
    trial: int = TRIAL_BYTES

    def share(self, layout: Layout) -> float:
        """Of all text, what is read."""
        return min(1.0, self.read / max(layout.text_bytes, 1))


def read_some(
    config: Config, layout: Layout, wanted: Sizes, folder: Path, progress: Progress
) -> Reading:
    """folder: where the sample goes."""
    by_source: dict[str, list[InputFile]] = {}
    for file in (file for part in layout.parts for file in part.files):
        by_source.setdefault(file.source, []).append(file)
    share = wanted.share(layout)
    read = min(wanted.read, layout.text_bytes)
    # One key decides both: what is milled is of what is taken.
    taken_share, trial_share = (
        min(1.0, most / max(read, 1)) for most in (wanted.taken, wanted.trial)
    )
    sizes = {name: sum(file.text_bytes for file in files) for name, files in by_source.items()}
    order = sorted(sizes, key=lambda name: (-sizes[name], name))
    sources = {source.name: source for source in config.milled}
    found: list[ReadSource] = []
    readers: list[SourceReader] = []
    trial: dict[str, list[Path]] = {}
    for number, name in enumerate(order):
        writer = TrialWriter(folder, f"{number:03d}", trial_share, number == 0)
        readers.append(SourceReader(config, sources[name], share, taken_share))
        found.append(readers[-1].read(by_source[name], writer, progress))
        trial[name] = writer.files()
    return Reading(found, _joined(readers, _hasher(config)["permutations"]), trial)


def _joined(readers: Sequence[SourceReader], permutations: int) -> ReadTexts:
    signatures = [np.zeros((0, permutations), np.uint32)]
    digests, sizes = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    for reader in readers:
        signatures += reader.signatures
        digests += reader.digests
        sizes += reader.sizes
    return ReadTexts(np.concatenate(signatures), np.concatenate(digests), np.concatenate(sizes))
