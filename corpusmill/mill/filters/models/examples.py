"""Training examples: features in a file, labels in memory.

The model depends only on the set of texts, not on their order or files. Examples are distinct and
sorted by the SHA-256 of their texts.
"""

import hashlib
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.kernels.quality import all_features
from corpusmill.mill.filters.models.quality_model import Definition
from corpusmill.mill.read.digests import digest_words
from corpusmill.mill.read.ids import unit_hash
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.read.unicode_tables import character_table

BATCH_BYTES = 4 << 20
"""Maximum bytes of text to have in memory at once, with their features."""


class Examples(NamedTuple):
    """Some examples in a given order."""

    features: np.ndarray
    """uint32: the features of all examples, in a file."""
    starts: np.ndarray
    stops: np.ndarray
    """int64 (examples,)."""
    good: np.ndarray
    """bool (examples,)."""
    keys: np.ndarray
    """uint64 (examples,): digests of the texts, for keyed hashes."""

    def at(self, places: np.ndarray) -> "Examples":
        return Examples(self.features, *(column[places] for column in self[1:]))


class Counts(NamedTuple):
    """Counts of the texts that were read, by outcome."""

    read: int
    without_words: int
    repeated: int
    """Further copies of texts within a class."""
    in_both: int
    """Distinct texts that occur in both classes. They are left out."""


class ExampleFile:
    """A collector of examples. Its file has no name, so a killed process leaves nothing behind. The
    result of `examples` keeps the file open."""

    def __init__(self, folder: Path, definition: Definition) -> None:
        self._definition = definition
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115, closed by __exit__
        self._digests: list[bytes] = []
        self._good: list[bool] = []
        self._sizes: list[np.ndarray] = [np.zeros(0, np.int64)]

    def __enter__(self) -> "ExampleFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, texts: Iterable[str], good: bool) -> int:
        """Add all texts of a class and return their number."""
        before, held, size = len(self._good), [], 0
        for text in texts:
            data = text.encode("utf-8")
            held.append(data)
            self._digests.append(hashlib.sha256(data).digest())
            self._good.append(good)
            size += len(data)
            if size >= BATCH_BYTES:
                self._write(TextColumn.of(string_array(held)))
                held, size = [], 0
        self._write(TextColumn.of(string_array(held)))
        return len(self._good) - before

    def _write(self, texts: TextColumn) -> None:
        longest = int(texts.sizes().max(initial=0)) + 2
        most_words, bits = self._definition
        features = np.empty((texts.data.size + longest) * most_words, np.uint32)
        counts = np.zeros(texts.sizes().size, np.int64)
        all_features(
            texts.data, texts.offsets, character_table(), most_words, bits,
            np.empty(longest, np.uint32), np.empty(longest, np.uint64), features, counts,
        )  # fmt: skip
        self._file.write(features[: counts.sum()].data)
        self._sizes.append(counts)

    def examples(self) -> tuple[Examples, Counts]:
        """Return the distinct texts sorted by digest, without those in both classes."""
        self._file.flush()
        sizes, good = np.concatenate(self._sizes), np.array(self._good, bool)
        stops = np.cumsum(sizes)
        features = (
            np.memmap(self._file, np.uint32, "r") if stops.size and stops[-1]
            else np.zeros(0, np.uint32)
        )  # fmt: skip
        digests = np.frombuffer(b"".join(self._digests), "S32")
        _, first, which = np.unique(digests, return_index=True, return_inverse=True)
        has_good, has_bad = (np.zeros(first.size, bool) for _ in range(2))
        has_good[which[good]] = True
        has_bad[which[~good]] = True
        both = has_good & has_bad
        wordless = ~both & (sizes[first] == 0)
        chosen = first[~both & ~wordless]
        keys = digest_words(np.frombuffer(b"".join(self._digests), np.uint8).reshape(-1, 32))
        repeated = good.size - first.size - int(both.sum())
        counts = Counts(good.size, int(wordless.sum()), repeated, int(both.sum()))
        return Examples(
            features, stops[chosen] - sizes[chosen], stops[chosen], good[chosen], keys[chosen]
        ), counts


def held_out(examples: Examples, share: float, seed: int) -> np.ndarray:
    """Return bool (examples,): which examples are held out, by a keyed hash of the text."""
    return unit_hash(examples.keys, seed, "train-filter/held out") < share
