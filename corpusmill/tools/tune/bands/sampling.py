"""The sketches of a sample of some files."""

import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.kernels.clean import count_cleaned
from corpusmill.mill.dedup.minhash import MinHasher
from corpusmill.mill.dedup.sketches import have_shingles
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.read.readers import format_of
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.read.unicode_tables import character_table
from corpusmill.run.job_progress import phase
from corpusmill.run.plan import InputFile
from corpusmill.tools.tune.sample import Sampled, Source, Wanted, even_sample


class Sample(NamedTuple):
    """The sampled documents by row, and figures of the files."""

    signatures: np.ndarray  # uint32 (documents, permutations)
    too_short: np.ndarray  # bool (documents,)
    text_bytes: np.ndarray  # int64 (documents,)
    of: Sampled
    sketch_seconds: float  # per byte of text

    def without_shingle(self) -> np.ndarray:
        """Return bool (documents,): long enough, but without anything to compare."""
        return ~self.too_short & ~have_shingles(self.signatures)

    def comparable(self) -> np.ndarray:
        """Return uint32 (comparable documents, permutations): the sketches that take part in
        pairs."""
        return self.signatures[~self.too_short & have_shingles(self.signatures)]


def source_of(files: list[str], text_field: str) -> Source:
    """Return all files as one source, sorted by name, each once."""
    found = []
    for path in sorted(set(files)):
        state, per_byte = Path(path).stat(), format_of(path).text_per_byte
        size = state.st_size
        found.append(InputFile("files", path, int(size * per_byte), size, state.st_mtime_ns))
    return Source("files", text_field, found)


def sample_documents(
    source: Source, wanted: Wanted, hasher: MinHasher, min_chars: int, most: int
) -> Sample:
    """Sketch up to `most` documents. min_chars: shorter ones are marked."""
    with tempfile.TemporaryDirectory(prefix="corpusmill-") as folder:
        part = Path(folder) / "part.arrow"
        with phase("sampling", 2 * source.bytes) as progress:
            (told,) = even_sample([source], wanted, None, most, part, progress)
        with phase("sketching", told.text_bytes) as progress:
            hasher.sign(TextColumn.of(string_array([b"grain"])))  # compile before timing starts
            signatures = [np.zeros((0, hasher.permutations), np.uint32)]
            too_short, sizes, seconds = [np.zeros(0, bool)], [np.zeros(0, np.int64)], 0.0
            for batch in TextPart(part, ["text"]).batches():
                column = TextColumn.of(batch.column("text"))
                started = time.perf_counter()
                signatures.append(hasher.sign(column))
                seconds += time.perf_counter() - started
                chars = np.empty(batch.num_rows, np.uint32)
                count_cleaned(column.data, column.offsets, character_table(), chars)
                too_short.append(chars < min_chars)
                sizes.append(column.sizes())
                progress.advance(int(sizes[-1].sum()))
    return Sample(
        np.concatenate(signatures), np.concatenate(too_short), np.concatenate(sizes), told,
        seconds / max(told.text_bytes, 1),
    )  # fmt: skip
