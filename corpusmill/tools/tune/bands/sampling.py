"""An even sample of the documents of some files, as sketches: the same whatever their order."""

import time
from typing import NamedTuple

import numpy as np

from corpusmill.kernels.clean import count_cleaned
from corpusmill.messages.progress import Progress
from corpusmill.mill.dedup.minhash import MinHasher
from corpusmill.mill.dedup.sketches import have_shingles
from corpusmill.mill.read.normalization import nfc
from corpusmill.mill.read.parts import BATCH_BYTES
from corpusmill.mill.read.readers import read_records
from corpusmill.mill.read.records import Malformed
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.read.unicode_tables import character_table
from corpusmill.tools.tune.least_keys import LeastKeys, keys_of_file

BATCH_DOCUMENTS = 4096


class Sample(NamedTuple):
    """What is known of the sampled documents, row by row, and of the files as a whole."""

    signatures: np.ndarray  # uint32 (documents, permutations)
    too_short: np.ndarray  # bool (documents,)
    text_bytes: np.ndarray  # int64 (documents,)
    documents: int  # in the files
    malformed: int  # records in the files
    sketch_seconds: float  # per byte of text

    def without_shingle(self) -> np.ndarray:
        """bool (documents,): long enough and yet nothing to compare."""
        return ~self.too_short & ~have_shingles(self.signatures)

    def comparable(self) -> np.ndarray:
        """uint32 (comparable documents, permutations): the sketches that take part in pairs."""
        return self.signatures[~self.too_short & have_shingles(self.signatures)]


class Reservoir:
    """Keeps the sketches of the documents with the least keys, and one batch of texts."""

    def __init__(self, hasher: MinHasher, min_chars: int, most: int) -> None:
        self._hasher, self._min_chars = hasher, min_chars
        self._least = LeastKeys(
            most,
            np.zeros(0, np.uint64),
            np.zeros((0, hasher.permutations), np.uint32),
            np.zeros(0, bool),
            np.zeros(0, np.int64),
        )
        self._sketched_bytes, self._seconds = 0, 0.0
        hasher.sign(TextColumn.of(string_array([b"grain"])))  # compile before the clock runs
        self._start_batch()

    def _start_batch(self) -> None:
        self._keys: list[int] = []
        self._texts: list[bytes] = []
        self._bytes = 0

    def add(self, key: int, text: str) -> None:
        if key < self._least.bound:
            self._keys.append(key)
            self._texts.append(nfc(text).encode("utf-8"))
            self._bytes += len(self._texts[-1])
            if self._bytes >= BATCH_BYTES or len(self._keys) >= BATCH_DOCUMENTS:
                self._sketch_batch()

    def _sketch_batch(self) -> None:
        column = TextColumn.of(string_array(self._texts))
        started = time.perf_counter()
        signatures = self._hasher.sign(column)
        self._seconds += time.perf_counter() - started
        self._sketched_bytes += self._bytes
        chars = np.empty(len(self._keys), np.uint32)
        count_cleaned(column.data, column.offsets, character_table(), chars)
        keys = np.array(self._keys, np.uint64)
        self._least.add(keys, signatures, chars < self._min_chars, column.sizes())
        self._start_batch()

    def sample(self, documents: int, malformed: int) -> Sample:
        if self._keys:
            self._sketch_batch()
        per_byte = self._seconds / max(self._sketched_bytes, 1)
        _, signatures, too_short, sizes = self._least.kept
        return Sample(signatures, too_short, sizes, documents, malformed, per_byte)


def sample_documents(
    files: list[str],
    text_field: str,
    hasher: MinHasher,
    min_chars: int,
    most: int,
    seed: int,
    progress: Progress,
) -> Sample:
    """Up to `most` documents of the files: those with the least keyed hash of file and line.

    Files are numbered by their sorted names, so the order in which they are given, and giving one
    twice, changes nothing. Copies of a text stand on different lines and are sampled each for
    itself; by a hash of the text they would come all or none, and pairs of equals too often.
    """
    reservoir = Reservoir(hasher, min_chars, most)
    documents = malformed = 0
    for number, path in enumerate(sorted(set(files))):
        records = read_records(path, text_field, progress)
        for record, key in zip(records, keys_of_file(number, seed, "design"), strict=False):
            if isinstance(record, Malformed):
                malformed += 1
            else:
                documents += 1
                reservoir.add(key, record.text)
    return reservoir.sample(documents, malformed)
