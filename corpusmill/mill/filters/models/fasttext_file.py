"""Parse fastText's model files, .bin and .ftz, and explain why a file cannot be used.

Only the dictionary is read, so that a bad file of gigabytes is rejected at once.
"""

import mmap
import os
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

MAGIC = 793712314
VERSIONS = (11, 12)
HEADER = struct.Struct("<14id")
DICTIONARY = struct.Struct("<3i2q")

SUPERVISED = 3
MODELS = {1: "cbow", 2: "skipgram", SUPERVISED: "supervised"}
LOSSES = {1: "hierarchical softmax", 2: "negative sampling", 3: "softmax", 4: "one-vs-all"}

MOST_COUNT = 10**15
"""fastText's initial count of tree nodes that are not built yet."""

BEHIND_A_WORD = 10
"""Bytes between two words: a zero, the count (int64) and whether it is a label."""

CENTROIDS = 256

LONGEST_NGRAM, MOST_BUCKETS = 1 << 16, 1 << 27
"""Limits that no real model reaches, to bound memory."""

LABEL_PREFIX = "__label__"


class Settings(NamedTuple):
    """The training settings that affect predictions."""

    columns: int
    most_words: int
    loss: int
    buckets: int
    least_chars: int
    most_chars: int


class Dense(NamedTuple):
    """A float32 matrix: position of its numbers."""

    rows: int
    columns: int
    start: int


class Quantizer(NamedTuple):
    columns: int
    pieces: int
    piece: int
    start: int
    """Position of the centroids, float32 (columns * CENTROIDS,)."""


class Quantized(NamedTuple):
    """A quantized matrix: position of its codes, uint8 (rows, pieces)."""

    rows: int
    columns: int
    start: int
    quantizer: Quantizer
    norm_start: int
    """Position of the codes of norms, uint8 (rows,)."""
    norms: Quantizer | None


class FastTextFile(NamedTuple):
    """A supervised model in a memory-mapped file."""

    path: Path
    data: np.ndarray
    """uint8: the whole file."""
    settings: Settings
    starts: np.ndarray
    stops: np.ndarray
    """int64 (entries,): positions of the dictionary's words, with labels last."""
    words: int
    label_counts: list[int]
    kept: np.ndarray | None
    """int32 (buckets kept, 2): bucket, row after the words. None: no bucket is pruned."""
    input: Dense | Quantized
    output: Dense | Quantized

    def entry(self, number: int) -> str:
        return bytes(self.data[self.starts[number] : self.stops[number]]).decode("utf-8", "replace")

    def labels(self) -> list[str]:
        return [self.entry(number) for number in range(self.words, self.starts.size)]


def label_name(label: str) -> str:
    """Return a label without its prefix."""
    return label.removeprefix(LABEL_PREFIX)


def label_number(labels: list[str], asked: str) -> int:
    """Return the number of a label, given with or without prefix; -1 if there is none."""
    for number, label in enumerate(labels):
        if asked in (label, label_name(label)):
            return number
    return -1


class _Reader:
    """A cursor through a file's bytes that reports truncation and damage."""

    def __init__(self, path: Path) -> None:
        self.path, self.at = path, 0
        with open(path, "rb") as file:
            self.size = os.fstat(file.fileno()).st_size
            if not self.size:
                raise self.truncated("its header", HEADER.size)
            self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.data = np.frombuffer(self.map, np.uint8)

    def truncated(self, what: str, needed: int) -> ValueError:
        return ValueError(
            f"{self.path}: cut off: expected at least {needed:,} bytes up to the end of {what}, "
            f"found {self.size:,}. Fetch the model again."
        )

    def damaged(self, expected: str, found: object) -> ValueError:
        return ValueError(
            f"{self.path}: damaged: expected {expected}, found {found}. Fetch the model again."
        )

    def skip(self, size: int, what: str) -> int:
        """Skip bytes and return their position."""
        start = self.at
        if size < 0:
            raise self.damaged(f"a size of {what}", size)
        if start + size > self.size:
            raise self.truncated(what, start + size)
        self.at += size
        return start

    def unpack(self, layout: struct.Struct, what: str) -> tuple:
        return layout.unpack_from(self.map, self.skip(layout.size, what))

    def flag(self, what: str) -> bool:
        found = self.map[self.skip(1, what)]
        if found > 1:
            raise self.damaged(f"0 or 1 for {what}", found)
        return bool(found)


def read_fasttext(path: Path) -> FastTextFile:
    """Read a supervised model; ValueError if the file has none that we can use."""
    reader = _Reader(Path(path))
    settings = _settings(reader)
    entries, words, labels, _, pruned = reader.unpack(DICTIONARY, "its dictionary")
    if not (words >= 0 and labels > 0 and entries == words + labels):
        raise reader.damaged("words, then labels", f"{entries} = {words} + {labels}")
    starts, stops = _entries(reader, entries)
    behind = reader.data[stops[:, None] + np.arange(1, BEHIND_A_WORD)]
    if not np.array_equal(behind[:, -1], np.arange(entries) >= words):
        raise reader.damaged("words, then labels", "another order")
    counts = np.ascontiguousarray(behind[words:, :8]).view("<i8").ravel().tolist()
    if not 0 <= min(counts) <= max(counts) < MOST_COUNT:
        raise reader.damaged(
            f"counts of labels below {MOST_COUNT:,}", f"{min(counts)} to {max(counts)}"
        )
    kept = _kept(reader, pruned, settings.buckets) if pruned >= 0 else None
    rows = words + (settings.buckets if kept is None else len(kept))
    quantized = reader.flag("whether its input is quantized")
    if kept is not None and not quantized:
        raise ValueError(
            f"{path}: expected a quantized model, as its n-grams are pruned, found an unquantized "
            "one; fastText rejects such a model too. Quantize the model again with a newer "
            "fastText."
        )
    found_input = _matrix(reader, quantized, rows, settings.columns, "its input matrix")
    quantized = reader.flag("whether its output is quantized") and quantized
    found_output = _matrix(reader, quantized, labels, settings.columns, "its output matrix")
    if reader.at != reader.size:
        raise reader.damaged(f"{reader.at:,} bytes", f"{reader.size:,}")
    return FastTextFile(
        Path(path), reader.data, settings, starts, stops, words, counts, kept, found_input,
        found_output,
    )  # fmt: skip


def _settings(reader: _Reader) -> Settings:
    """Read the header. Report a wrong kind of file before any damage."""
    path = reader.path
    if reader.size >= 4 and int.from_bytes(reader.map[:4], "little") != MAGIC:
        raise ValueError(
            f"{path}: expected a fastText model (.bin or .ftz), found a file that begins with "
            f"{bytes(reader.map[:8])!r}. Name another file."
        )
    (_, version, columns, _, _, _, _, most_words, loss, model, buckets, least_chars, most_chars,
     _, _) = reader.unpack(HEADER, "its header")  # fmt: skip
    if version not in VERSIONS:
        raise ValueError(
            f"{path}: expected version 11 or 12 of fastText's file format, found {version}. Save "
            "the model with fastText 0.9."
        )
    if model != SUPERVISED:
        kind = MODELS.get(model, f"of kind {model}")
        raise ValueError(
            f"{path}: expected a supervised model, found word vectors ({kind}), which have no "
            "labels. Name a model that was trained with `fasttext supervised`."
        )
    if loss not in LOSSES:
        raise reader.damaged(f"a loss of {', '.join(map(str, LOSSES))}", loss)
    if version == 11:
        most_chars = 0  # supervised models had no character n-grams then
    if columns < 1 or not 0 <= buckets <= MOST_BUCKETS:
        raise reader.damaged(
            f"columns, and up to {MOST_BUCKETS:,} buckets", f"{columns} and {buckets}"
        )
    if max(most_words, most_chars) > LONGEST_NGRAM:
        raise reader.damaged(f"n-grams of {LONGEST_NGRAM:,} or fewer", max(most_words, most_chars))
    if not buckets and (most_words > 1 or most_chars > 0):
        raise reader.damaged("buckets for n-grams", "none")
    return Settings(
        columns, max(most_words, 1), loss, buckets, max(least_chars, 0), max(most_chars, 0)
    )


def _entries(reader: _Reader, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return starts and ends of the dictionary's words."""
    if reader.at + count * BEHIND_A_WORD > reader.size:
        raise reader.truncated("its dictionary", reader.at + count * BEHIND_A_WORD)
    stops = np.empty(count, np.int64)
    find, at = reader.map.find, reader.at
    for number in range(count):
        stop = find(b"\0", at)
        if stop < 0:
            raise reader.truncated("its dictionary", reader.size + 1)
        stops[number] = stop
        at = stop + BEHIND_A_WORD
    starts = np.concatenate([[reader.at], stops[:-1] + BEHIND_A_WORD])
    reader.skip(at - reader.at, "its dictionary")
    return starts, stops


def _kept(reader: _Reader, count: int, buckets: int) -> np.ndarray:
    start = reader.skip(8 * count, "its kept n-grams")
    kept = np.frombuffer(reader.map, "<i4", 2 * count, start).reshape(count, 2)
    if count and not (kept.min() >= 0 and kept[:, 0].max() < buckets and kept[:, 1].max() < count):
        raise reader.damaged(f"kept n-grams among {buckets:,} buckets", "others")
    return kept


def _matrix(
    reader: _Reader, quantized: bool, rows: int, columns: int, what: str
) -> Dense | Quantized:
    has_norms = reader.flag(f"the norms of {what}") if quantized else False
    found = reader.unpack(struct.Struct("<2q"), what)
    if found != (rows, columns):
        raise reader.damaged(f"{rows:,} x {columns} in {what}", f"{found[0]:,} x {found[1]}")
    if not quantized:
        return Dense(rows, columns, reader.skip(4 * rows * columns, what))
    (size,) = reader.unpack(struct.Struct("<i"), what)
    start = reader.skip(size, what)
    quantizer = _quantizer(reader, columns, what)
    if size != rows * quantizer.pieces:
        raise reader.damaged(f"{rows * quantizer.pieces:,} codes in {what}", f"{size:,}")
    norm_start = reader.skip(rows, what) if has_norms else 0
    norms = _quantizer(reader, 1, what) if has_norms else None
    return Quantized(rows, columns, start, quantizer, norm_start, norms)


def _quantizer(reader: _Reader, columns: int, what: str) -> Quantizer:
    found, pieces, piece, last = reader.unpack(struct.Struct("<4i"), what)
    if (
        found != columns
        or piece < 1
        or pieces != -(-columns // piece)
        or (last != columns - (pieces - 1) * piece)
    ):
        raise reader.damaged(
            f"{columns} columns in pieces of consistent sizes in {what}",
            f"{found} columns in {pieces} pieces of {piece}, the last one of {last}",
        )
    return Quantizer(columns, pieces, piece, reader.skip(4 * columns * CENTROIDS, what))
