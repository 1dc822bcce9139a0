"""How much memory jobs need: mem_mb as a function of wildcards and attempt.

Snakemake asks when a job can begin: then the text of its part is read, and what was guessed of it
is known.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpusmill.mill.storage.files import load_json
from corpusmill.mill.storage.sums import DamagedError
from corpusmill.run.config import Config
from corpusmill.run.layout import Layout
from corpusmill.run.plan import InputFile
from corpusmill.run.quick_calls import quickly_called
from corpusmill.run.read_sizes import ReadSizes, SizesRead
from corpusmill.run.tokenizer_source import SETTING_FILE

# Of jobs that hold something of every document: few corpora have shorter ones.
LEAST_DOCUMENT_BYTES = 500
# A job on a cluster has two Snakemakes around it, and each reads the plan. Measured: 178 and 166
# MiB with 6 parts, up to 367 MB each with 40,000.
SNAKEMAKES_MB = 360
SNAKEMAKES_MB_PER_PART = 0.01
MEASURED_WORDS_MB = 600


def held(
    read: ReadSizes,
    per_text_megabyte: float = 0,
    per_largest_megabyte: float = 0,
    bytes_per_document: float = 0,
) -> float:
    """Megabytes that a job holds: of all text, of the largest document, of every document."""
    return (
        per_text_megabyte * read.text_bytes
        + per_largest_megabyte * read.largest
        + bytes_per_document * read.documents
    ) / 1e6


class Memory:
    """Base, in all functions: megabytes of a job without data."""

    def __init__(
        self,
        config: Config,
        layout: Layout,
        results: Path,
        on_cluster: Callable[[], bool] = lambda: False,
        spared: Callable[[str, Any], int] = lambda rule, wildcards: 0,
    ) -> None:
        """results: where the text of parts is or will be.

        on_cluster: whether jobs run on a cluster; asked when a job's memory is, not before.
        spared: the attempts of a job that failed for another reason than memory.
        """
        self._config, self._layout, self._inputs = config, layout, layout.inputs
        self._results, self._on_cluster, self._spared = results, on_cluster, spared
        self._read = SizesRead(layout.inputs.parts, results)
        self.hear_need: Callable[[int], None] = lambda megabytes: None
        """Told what each job may hold, when somebody asks for it."""

    def needing(self, megabytes: Callable[[Any], float]) -> Callable:
        """Half as much again with every attempt, but for those after a failure that more memory
        would not have helped. On a cluster it is that of the whole job."""
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
        """Of a job that holds as much in every corpus."""
        return self.needing(lambda wildcards: base)

    def of_part(self, base: float, **amounts: float) -> Callable:
        """By the text and the documents of the job's part; amounts: as in `held`."""
        return self.needing(
            lambda wildcards: base + held(self._read.of_part(int(wildcards.part)), **amounts)
        )

    def of_largest_part(self, base: float, **amounts: float) -> Callable:
        """By the most text, documents and largest document of any part."""
        return self.needing(lambda wildcards: base + held(self._read.of_all().of_part, **amounts))

    def of_shard(self, base: float, **amounts: float) -> Callable:
        """By the text per shard, more where the files have more of it than was planned."""
        planned, of_shard = max(self._inputs.text_bytes, 1), self._layout.shard_bytes

        def megabytes(wildcards: Any) -> float:
            read = self._read.of_all()
            text_bytes = int(of_shard * read.text_bytes / planned)
            documents = int(read.documents * of_shard / planned)
            largest = read.of_part.largest
            sizes = ReadSizes(max(text_bytes, self._config.output.shard_bytes), documents, largest)
            return base + held(sizes, **amounts)

        return self.needing(megabytes)

    def of_bucket(self, base: float, bytes_per_entry: float) -> Callable:
        """Of a job of a bucket of keys, which holds so many at once."""
        return self.flat(base + self._layout.bucket_entries * bytes_per_entry / 1e6)

    def of_documents(self, base: float, bytes_per_document: float) -> Callable:
        """Of a job that holds a few bytes of every document at once."""
        expected = self._inputs.text_bytes // LEAST_DOCUMENT_BYTES

        def megabytes(wildcards: Any) -> float:
            documents = max(expected, self._read.of_all().documents)
            return base + documents * bytes_per_document / 1e6

        return self.needing(megabytes)

    # Input files, of which nothing is known.

    def of_files_of_part(self, base: float, per_record_megabyte: float) -> Callable:
        """Of a job that reads the input files of a part."""
        return self.needing(
            lambda wildcards: (
                base + self._reading(self._inputs.part_of(wildcards).files, per_record_megabyte)
            )
        )

    def of_first_records(self, base: float, per_record_megabyte: float) -> Callable:
        """Of one that reads some of every file."""
        files = self._inputs.milled
        return self.needing(lambda wildcards: base + self._reading(files, per_record_megabyte))

    def _reading(self, files: list[InputFile], per_record_megabyte: float) -> float:
        limits = self._config.input.limits
        # What is not packed has no longer record than the file is.
        plain = all(file.path.endswith(".jsonl") for file in files)
        largest = max((file.text_bytes for file in files), default=0) if plain else sys.maxsize
        window = (1 << limits.window_log) * any(file.path.endswith(".zst") for file in files)
        return (per_record_megabyte * min(limits.line_bytes, largest) + window) / 1e6

    # Held-out texts.

    def of_held_out(self, base: float, bytes_per_text: float) -> Callable:
        """Of a job that holds something of every held-out text: of the splits, the sets."""
        return self.needing(lambda wildcards: base + self._held_out(bytes_per_text))

    def of_held_out_files(
        self, base: float, bytes_per_text: float, per_record_megabyte: float
    ) -> Callable:
        """Of the job that reads the held-out files."""
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
        """What filters take beside a batch of texts: the files that they read, models for one; and
        its words, lines and cuts."""
        files = sum(file.stat().st_size for file in self._config.measuring_files) / 1e6
        return files + self._words_megabytes

    @property
    def measuring_per_megabyte(self) -> float:
        """The same of a document that is larger than a batch, for each megabyte of it."""
        return 4 + self._words_megabytes / 32

    @property
    def measured_per_document(self) -> float:
        """Bytes of what is measured of a document, and of what comes by it."""
        return 250 + 24 * sum(len(filter.columns) for filter in self._config.filters)

    @property
    def _words_megabytes(self) -> float:
        measuring = (filter for filter in self._config.filters if filter.measures)
        splits_words = any(filter.edits or "words" in filter.needs for filter in measuring)
        return MEASURED_WORDS_MB if splits_words else 0

    # Tokens.

    def of_encoding(self, base: float) -> Callable:
        """Of a shard, by the engine: the reference knows many things of every token."""

        def megabytes(wildcards: Any) -> float:
            largest = self._read.of_all().of_part.largest
            per_megabyte = 170 if self._engine() == "reference" else 10
            return base + per_megabyte * largest / 1e6

        return self.needing(megabytes)

    def _engine(self) -> str:
        """auto, until the tokenizer is kept; and if it is not what was kept, which jobs tell."""
        chosen = str(self._config.tokenizer.engine)
        kept = self._results / "tokenizer" / SETTING_FILE
        if chosen != "auto" or not kept.exists():
            return chosen
        try:
            return str(load_json(kept).get("engine", chosen))
        except DamagedError:
            return chosen
