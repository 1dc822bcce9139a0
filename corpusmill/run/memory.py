"""The memory that jobs need: mem_mb as a function of wildcards and attempt.

Snakemake evaluates it when a job can start. By then the text of the part has been read, and its
real size replaces the estimate.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpusmill.mill.read.readers import format_of, formats
from corpusmill.mill.storage.files import load_json
from corpusmill.mill.storage.streams import window_bytes
from corpusmill.mill.storage.sums import DamagedError
from corpusmill.run.config import Config
from corpusmill.run.layout import Layout
from corpusmill.run.plan import InputFile
from corpusmill.run.quick_calls import quickly_called
from corpusmill.run.read_sizes import ReadSizes, SizesRead
from corpusmill.run.tokenizer_source import SETTING_FILE

# For jobs that hold a value per document. Few corpora have shorter documents on average.
LEAST_DOCUMENT_BYTES = 500
# ASSUME at least so many bytes of text per token on average: 4 are usual, 1 is possible.
LEAST_TOKEN_BYTES = 2
# A cluster job runs inside two Snakemakes, and each reads the plan. Measured: 178 and 166 MiB with
# 6 parts, up to 367 MB each with 40,000.
SNAKEMAKES_MB = 360
SNAKEMAKES_MB_PER_PART = 0.01
MEASURED_WORDS_MB = 600
HISTOGRAM_BYTES = 8 << 16
"""Memory of the histogram that finds the limit of a band: 16 bits of the values per pass."""
BYTES_PER_SUM = 40
"""Memory of the size of a part's first, second ... copies, which is copied and summed."""


def held(
    read: ReadSizes,
    per_text_megabyte: float = 0,
    per_largest_megabyte: float = 0,
    bytes_per_document: float = 0,
) -> float:
    """Return the megabytes a job holds: by text, by largest document, by number of documents."""
    return (
        per_text_megabyte * read.text_bytes
        + per_largest_megabyte * read.largest
        + bytes_per_document * read.documents
    ) / 1e6


class Memory:
    """The mem_mb functions of all rules. base: megabytes of a job without data."""

    def __init__(
        self,
        config: Config,
        layout: Layout,
        results: Path,
        on_cluster: Callable[[], bool] = lambda: False,
        spared: Callable[[str, Any], int] = lambda rule, wildcards: 0,
    ) -> None:
        """results: the folder of the results.

        on_cluster: whether jobs run on a cluster; called when memory is evaluated, not before.
        spared: the number of a job's attempts that failed for another reason than memory.
        """
        self._config, self._layout, self._inputs = config, layout, layout.inputs
        self._results, self._on_cluster, self._spared = results, on_cluster, spared
        self._read = SizesRead(layout.inputs.parts, results)
        self.hear_need: Callable[[int], None] = lambda megabytes: None
        """Called with the memory requirement of a job, in MB, each time Snakemake asks for it."""

    def needing(self, megabytes: Callable[[Any], float]) -> Callable:
        """Return the mem_mb function: 1.5 times more with each retry.

        Retries after failures that are not about memory do not count. On a cluster, the Snakemakes
        around the job are included.
        """
        around = SNAKEMAKES_MB + SNAKEMAKES_MB_PER_PART * len(self._inputs.parts)

        def mem_mb(wildcards: Any, attempt: int, rulename: str = "") -> int:
            step = megabytes(wildcards)
            grown = attempt - 1
            if grown:
                grown = max(grown - self._spared(rulename, wildcards), 0)
            need = int((step + around * self._on_cluster()) * 1.5**grown)
            self.hear_need(need)
            return need

        return quickly_called(mem_mb)

    def flat(self, base: float) -> Callable:
        """Return mem_mb of a job whose memory does not depend on the corpus."""
        return self.needing(lambda wildcards: base)

    def of_part(self, base: float, **amounts: float) -> Callable:
        """Return mem_mb by the text and documents of the job's part; amounts: as in `held`."""
        return self.needing(
            lambda wildcards: base + held(self._read.of_part(int(wildcards.part)), **amounts)
        )

    def of_largest_part(self, base: float, **amounts: float) -> Callable:
        """Return mem_mb by the largest sizes of any part."""
        return self.needing(lambda wildcards: base + held(self._read.of_all().of_part, **amounts))

    def of_shard(self, base: float, **amounts: float) -> Callable:
        """Return mem_mb by the text per shard; more if the files have more text than planned."""
        return self.needing(lambda wildcards: base + held(self._sizes_of_shard(), **amounts))

    def _sizes_of_shard(self) -> ReadSizes:
        planned, of_shard = max(self._inputs.text_bytes, 1), self._layout.shard_bytes
        read = self._read.of_all()
        text_bytes = int(of_shard * read.text_bytes / planned)
        documents = int(read.documents * of_shard / planned)
        text_bytes = max(text_bytes, self._config.output.shard_bytes)
        return ReadSizes(text_bytes, documents, read.of_part.largest)

    def of_bucket(self, base: float, bytes_per_entry: float) -> Callable:
        """Return mem_mb of a job for a bucket of keys, which holds bucket_entries at once."""
        return self.flat(base + self._layout.bucket_entries * bytes_per_entry / 1e6)

    def of_apportioning(
        self, base: float, bytes_per_document: float, bytes_per_document_of_corpus: float
    ) -> Callable:
        """Return mem_mb of the job that divides the budget: it reads the candidates part by part,
        and holds those near the levels of the cells."""

        def megabytes(wildcards: Any) -> float:
            of_part = held(self._read.of_all().of_part, bytes_per_document=bytes_per_document)
            return base + of_part + self._documents() * bytes_per_document_of_corpus / 1e6

        return self.needing(megabytes)

    def of_arranging(self, base: float, bytes_per_document: float) -> Callable:
        """Return mem_mb of the job that finds the place of each band or part: it reads the values
        part by part, and holds histograms, or sums of each part's first, second ... copies."""
        sums = len(self._inputs.parts) * self._config.most_copies * len(self._layout.shards)
        bands = self._config.shuffle.order.bands
        held_megabytes = (HISTOGRAM_BYTES * bands if bands else BYTES_PER_SUM * sums) / 1e6

        def megabytes(wildcards: Any) -> float:
            of_part = held(self._read.of_all().of_part, bytes_per_document=bytes_per_document)
            return base + of_part + held_megabytes

        return self.needing(megabytes)

    def of_documents(self, base: float, bytes_per_document: float) -> Callable:
        """Return mem_mb of a job that holds a few bytes per document."""
        return self.needing(lambda wildcards: base + self._documents() * bytes_per_document / 1e6)

    def _documents(self) -> int:
        """Return the expected documents of the corpus; more if more were read."""
        return max(self._inputs.text_bytes // LEAST_DOCUMENT_BYTES, self._read.of_all().documents)

    def of_packing(self, base: float, bytes_per_piece: float) -> Callable:
        """Return mem_mb of the job that packs a split, by its documents and expected tokens."""

        def megabytes(wildcards: Any) -> float:
            sizes, shards = self._sizes_of_shard(), self._layout.shards[wildcards.split]
            pieces = sizes.documents + sizes.text_bytes / LEAST_TOKEN_BYTES / int(wildcards.length)
            return base + shards * pieces * bytes_per_piece / 1e6

        return self.needing(megabytes)

    # Input files, before they are read.

    def of_files_of_part(self, base: float, per_record_megabyte: float) -> Callable:
        """Return mem_mb of a job that reads the input files of a part."""
        return self.needing(
            lambda wildcards: (
                base + self._reading(self._inputs.part_of(wildcards).files, per_record_megabyte)
            )
        )

    def of_first_records(self, base: float, per_record_megabyte: float) -> Callable:
        """Return mem_mb of a job that reads the first records of every file."""
        files = self._inputs.milled
        return self.needing(lambda wildcards: base + self._reading(files, per_record_megabyte))

    def _reading(self, files: list[InputFile], per_record_megabyte: float) -> float:
        limits = self._config.input.limits
        known = formats(self._config.input.readers)
        plain = all(format_of(file.path, known).is_plain for file in files)
        largest = max((file.text_bytes for file in files), default=0) if plain else sys.maxsize
        window = max((window_bytes(file.path, limits) for file in files), default=0)
        return (per_record_megabyte * min(limits.line_bytes, largest) + window) / 1e6

    # Held-out texts.

    def of_held_out(self, base: float, bytes_per_text: float) -> Callable:
        """Return mem_mb of a job that holds a value per held-out text of splits and sets."""
        return self.needing(lambda wildcards: base + self._held_out(bytes_per_text))

    def of_held_out_files(
        self, base: float, bytes_per_text: float, per_record_megabyte: float
    ) -> Callable:
        """Return mem_mb of the job that reads the held-out files."""
        reading = self._reading(self._inputs.held_out, per_record_megabyte)
        return self.needing(lambda wildcards: base + reading + self._held_out(bytes_per_text))

    def _held_out(self, bytes_per_text: float) -> float:
        splits = self._config.splits
        share = splits.validation + splits.test
        of_splits = share * max(
            self._inputs.text_bytes / LEAST_DOCUMENT_BYTES, self._read.of_all().documents
        )
        of_sets = sum(file.text_bytes for file in self._inputs.held_out) / LEAST_DOCUMENT_BYTES
        return (of_splits + of_sets) * bytes_per_text / 1e6

    # Filters.

    @property
    def measuring_megabytes(self) -> float:
        """Megabytes of filters beside a batch of texts: their files, such as models, and the words,
        lines and cuts of the batch."""
        files = sum(file.stat().st_size for file in self._config.measuring_files) / 1e6
        return files + self._words_megabytes

    @property
    def measuring_per_megabyte(self) -> float:
        """Megabytes of filters per megabyte of a document that is larger than a batch."""
        return 4 + self._words_megabytes / 32

    @property
    def measured_per_document(self) -> float:
        """Bytes per document of measured values and what is derived from them."""
        return 250 + 24 * sum(len(filter.columns) for filter in self._config.filters)

    @property
    def _words_megabytes(self) -> float:
        measuring = (filter for filter in self._config.filters if filter.measures)
        splits_words = any(filter.edits or "words" in filter.needs for filter in measuring)
        return MEASURED_WORDS_MB if splits_words else 0

    # Tokens.

    def of_encoding(self, base: float, **amounts: float) -> Callable:
        """Return mem_mb of a shard, by engine: the reference stores far more per token."""

        def megabytes(wildcards: Any) -> float:
            per_largest = 170 if self._engine() == "reference" else 10
            sizes = self._sizes_of_shard()
            return base + held(sizes, per_largest_megabyte=per_largest, **amounts)

        return self.needing(megabytes)

    def of_counting(self, base: float, **amounts: float) -> Callable:
        """Return mem_mb of the job that encodes a part, by engine."""

        def megabytes(wildcards: Any) -> float:
            per_largest = 170 if self._engine() == "reference" else 10
            read = self._read.of_part(int(wildcards.part))
            return base + held(read, per_largest_megabyte=per_largest, **amounts)

        return self.needing(megabytes)

    def _engine(self) -> str:
        """Return the engine; auto until the tokenizer is loaded, or if its setting is damaged."""
        chosen = str(self._config.tokenizer.engine)
        kept = self._results / "tokenizer" / SETTING_FILE
        if chosen != "auto" or not kept.exists():
            return chosen
        try:
            return str(load_json(kept).get("engine", chosen))
        except DamagedError:
            return chosen
