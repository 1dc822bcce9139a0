"""Samples of sources, normalized, as a text part. Used by calibrate, estimate and designer.

Every document that is read has the same chance, decided by a keyed hash of its file and place. So
the same seed gives the same sample, and a smaller sample is part of a larger one. If a file is
larger than its share of the reading, it is read in evenly spaced stretches if its format allows
that, as plain JSON lines do, otherwise from the beginning.

Each sampled document of a source represents `weight` documents.
"""

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corpusmill.messages.progress import Progress
from corpusmill.mill.read.ids import ROW_BITS, keyed_hash, unit_hash
from corpusmill.mill.read.input_format import ReadOptions
from corpusmill.mill.read.normalization import normalizer
from corpusmill.mill.read.parts import TextWriter
from corpusmill.mill.read.readers import format_of, formats, read_records, refuse_changed
from corpusmill.mill.read.records import Malformed, Record
from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.streams import READ_LIMITS, ReadLimits
from corpusmill.run.config import Config
from corpusmill.run.plan import InputFile
from corpusmill.run.typed import as_given

KEYS_AT_ONCE = 4096
ALL_KEYS = 1 << 64

LEAST_STRETCH = 1 << 16
"""Minimum number of bytes of a stretch. Many short stretches represent a sorted file better than a
few long ones, but a seek costs as much as reading some of these bytes."""

MOST_STRETCHES = 256

LEAST_REFUSED = 1 << 30
MOST_EXPANSION = 16
"""A file that expands to more than 16 times the expected text, and to 1 GiB, is refused."""

LEAST_READ = 1 << 20
RECORD_BYTES = 64
"""Bytes counted per record in addition to its text, because a small file may unpack to millions of
short records. At most 16 times the expected text of a file is read, but always 1 MiB."""


class Wanted(NamedTuple):
    """The settings of reading."""

    seed: int
    normalizing: dict[str, Any]
    """Keyword arguments of `normalizer`."""
    readers: Sequence[str] = ()  # the user's own
    limits: ReadLimits = READ_LIMITS

    @classmethod
    def by(cls, config: Config) -> "Wanted":
        normalizing, limits = as_given(config.normalize), config.input.limits
        return cls(config.shuffle.seed, normalizing, config.input.readers, limits)


class Source(NamedTuple):
    name: str
    text_field: str
    files: list[InputFile]

    @property
    def bytes(self) -> int:
        return sum(file.bytes or 0 for file in self.files)

    @property
    def text_bytes(self) -> int:
        return sum(file.text_bytes for file in self.files)


def sources_of(config: Config, files: Iterable[InputFile]) -> list[Source]:
    """Return the milled sources with their files."""
    of_source: dict[str, list[InputFile]] = {one.name: [] for one in config.milled}
    for file in files:
        of_source[file.source].append(file)
    return [Source(one.name, one.text_field, of_source[one.name]) for one in config.milled]


class Sampled(NamedTuple):
    """The sample of a source, and its estimates for the whole source."""

    name: str
    files: int
    bytes: int
    read_share: float  # of its bytes
    records: float  # in all of its files; estimated if not all was read
    documents: float  # of these records
    malformed: int  # malformed records in what was read
    sampled: int  # documents
    text_bytes: int  # of the sampled documents
    entered: list[str]  # files that were read in stretches

    @property
    def weight(self) -> float:
        """Return how many documents each sampled one represents."""
        return self.documents / max(self.sampled, 1)

    @property
    def share(self) -> float:
        """Return the chance of a document to be in the sample."""
        return self.sampled / self.documents if self.documents else 1.0


def standard_error(share: float, sampled: int, documents: float) -> float:
    """Return the standard error of a share in a sample without replacement."""
    if sampled >= documents:
        return 0.0
    return (share * (1 - share) / sampled * (1 - sampled / documents)) ** 0.5


def keys_of_file(number: int, seed: int, purpose: str) -> Iterator[int]:
    """Yield the sampling key of every record of a file, in order, without end."""
    for start in itertools.count(0, KEYS_AT_ONCE):
        records = np.arange(start, start + KEYS_AT_ONCE, dtype=np.uint64)
        yield from keyed_hash(np.uint64(number << ROW_BITS) | records, seed, purpose).tolist()


class Amount:
    """Counts the bytes read and passes them on to another progress."""

    def __init__(self, outer: Progress) -> None:
        self.bytes, self._outer = 0, outer

    def advance(self, amount: int) -> None:
        self.bytes += amount
        self._outer.advance(amount)


def stretches(size: int, share: float, first: int) -> list[tuple[int, int]]:
    """Return evenly spaced stretches (from byte, to byte) that add up to `share` of a file.

    first: their start, from 0 to below `size`. If it is chosen evenly, each byte has the same
    chance, and so has each record, which is read if its first byte is. The last stretch wraps
    around to the beginning of the file.
    """
    count = max(1, min(MOST_STRETCHES, int(size * share) // LEAST_STRETCH))
    wide = int(size * share / count)
    found = []
    for number in range(count):
        start = (first + number * size) // count
        found.append((start, min(start + wide, size)))
        if start + wide > size:
            found.append((0, start + wide - size))
    return sorted(found)


class FileReading:
    """The sampled records of a file: the same at every call."""

    def __init__(
        self, file: InputFile, number: int, text_field: str, share: float, wanted: Wanted
    ) -> None:
        """Prepare reading. number: index among the files of its source. share: of its bytes to
        read."""
        assert file.bytes is not None, file
        self.file, self.path, self.size = file, file.path, file.bytes
        self._text_field, self._wanted, self._share = text_field, wanted, share
        self._purpose, self._number = f"sample/{file.source}", number
        self._most_text_bytes = max(LEAST_REFUSED, MOST_EXPANSION * file.text_bytes)
        self._most_read = MOST_EXPANSION * max(LEAST_READ, share * file.text_bytes)
        # A line may be a whole file, too long to read to its end.
        looked = wanted.limits.for_a_look()
        self._limits = looked._replace(read_bytes=looked.read_bytes + int(self._most_read))
        self._format = format_of(file.path, formats(wanted.readers))
        self.entered = share < 1 and self._format.takes_stretches
        numbers = np.array([number], np.uint64)
        first = int(unit_hash(numbers, wanted.seed, f"{self._purpose}/first")[0] * self.size)
        self._stretches = stretches(self.size, share, first) if self.entered else []
        self.fraction = sum(end - start for start, end in self._stretches) / max(self.size, 1)
        """Share of its bytes that was read."""

    def keyed(self, progress: Progress) -> Iterator[tuple[int, Record | Malformed]]:
        """Yield the records with their keys."""
        keys = keys_of_file(self._number, self._wanted.seed, self._purpose)
        return zip(keys, self.records(progress), strict=False)

    def records(self, progress: Progress) -> Iterator[Record | Malformed]:
        surrogates = self._wanted.normalizing["mode"] == "ftfy"
        options = ReadOptions(progress, surrogates, self._limits)
        for stretch in self._stretches:
            yield from self._format.records_within(self.path, self._text_field, stretch, options)
        if not self.entered:
            yield from self._from_beginning(surrogates, progress)

    def _from_beginning(self, surrogates: bool, progress: Progress) -> Iterator[Record | Malformed]:
        amount, text_bytes = Amount(progress), 0
        found = read_records(
            self.path, self._text_field, amount, surrogates, self._wanted.readers,
            limits=self._limits,
        )  # fmt: skip
        for records, record in enumerate(found, 1):
            yield record
            text_bytes += len(record.text) + len(record.rest) if isinstance(record, Record) else 0
            fraction = min(1.0, amount.bytes / self.size)
            is_much = text_bytes + RECORD_BYTES * records > self._most_read
            in_all = text_bytes / fraction if is_much and fraction else text_bytes
            if in_all > self._most_text_bytes:
                raise ValueError(
                    f"{self.path}:{record.line}: expected at most {self._most_text_bytes:,} bytes "
                    f"of records, found more: the {self.size:,} bytes of the file expand more "
                    "than text usually does. Unpack the file, or remove it from the source."
                )
            if fraction and (is_much or (self._share < 1 and fraction >= self._share)):
                self.fraction = fraction
                return
        self.fraction = 1.0


class SourceReading:
    """The sampled records of a source."""

    def __init__(
        self, source: Source, wanted: Wanted, share: float, most_files: int | None = None
    ) -> None:
        """Prepare reading. share: of each file's bytes. most_files: files to read, evenly
        spaced."""
        self.source, self._mend = source, normalizer(**wanted.normalizing)
        count = len(source.files)
        places = np.linspace(0, count - 1, min(count, most_files or count)).astype(int).tolist()
        self.files = [
            FileReading(source.files[place], place, source.text_field, share, wanted)
            for place in places
        ]

    def least_keys(self, most: int, progress: Progress) -> np.ndarray:
        """Return uint64: the `most` smallest keys of its documents, ascending."""
        pairs = (pair for file in self.files for pair in file.keyed(progress))
        keys = (key for key, record in pairs if isinstance(record, Record))
        return np.array(heapq.nsmallest(most, keys), np.uint64)

    def write(self, writer: TextWriter, before: int, bound: int, progress: Progress) -> Sampled:
        """Write the documents with keys below the bound. before: the number of its first file."""
        records = documents = read = 0.0
        malformed = sampled = text_bytes = 0
        for number, file in enumerate(self.files, before):
            found = bad = 0
            for key, record in file.keyed(progress):
                if isinstance(record, Malformed):
                    bad += 1
                    continue
                found += 1
                if key < bound:
                    text = self._mend(record.text).encode("utf-8")
                    writer.add(text, record.rest, number, record.line)
                    sampled, text_bytes = sampled + 1, text_bytes + len(text)
            refuse_changed(file.file._asdict())
            malformed += bad
            if found or bad:
                records += (found + bad) / file.fraction
                documents += found / file.fraction
            read += file.fraction * file.size
        # Unread files of a source are assumed to have as many records per byte.
        more = self.source.bytes / max(sum(file.size for file in self.files), 1)
        return Sampled(
            self.source.name, len(self.source.files), self.source.bytes,
            read / max(self.source.bytes, 1), records * more, documents * more, malformed, sampled,
            text_bytes, [file.path for file in self.files if file.entered],
        )  # fmt: skip


def shared_evenly(total: int, wants: list[int]) -> list[int]:
    """Divide a total: no part exceeds its demand; the other parts are equal, up to a remainder."""
    shares, left = [0] * len(wants), total
    for before, place in enumerate(sorted(range(len(wants)), key=lambda one: wants[one])):
        shares[place] = min(wants[place], left // (len(wants) - before))
        left -= shares[place]
    return shares


def even_sample(
    sources: list[Source],
    wanted: Wanted,
    read_bytes: int | None,
    documents: int,
    part: Path,
    progress: Progress,
) -> list[Sampled]:
    """Write a number of documents, shared evenly among the sources as far as they have enough.

    read_bytes: expected bytes of text to read, shared likewise; None: everything. It is read twice:
    the bound of the keys has to be known before documents are written.
    """
    sizes = [source.text_bytes for source in sources]
    amounts = sizes if read_bytes is None else shared_evenly(read_bytes, sizes)
    readings = [
        SourceReading(source, wanted, amount / max(size, 1) if amount < size else 1.0)
        for source, amount, size in zip(sources, amounts, sizes, strict=True)
    ]
    keys = [reading.least_keys(documents, progress) for reading in readings]
    quotas = shared_evenly(documents, [one.size for one in keys])
    bounds = [
        int(some[quota - 1]) + 1 if quota else 0 for some, quota in zip(keys, quotas, strict=True)
    ]
    return written(readings, bounds, part, progress)


def proportional_sample(
    sources: list[Source],
    wanted: Wanted,
    shares: tuple[float, float],
    most_files: int,
    part: Path,
    progress: Progress,
) -> list[Sampled]:
    """Write the same share of every source. shares: of the files to read, and of the documents in
    them."""
    read, taken = shares
    readings = [SourceReading(source, wanted, read, most_files) for source in sources]
    return written(readings, [int(taken * ALL_KEYS)] * len(readings), part, progress)


def written(
    readings: list[SourceReading], bounds: list[int], part: Path, progress: Progress
) -> list[Sampled]:
    """Write the sample in the order of sources and their files."""
    named = [
        {"source": reading.source.name, "path": file.path}
        for reading in readings
        for file in reading.files
    ]
    found, before = [], 0
    with writing(part) as part_file:
        writer = TextWriter(part_file, named)
        for reading, bound in zip(readings, bounds, strict=True):
            found.append(reading.write(writer, before, bound, progress))
            before += len(reading.files)
        writer.close()
    return found
