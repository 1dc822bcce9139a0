"""What plan and configuration make of a run: how many of everything there is, which files belong to
which job, and how much memory it needs. The rules ask it; nothing here knows Snakemake.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from corpusmill.mill.decide.fates import SPLITS
from corpusmill.mill.filters.configured import ConfiguredFilter
from corpusmill.mill.storage.buckets import bucket_count
from corpusmill.mill.storage.files import load_json
from corpusmill.mill.storage.sums import DamagedError
from corpusmill.run.config import Config
from corpusmill.run.input_files import replaced
from corpusmill.run.plan import (
    InputFile,
    Part,
    earlier_parts,
    list_inputs,
    plan_lines,
    plan_parts,
    refuse_other_corpus,
    refuse_too_many,
    refuse_too_many_parts,
    shard_counts,
    split_bytes,
)
from corpusmill.run.read_sizes import EXPECTED_DOCUMENT_BYTES, ReadSizes, SizesRead
from corpusmill.run.record import load_record, refuse_other_run
from corpusmill.run.typed import as_given

# What jobs are cut by before a document is read, like EXPECTED_DOCUMENT_BYTES. Smaller documents
# are more of them; a pair job then takes its bucket in several pieces.
EXPECTED_SPAN_BYTES = 100
# For the memory of jobs that hold something of every document: few corpora have shorter ones.
LEAST_DOCUMENT_BYTES = 500
# A job on a cluster has two Snakemakes around it, and each reads the plan. Measured: 178 and 166
# MiB with 6 parts, up to 367 MB each with 40,000.
SNAKEMAKES_MB = 360
MEASURED_WORDS_MB = 600
SNAKEMAKES_MB_PER_PART = 0.01
MOST_BLOCK_PARTS = 16
# Times the expected text, which is four bytes of one that is packed; text seldom packs to a tenth.
MOST_EXPANSION = 8

DEMO = "results/demo"
"""The folder of the bundled demo corpus."""

SETTING_FILE = "corpusmill.json"
"""What the rule `tokenizer` writes last, beside the tokenizer itself."""

JOINED_NAMES = {"train": "train", "validation": "val", "test": "test"}


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


def quickly_called(function: Callable) -> Callable:
    """The same function with its signature at hand: Snakemake looks at it for every call, which
    otherwise is a tenth of a dry run of 40,000 jobs."""
    function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return function


class Layout:
    """wildcards, here and below: an object with the number of a job as text, by its name."""

    def __init__(
        self,
        config: Config,
        parts: list[Part],
        held_out: list[InputFile],
        on_cluster: Callable[[], bool] = lambda: False,
        results: Path = Path("results"),
    ) -> None:
        """held_out: the files of the sources that are not milled.

        on_cluster: whether jobs run on a cluster; asked when a job's memory is, not before.
        results: where the text of parts is or will be.
        """
        self._config, self.parts, self.held_out = config, parts, held_out
        self._on_cluster, self._results = on_cluster, results
        self.hear_need: Callable[[int], None] = lambda megabytes: None
        self.spared: Callable[[str, Any], int] = lambda rule, wildcards: 0
        """Told what each job may hold, when somebody asks for it."""
        self._read = SizesRead(parts, results)
        self.skipped: list[str] = []
        """A sentence for each link to a folder that is read already."""
        self.noted: dict[str, str] = {}
        self.read_before: dict[str, str] = {}
        self._sources = {source.name: source for source in config.sources}
        milled = config.milled
        self.weights = {source.name: source.weight for source in milled}
        self.fractions = config.splits.fractions
        expected = split_bytes(parts, self.weights, self.fractions)
        self.shards = shard_counts(expected, config.output.shard_bytes)
        self._shard_bytes = max(expected[split] / n for split, n in self.shards.items())
        self.generation = max(part.generation for part in parts)
        self.bands, self.band_rows = config.band_setting
        self.cuts_spans = config.spans.unit != "none"
        self.edits = any(filter.edits for filter in config.filters)
        """Whether a filter cuts pieces out of texts."""
        # What is done in a moment for a part is done for so many at once, if there are enough for
        # many blocks.
        self.block_parts = max(1, min(MOST_BLOCK_PARTS, len(parts) // 8))
        self.text_bytes = sum(part.text_bytes for part in parts)
        """Expected, of all parts."""
        self.bucket_entries = config.input.part_bytes // 16
        self.counts = {
            "part": len(parts),
            "block": -(-len(parts) // self.block_parts),
            "bucket": bucket_count(
                self.text_bytes // EXPECTED_DOCUMENT_BYTES, self.bands + 1, self.bucket_entries
            ),
            "span_bucket": bucket_count(
                self.text_bytes // EXPECTED_SPAN_BYTES, 1, self.bucket_entries
            ),
            # Were every document like another, a bin would hold the texts of two parts. Two parts
            # have two bins, which are resolved side by side.
            "bin": max(-(-len(parts) // 2), min(len(parts), 2)),
        }

    @classmethod
    def planned(
        cls,
        config: Config,
        results: Path,
        generated: dict[str, int],
        on_cluster: Callable[[], bool],
    ) -> "Layout":
        """The layout of a run in a folder, which may hold earlier results; ValueError if another
        corpus's are there. generated: files that a rule makes, and their text bytes."""
        if results.exists() and not results.is_dir():
            raise ValueError(f"{results} is a file; results go to a folder of its name. Move it.")
        skipped: list[str] = []
        files = list_inputs(config.sources, generated, config.input.readers, skipped)
        names = {source.name for source in config.milled}
        milled = [file for file in files if file.source in names]
        refuse_other_corpus(milled, generated, results)
        part_bytes = config.input.part_bytes
        record = load_record(results / "plan/record.json")
        refuse_other_run(record, results)
        finished = record["finished"]
        parts = plan_parts(milled, part_bytes, earlier_parts(finished, part_bytes))
        refuse_too_many_parts(parts, part_bytes)
        held_out = [file for file in files if file.source not in names]
        layout = cls(config, parts, held_out, on_cluster, results)
        # SHA-256 by path, of what was replaced behind its size and time; of all that was read.
        layout.noted = record["noted"]
        layout.skipped = list(dict.fromkeys(skipped))
        layout.refuse_too_many()
        layout.read_before = finished["inputs"] if finished else {}
        return layout

    def refuse_too_many(self) -> None:
        """ValueError with the size that fits if names have no number for so many jobs of a rule."""
        for name, count in self.counts.items():
            what = f"jobs by {name.replace('_', ' ')}"
            refuse_too_many(count, what, "input.part_bytes", self._config.input.part_bytes)
        for split, count in self.shards.items():
            of_split = f"shards of {split}"
            refuse_too_many(count, of_split, "output.shard_bytes", self._config.output.shard_bytes)

    def note_replaced(self, results: Path) -> None:
        """Read all input files, and note those that were replaced behind their size and time."""
        files = self.input_files
        counts = [results / "text" / f"{part.name}.json" for part in self.parts]
        self.noted |= replaced(files, [*counts, results / "holdout/evaluation.json"])

    # Files.

    @property
    def stages(self) -> list[str]:
        """Folders of results that have a complete.json: one small file for the files of all."""
        spans = ["spans", "repeats"] if self.cuts_spans else []
        return [*spans, "bands", "pairs", "extracts", "resolved", "assign", "scatter"]

    @property
    def text(self) -> str:
        """The text parts that all steps read from `measure` on: with what filters and repeated
        spans cut out, or as they were normalized."""
        return "results/edited/{part}.arrow" if self.edits else self.text_to_measure

    @property
    def text_to_measure(self) -> str:
        return "results/cut/{part}.arrow" if self.cuts_spans else "results/text/{part}.arrow"

    @property
    def text_shard(self) -> str:
        return f"results/corpus/{{split}}/{{shard}}.{self._config.output.format}"

    def every(self, pattern: str) -> list[str]:
        """The files of a pattern in order: of every part, of every shard of every split, ..."""
        if "{split}" in pattern:
            return [
                pattern.format(split=split, shard=f"{shard:05d}")
                for split in SPLITS
                for shard in range(self.shards.get(split, 0))
            ]
        (name,) = re.findall(r"\{(\w+)\}", pattern)
        return [pattern.format(**{name: f"{number:05d}"}) for number in range(self.counts[name])]

    def every_if_cut(self, pattern: str) -> list[str]:
        """The same if spans are cut, otherwise none."""
        return self.every(pattern) if self.cuts_spans else []

    def if_cut(self, *files: str) -> list[str]:
        return list(files) if self.cuts_spans else []

    def if_edited(self, *files: str) -> list[str]:
        return list(files) if self.edits else []

    def every_if_edited(self, pattern: str) -> list[str]:
        """The files of a pattern if filters cut, otherwise none."""
        return self.every(pattern) if self.edits else []

    def if_parquet(self, *files: str) -> list[str]:
        return list(files) if self._config.output.format == "parquet" else []

    def joined(self, pattern: str) -> list[str]:
        """The joined file of every split, if they are asked for."""
        wanted = self.shards if self._config.output.join else {}
        return [pattern.format(joined=JOINED_NAMES[split]) for split in wanted]

    def to_join(self, pattern: str) -> Callable[[Any], list[str]]:
        """A function of the wildcard `joined`: the files of all shards of its split."""
        splits = {name: split for split, name in JOINED_NAMES.items()}
        return lambda wildcards: [
            pattern.format(split=splits[wildcards.joined], shard=f"{shard:05d}")
            for shard in range(self.shards[splits[wildcards.joined]])
        ]

    def of_block(self, pattern: str) -> Callable[[Any], str]:
        """A function of the wildcard `part`: the file of the block that the part is in."""
        return lambda wildcards: pattern.format(
            block=f"{int(wildcards.part) // self.block_parts:05d}"
        )

    def files_of_block(self, pattern: str) -> Callable[[Any], list[str]]:
        """A function of the wildcard `block`: one file per part of the block, in part order."""

        def files(wildcards: Any) -> list[str]:
            first = self.first_of_block(wildcards)
            parts = self.parts[first : first + self.block_parts]
            return [pattern.format(part=part.name) for part in parts]

        return files

    def first_of_block(self, wildcards: Any) -> int:
        return int(wildcards.block) * self.block_parts

    def numbered(self, pattern: str) -> Iterator[tuple[str, int | None]]:
        """A rule's files by pattern, `{}` for each number, and how many there are; None for one
        file without a number."""
        if "{split}" in pattern:
            for split, count in self.shards.items():
                yield pattern.replace("{split}", split).replace("{shard}", "{}"), count
        elif "{stage}" in pattern:
            for stage in self.stages:
                yield pattern.replace("{stage}", stage), None
        elif "{joined}" in pattern:
            for split in self.shards:
                yield pattern.replace("{joined}", JOINED_NAMES[split]), None
        elif names := re.findall(r"\{(\w+)\}", pattern):
            yield pattern.replace(f"{{{names[0]}}}", "{}"), self.counts[names[0]]
        else:
            yield pattern, None

    # Input files.

    def part_of(self, wildcards: Any) -> Part:
        return self.parts[int(wildcards.part)]

    # Functions of the wildcards, though some need none: in a literal a brace in a file name would
    # be taken for one.
    def files_of_part(self, wildcards: Any) -> list[str]:
        return [file.path for file in self.part_of(wildcards).files]

    def states_of_part(self, wildcards: Any) -> list[dict]:
        return self._states(self.part_of(wildcards).files)

    def milled_files(self, wildcards: Any) -> list[str]:
        return [file.path for part in self.parts for file in part.files]

    def milled_states(self, wildcards: Any) -> list[dict]:
        return self._states([file for part in self.parts for file in part.files])

    def held_out_files(self, wildcards: Any) -> list[str]:
        return [file.path for file in self.held_out]

    def held_out_states(self, wildcards: Any) -> list[dict]:
        return self._states(self.held_out)

    def _states(self, files: list[InputFile]) -> list[dict]:
        """Source, path and text field of each file, and which state of it is meant."""
        return [
            {
                "source": file.source,
                "path": file.path,
                "text_field": self._sources[file.source].text_field,
                "bytes": file.bytes,
                "mtime_ns": file.mtime_ns,
                **({"sha256": self.noted[file.path]} if file.path in self.noted else {}),
            }
            for file in files
        ]

    @property
    def uses_demo(self) -> bool:
        """Whether an input file is one of the bundled demo corpus."""
        return any(file.path.startswith(f"{DEMO}/") for part in self.parts for file in part.files)

    @property
    def input_files(self) -> list[InputFile]:
        return [*(file for part in self.parts for file in part.files), *self.held_out]

    def found_files(self) -> list[list]:
        """Every input file that is there before the run, as Asked in
        corpusmill/mill/read/first_records.py."""
        return [
            [
                file.source,
                file.path,
                self._sources[file.source].text_field,
                self._sources[file.source].max_malformed_fraction,
            ]
            for file in self.input_files
            if file.mtime_ns is not None
        ]

    def plan_lines(self, wildcards: Any) -> list[str]:
        return plan_lines(self.parts, self._config.input.part_bytes)

    # Filters.

    @property
    def _measuring(self) -> list[ConfiguredFilter]:
        return [filter for filter in self._config.filters if filter.measures]

    @property
    def filter_files(self) -> list[Path]:
        """All that they are made of."""
        return [file for filter in self._config.filters for file in filter.files]

    @property
    def measuring_files(self) -> list[Path]:
        """All that those are made of that measure."""
        return [file for filter in self._measuring for file in filter.files]

    @property
    def measuring_megabytes(self) -> float:
        """What filters take beside a batch of texts: the files that they read, models for one; and
        its words, lines and cuts."""
        files = sum(file.stat().st_size for file in self.measuring_files) / 1e6
        return files + (MEASURED_WORDS_MB if self._splits_words else 0)

    @property
    def measuring_per_megabyte(self) -> float:
        """The same of a document that is larger than a batch, for each megabyte of it."""
        return 4 + self._splits_words * MEASURED_WORDS_MB / 32

    @property
    def measured_per_document(self) -> float:
        """Bytes of what is measured of a document, and of what comes by it."""
        return 250 + 24 * sum(len(filter.columns) for filter in self._measuring)

    @property
    def _splits_words(self) -> bool:
        return any(filter.edits or "words" in filter.needs for filter in self._measuring)

    @property
    def measuring(self) -> list[dict]:
        """What of every filter that measures its measuring depends on."""
        return [filter.measuring for filter in self._measuring]

    @property
    def deciding(self) -> list[dict]:
        """Every filter with all of its settings."""
        return [filter.deciding for filter in self._config.filters]

    @property
    def filter_fates(self) -> list[str]:
        """The fate of every filter that drops, in their order."""
        return [filter.name for filter in self._config.filters if filter.drops]

    @property
    def filter_values(self) -> list[dict]:
        """Of every filter that drops, in their order: its name, column and dtype of each value."""
        return [
            {
                "fate": filter.name,
                "values": [
                    [column, filter.declaration.values[value].dtype]
                    for value, column in filter.columns.items()
                    if value != "reason"
                ],
            }
            for filter in self._config.filters
            if filter.drops
        ]

    # Settings that are put together from several places of the configuration.

    def of_sources(self, key: str) -> dict[str, Any]:
        """The value of a key for each source."""
        return {name: getattr(source, key) for name, source in self._sources.items()}

    @property
    def permutations(self) -> int:
        """Values per sketch; none where equal texts alone are duplicates."""
        exact = self._config.dedup.method == "exact"
        return 0 if exact else self._config.minhash.permutations

    @property
    def hasher(self) -> dict:
        return as_given(self._config.minhash) | {"permutations": self.permutations}

    @property
    def banding(self) -> dict:
        """Who shares a key with whom; see corpusmill/mill/dedup/lsh.py."""
        method = self._config.dedup.method
        return {"method": method, "bands": self.bands, "rows": self.band_rows}

    @property
    def similarity(self) -> dict:
        """When two sketches are alike; see corpusmill/mill/dedup/edges.py."""
        threshold = self._config.dedup.threshold
        return {"threshold": threshold, "permutations": self.permutations}

    @property
    def preference(self) -> dict:
        """Which of the documents that are alike is kept; see corpusmill/mill/dedup/order.py."""
        dedup = self._config.dedup
        generations = [part.generation for part in self.parts]
        return {
            "priority": self.of_sources("priority"),
            "weights": self.weights,
            "field": dedup.prefer.field,
            "generations": generations if dedup.earlier_first else None,
        }

    @property
    def sampling(self) -> dict:
        """Splits and copies; see corpusmill/mill/decide/splits_and_copies.py."""
        seed = self._config.shuffle.seed
        return {"weights": self.weights, "fractions": self.fractions, "seed": seed}

    @property
    def span(self) -> dict:
        """What a span is; see corpusmill/mill/read/spans.py."""
        spans = self._config.spans
        width = spans.width if spans.unit == "sentence" else 1
        return {"unit": spans.unit, "width": width, "min_chars": spans.min_chars}

    @property
    def read_limits(self) -> dict:
        """What of input files is not read; see corpusmill/mill/storage/streams.py."""
        limits = self._config.input.limits
        return {"line_bytes": limits.line_bytes, "window_log": limits.window_log}

    def most_text_bytes(self, wildcards: Any) -> int:
        """Of a part: what a configuration has room for in any case, or a multiple of what its
        files let expect, so that a few bytes that unpack to gigabytes end the run early."""
        planned = self.part_of(wildcards).text_bytes
        return max(self._config.input.part_bytes, MOST_EXPANSION * planned)

    def buckets(self, name: str) -> dict:
        """How the keys of all parts are shared among the jobs of a wildcard."""
        return {"jobs": self.counts[name], "entries": self.bucket_entries}

    # Memory: mem_mb as a function of wildcards and attempt. Snakemake asks when a job can begin:
    # then the text of its part is read, and what was guessed of it is known.

    def memory(self, megabytes: Callable[[Any], float]) -> Callable:
        """Half as much again with every attempt, but for those after a failure that more memory
        would not have helped. On a cluster it is that of the whole job."""
        around = SNAKEMAKES_MB + SNAKEMAKES_MB_PER_PART * len(self.parts)

        def mem_mb(wildcards: Any, attempt: int, rulename: str = "") -> int:
            step = megabytes(wildcards)
            grown = attempt - 1
            if grown:
                grown = max(grown - self.spared(rulename, wildcards), 0)
            need = int((step + around * self._on_cluster()) * 1.5**grown)
            self.hear_need(need)
            return need

        return quickly_called(mem_mb)

    def flat_memory(self, base: float) -> Callable:
        """Of a job that holds as much in every corpus."""
        return self.memory(lambda wildcards: base)

    def reading_memory(self, base: float, per_record_megabyte: float) -> Callable:
        """Of a job that reads the input files of a part, of which nothing is known."""
        return self.memory(
            lambda wildcards: (
                base + self._reading(self.part_of(wildcards).files, per_record_megabyte)
            )
        )

    def _reading(self, files: list[InputFile], per_record_megabyte: float) -> float:
        limits = self._config.input.limits
        # What is not packed has no longer record than the file is.
        plain = all(file.path.endswith(".jsonl") for file in files)
        largest = max((file.text_bytes for file in files), default=0) if plain else sys.maxsize
        window = (1 << limits.window_log) * any(file.path.endswith(".zst") for file in files)
        return (per_record_megabyte * min(limits.line_bytes, largest) + window) / 1e6

    def all_inputs_memory(self, base: float, per_record_megabyte: float) -> Callable:
        """The same of one that reads some of every file."""
        files = [file for part in self.parts for file in part.files]
        return self.memory(lambda wildcards: base + self._reading(files, per_record_megabyte))

    def part_memory(self, base: float, **amounts: float) -> Callable:
        """By the text and the documents of the job's part; amounts: as in `held`."""
        return self.memory(
            lambda wildcards: base + held(self._read.of_part(int(wildcards.part)), **amounts)
        )

    def largest_part_memory(self, base: float, **amounts: float) -> Callable:
        """By the most text, documents and largest document of any part."""
        return self.memory(lambda wildcards: base + held(self._read.of_all().of_part, **amounts))

    def shard_memory(self, base: float, **amounts: float) -> Callable:
        """By the text per shard, more where the files have more of it than was planned."""

        def megabytes(wildcards: Any) -> float:
            read = self._read.of_all()
            text_bytes = self._shard_bytes * read.text_bytes / max(self.text_bytes, 1)
            documents = int(read.documents * self._shard_bytes / max(self.text_bytes, 1))
            of_shard = ReadSizes(
                max(int(text_bytes), self._config.output.shard_bytes),
                documents, read.of_part.largest,
            )  # fmt: skip
            return base + held(of_shard, **amounts)

        return self.memory(megabytes)

    def encoding_memory(self, base: float) -> Callable:
        """Of a shard, by the engine: the reference knows many things of every token."""

        def megabytes(wildcards: Any) -> float:
            largest = self._read.of_all().of_part.largest
            per_megabyte = 170 if self._engine() == "reference" else 10
            return base + per_megabyte * largest / 1e6

        return self.memory(megabytes)

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

    def documents_memory(self, base: float, bytes_per_document: float) -> Callable:
        """Of a job that holds a few bytes of every document at once."""
        expected = self.text_bytes // LEAST_DOCUMENT_BYTES

        def megabytes(wildcards: Any) -> float:
            documents = max(expected, self._read.of_all().documents)
            return base + documents * bytes_per_document / 1e6

        return self.memory(megabytes)

    def bucket_memory(self, base: float, bytes_per_entry: float) -> Callable:
        """Of a job of a bucket of keys, which holds so many at once."""
        return self.memory(lambda wildcards: base + self.bucket_entries * bytes_per_entry / 1e6)

    def held_out_memory(self, base: float, bytes_per_text: float) -> Callable:
        """Of a job that holds something of every held-out text: of the splits, the sets."""
        return self.memory(lambda wildcards: base + self._held_out(bytes_per_text))

    def evaluation_memory(
        self, base: float, bytes_per_text: float, per_record_megabyte: float
    ) -> Callable:
        """Of the job that reads the held-out files."""
        reading = self._reading(self.held_out, per_record_megabyte)
        return self.memory(lambda wildcards: base + reading + self._held_out(bytes_per_text))

    def _held_out(self, bytes_per_text: float) -> float:
        share = self.fractions["validation"] + self.fractions["test"]
        of_splits = share * max(
            self.text_bytes / LEAST_DOCUMENT_BYTES, self._read.of_all().documents
        )
        of_sets = sum(file.text_bytes for file in self.held_out) / LEAST_DOCUMENT_BYTES
        return (of_splits + of_sets) * bytes_per_text / 1e6
