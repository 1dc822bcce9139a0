"""An even sample of the documents of each source, normalized, as a text part.

Every document of what is read has the same chance. Of files that are larger than what may be read
of a source, those that are not packed are entered at even places; the others are read from their
beginning, and then the chance is that of their first documents.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.messages.progress import Progress
from corpusmill.mill.read.ids import unit_hash
from corpusmill.mill.read.json_records import json_records_within
from corpusmill.mill.read.normalization import normalizer
from corpusmill.mill.read.parts import TextWriter
from corpusmill.mill.read.readers import read_records, refuse_changed
from corpusmill.mill.read.records import Malformed, Record
from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.streams import READ_LIMITS, ReadLimits
from corpusmill.run.plan import InputFile
from corpusmill.tools.tune.least_keys import KEYS_AT_ONCE, LeastKeys, keys_of_file

LEAST_STRETCH = 1 << 16
"""Bytes of a file that are read in one go, if so many are read of it at all: many short stretches
say more of a file that is sorted than a few long ones, and a seek takes as long as some of them."""

MOST_STRETCHES = 256


LEAST_REFUSED = 1 << 30
MOST_EXPANSION = 16
"""Times the expected text, and bytes of it in any case: what unpacks to more is refused."""

LEAST_READ = 1 << 20
RECORD_BYTES = 64
"""What a record counts for beside its text: a few bytes may be millions of short ones. No more is
read of a file than MOST_EXPANSION times what is expected of it, and of LEAST_READ in any case."""


class Wanted(NamedTuple):
    """What is asked of a sample."""

    documents: int  # of all sources together; shared evenly, as far as each has so many
    read_bytes: int  # expected bytes of text that are read, shared likewise
    seed: int
    mode: str  # of normalizing
    readers: Sequence[str]  # files of the user's
    limits: ReadLimits = READ_LIMITS


class Source(NamedTuple):
    name: str
    text_field: str
    files: list[InputFile]


class Sampled(NamedTuple):
    """What is known of a source."""

    name: str
    files: int
    read_share: float  # of its bytes
    documents: float  # in all of its files; estimated, if not all was read
    malformed: int  # records in what was read
    sampled: int  # documents
    entered: list[str]  # files that were read at even places


class Amount:
    """Bytes that were read, told to somebody else too."""

    def __init__(self, outer: Progress) -> None:
        self.bytes, self._outer = 0, outer

    def advance(self, amount: int) -> None:
        self.bytes += amount
        self._outer.advance(amount)


def stretches(size: int, share: float, first: int) -> list[tuple[int, int]]:
    """Even places of a file, from and to which byte, that are `share` of it together.

    first: from 0 to below `size`, where they begin. If it is chosen evenly, each byte has the same
    chance to be in one, and so each record, which is read if its first byte is: the last stretch
    goes on at the beginning of the file.
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
    """What is read of a file; it gives the same records however often it is asked."""

    def __init__(
        self, file: InputFile, number: int, text_field: str, share: float, wanted: Wanted,
        purpose: str,
    ) -> None:  # fmt: skip
        """number: its place among the files of its source. share: of its bytes to be read."""
        assert file.bytes is not None, file
        self.path, self.size, self._text_field = file.path, file.bytes, text_field
        self._most_text_bytes = max(LEAST_REFUSED, MOST_EXPANSION * file.text_bytes)
        self._most_read = MOST_EXPANSION * max(LEAST_READ, share * file.text_bytes)
        self._wanted, self._share = wanted, share
        # One line may be the whole of a file, and have no end that is worth waiting for.
        looked = wanted.limits.for_a_look()
        self._limits = looked._replace(read_bytes=looked.read_bytes + int(self._most_read))
        self.entered = share < 1 and file.path.endswith(".jsonl")
        chance = unit_hash(np.array([number], np.uint64), wanted.seed, f"{purpose}/first")[0]
        first = int(chance * self.size)
        self._stretches = stretches(self.size, share, first) if self.entered else []
        self.fraction = sum(end - start for start, end in self._stretches) / max(self.size, 1)
        """Of its bytes, what was read."""

    def records(self, progress: Progress) -> Iterator[Record | Malformed]:
        surrogates = self._wanted.mode == "ftfy"
        for stretch in self._stretches:
            yield from json_records_within(
                self.path, self._text_field, surrogates, stretch, progress, self._limits
            )
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
                    f"of records, found more: its {self.size:,} bytes expand further than text "
                    "does. Unpack it, or take it out of the source."
                )
            if fraction and (is_much or (self._share < 1 and fraction >= self._share)):
                self.fraction = fraction
                return
        self.fraction = 1.0


class SourceReading:
    """The records of a source that are looked at, each with its key."""

    def __init__(self, source: Source, wanted: Wanted, share: float) -> None:
        """share: of its bytes to be read."""
        self.source = source
        self._seed, self._purpose = wanted.seed, f"calibrate/{source.name}"
        self.files = [
            FileReading(file, number, source.text_field, share, wanted, self._purpose)
            for number, file in enumerate(source.files)
        ]

    def keyed(self, number: int, progress: Progress) -> Iterator[tuple[int, Record | Malformed]]:
        keys = keys_of_file(number, self._seed, self._purpose)
        return zip(keys, self.files[number].records(progress), strict=False)

    def count(self, most: int, progress: Progress) -> "Counted":
        least = LeastKeys(most, np.zeros(0, np.uint64))
        documents, malformed = 0.0, 0
        for number, file in enumerate(self.files):
            found, open_keys = 0, []
            for key, record in self.keyed(number, progress):
                if isinstance(record, Malformed):
                    malformed += 1
                    continue
                found += 1
                if key < least.bound:
                    open_keys.append(key)
                if len(open_keys) == KEYS_AT_ONCE:
                    least.add(np.array(open_keys, np.uint64))
                    open_keys = []
            least.add(np.array(open_keys, np.uint64))
            documents += found / file.fraction if found else 0
        read = sum(one.fraction * one.size for one in self.files)
        share = read / max(sum(one.size for one in self.files), 1)
        return Counted(least.kept[0], documents, malformed, share)


class Counted(NamedTuple):
    """Of a source: the least keys of its documents, ascending; how many it has, about."""

    keys: np.ndarray
    documents: float
    malformed: int
    read_share: float

    def sampled(self, reading: SourceReading, quota: int) -> Sampled:
        return Sampled(
            name=reading.source.name,
            files=len(reading.files),
            read_share=self.read_share,
            documents=self.documents,
            malformed=self.malformed,
            sampled=quota,
            entered=[one.path for one in reading.files if one.entered],
        )


def shared_evenly(total: int, wants: list[int]) -> list[int]:
    """What each gets of a total: none more than it wants, and else all the same, but for what
    cannot be divided."""
    shares, left = [0] * len(wants), total
    for before, place in enumerate(sorted(range(len(wants)), key=lambda one: wants[one])):
        shares[place] = min(wants[place], left // (len(wants) - before))
        left -= shares[place]
    return shares


def readings_of(sources: list[Source], wanted: Wanted) -> list[SourceReading]:
    sizes = [sum(file.text_bytes for file in one.files) for one in sources]
    amounts = shared_evenly(wanted.read_bytes, sizes)
    return [
        SourceReading(source, wanted, amount / max(size, 1) if amount < size else 1.0)
        for source, amount, size in zip(sources, amounts, sizes, strict=True)
    ]


def take_sample(
    sources: list[Source], wanted: Wanted, part: Path, progress: Progress
) -> list[Sampled]:
    """Write the sample, source after source in their order, each in that of its files."""
    readings = readings_of(sources, wanted)
    counts = [reading.count(wanted.documents, progress) for reading in readings]
    quotas = shared_evenly(wanted.documents, [one.keys.size for one in counts])
    mend = normalizer(wanted.mode)
    named = [{"source": one.name, "path": file.path} for one in sources for file in one.files]
    before = 0
    with writing(part) as part_file:
        writer = TextWriter(part_file, named)
        for reading, counted, quota in zip(readings, counts, quotas, strict=True):
            greatest = counted.keys[:quota].max(initial=0)
            for number, file in enumerate(reading.source.files):
                for key, record in reading.keyed(number, progress):
                    if key <= greatest and isinstance(record, Record):
                        text = mend(record.text).encode("utf-8")
                        writer.add(text, record.rest, before + number, record.line)
                refuse_changed({"path": file.path, "bytes": file.bytes, "mtime_ns": file.mtime_ns})
            before += len(reading.source.files)
        writer.close()
    return [
        counted.sampled(reading, quota)
        for reading, counted, quota in zip(readings, counts, quotas, strict=True)
    ]
