"""The numbers and files of a run's parts, blocks, buckets, bins and shards.

The rules use it; nothing here depends on Snakemake. wildcards: an object with the number of a job
as text, by its name.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from corpusmill.mill.decide.fates import TRAIN, in_order
from corpusmill.mill.storage.buckets import bucket_count
from corpusmill.mill.storage.files import BARRIER
from corpusmill.run.config import Config
from corpusmill.run.inputs import Inputs
from corpusmill.run.plan import refuse_too_many, shard_counts, split_bytes
from corpusmill.run.read_sizes import EXPECTED_DOCUMENT_BYTES
from corpusmill.run.steps import STEPS

# Determines the number of jobs before any document is read, like EXPECTED_DOCUMENT_BYTES. If
# documents are smaller, there are more; a pair job then processes its bucket in several pieces.
EXPECTED_SPAN_BYTES = 100
MOST_BLOCK_PARTS = 16
MOST_WITHOUT_BARRIER = 16
"""If a stage has so few jobs, later jobs read the counts of each, instead of a barrier."""


def joined_name(split: str) -> str:
    """Return the name of the joined file of a split."""
    return "val" if split == "validation" else split


def block_parts(parts: int) -> int:
    """Return the parts per block. Short jobs process a block of so many parts, if there are enough
    parts for many blocks."""
    return max(1, min(MOST_BLOCK_PARTS, parts // 8))


class Layout:
    def __init__(self, config: Config, inputs: Inputs) -> None:
        self._config, self.inputs = config, inputs
        parts = inputs.parts
        expected = split_bytes(parts, config.weights, config.splits.fractions)
        of_train = expected.pop(TRAIN)
        for split, mixture in (config.mixtures or {TRAIN: config.mixture}).items():
            expected[split] = mixture.train_bytes(of_train)
        self.shards = shard_counts(expected, config.output.shard_bytes)
        self.shard_bytes = max(expected[split] / n for split, n in self.shards.items())
        """Expected text bytes per shard."""
        self.cuts_spans = config.spans.unit != "none"
        self.edits = any(filter.edits for filter in config.filters)
        """Whether a filter cuts pieces out of texts."""
        self.mixed_splits = list(config.mixtures)
        """Train or its stages, if mixtures choose the copies of documents in them."""
        self.mixes = bool(self.mixed_splits)
        self.counts_tokens = any(one.counts_tokens for one in config.mixtures.values())
        self.arranged_splits = config.arranging.splits if config.arranging else []
        """Splits in another order than shuffled."""
        self.arranges = bool(self.arranged_splits)
        self.crawls = bool(config.crawled)
        """Whether a source was crawled, so that its domains are counted."""
        self.block_parts = block_parts(len(parts))
        self.bucket_entries = config.input.part_bytes // 16
        bands, _ = config.band_setting
        text_bytes = inputs.text_bytes
        self.counts = {
            "part": len(parts),
            "block": -(-len(parts) // self.block_parts),
            "bucket": bucket_count(
                text_bytes // EXPECTED_DOCUMENT_BYTES, bands + 1, self.bucket_entries
            ),
            "span_bucket": bucket_count(text_bytes // EXPECTED_SPAN_BYTES, 1, self.bucket_entries),
            # If every document had a duplicate, a bin would hold the texts of two parts. Two parts
            # have two bins, which are resolved in parallel.
            "bin": max(-(-len(parts) // 2), min(len(parts), 2)),
        }
        staged = [step for step in STEPS.values() if step.counts]
        self.stages = {step.folder: step.counts for step in staged}
        """Folder of results -> pattern of the files with its jobs' counts."""
        self.barriers = [
            step.folder
            for step in staged
            if step.part_of_run(self) and len(self.every(step.counts)) > MOST_WITHOUT_BARRIER
        ]
        """Folders of results whose counts complete.json collects."""

    @classmethod
    def planned(cls, config: Config, results: Path, generated: dict[str, int]) -> "Layout":
        """Return the layout of a run in a folder, which may hold earlier results.

        Raise ValueError if these are of another corpus. generated: files that a rule makes, and
        their text bytes.
        """
        layout = cls(config, Inputs.planned(config, results, generated))
        layout.refuse_too_many()
        return layout

    def refuse_too_many(self) -> None:
        """Raise ValueError with a size that fits if a rule has more jobs than names allow."""
        for name, count in self.counts.items():
            what = f"jobs by {name.replace('_', ' ')}"
            refuse_too_many(count, what, "input.part_bytes", self._config.input.part_bytes)
        for split, count in self.shards.items():
            of_split = f"shards of {split}"
            refuse_too_many(count, of_split, "output.shard_bytes", self._config.output.shard_bytes)

    @property
    def text(self) -> str:
        """Pattern of the text parts for all steps after `measure`: edited, cut or as normalized."""
        return "results/edited/{part}.arrow" if self.edits else self.text_to_measure

    @property
    def text_to_measure(self) -> str:
        return "results/cut/{part}.arrow" if self.cuts_spans else "results/text/{part}.arrow"

    @property
    def text_shard(self) -> str:
        return f"results/corpus/{{split}}/{{shard}}.{self._config.output.format}"

    @property
    def training_text(self) -> list[str]:
        """Text shard to train the tokenizer on, if it is trained."""
        (split, *_) = in_order(self.shards)
        shard = self.text_shard.format(split=split, shard="00000")
        return [shard] if self._config.tokenizer.source == "train" else []

    def notes(self) -> list[str]:
        """Return notes about consequences that users may not expect."""
        stages = [stage.name for stage in self._config.stages]
        if not stages or not self.inputs.grown:
            return []
        return [
            f"files were added, so the stages {', '.join(stages)} are composed again from all "
            "documents, and their shards change. If a model was trained on one of them, copy the "
            "results first: `exclude` is about the new shards, not about what that model has read."
        ]

    def of_stages(self, pattern: str) -> list[str]:
        """Return the file of train or each of its stages, if a mixture is used."""
        return [pattern.format(split=split) for split in self.mixed_splits]

    def of_splits(self, pattern: str) -> list[str]:
        """Return the file of every split that has shards."""
        return [pattern.format(split=split) for split in in_order(self.shards)]

    def if_stage(self, files: str | list[str]) -> Callable[[Any], list[str]]:
        """Return a function from the wildcard `split` to the files, if a mixture composes it."""

        def found(wildcards: Any) -> list[str]:
            if wildcards.split not in self.mixed_splits:
                return []
            return files if isinstance(files, list) else [files.format(split=wildcards.split)]

        return found

    def every(self, pattern: str) -> list[str]:
        """Return all files of a pattern in order: of every part, or every shard of every split."""
        if "{split}" in pattern:
            splits = in_order(self.shards)
            return [file for split in splits for file in self._shards_of(split, pattern)]
        (name,) = re.findall(r"\{(\w+)\}", pattern)
        return [pattern.format(**{name: f"{number:05d}"}) for number in range(self.counts[name])]

    def listing(self, stage: str) -> list[str]:
        """Return the files with the counts of all jobs of a stage: its barrier, if it has one."""
        if stage in self.barriers:
            return [f"results/{stage}/{BARRIER}"]
        return self.every(self.stages[stage])

    def _shards_of(self, split: str, pattern: str) -> list[str]:
        count = self.shards.get(split, 0)
        return [pattern.format(split=split, shard=f"{shard:05d}") for shard in range(count)]

    def if_cut(self, files: Any) -> Any:
        """Return the files, or the function that names them, if spans are cut; otherwise none."""
        return files if self.cuts_spans else []

    def if_edited(self, files: Any) -> Any:
        """Return the files, or the function that names them, if filters cut texts; else none."""
        return files if self.edits else []

    def if_mixed(self, files: Any) -> Any:
        """Return the files, or the function that names them, if a mixture is used; else none."""
        return files if self.mixes else []

    def if_crawled(self, files: list[str]) -> list[str]:
        """Return the files if a source was crawled, otherwise none."""
        return files if self.crawls else []

    @property
    def copies(self) -> Any:
        """Return a function from the wildcard `part` to the copies of its block; [] without a
        mixture."""
        of_block = self.of_block("results/copies/{block}.arrow")
        return self.if_mixed(lambda wildcards: [of_block(wildcards)])

    def if_arranged(self, files: Any) -> Any:
        """Return the files, or the function that names them, if splits are not shuffled; else
        none."""
        return files if self.arranges else []

    @property
    def values(self) -> Any:
        """Return a function from the wildcard `part` to the values of its block; [] if all splits
        are shuffled."""
        of_block = self.of_block("results/values/{block}.arrow")
        return self.if_arranged(lambda wildcards: [of_block(wildcards)])

    def if_counted(self, files: Any) -> Any:
        """Return the files, or the function that names them, if tokens are counted before the
        shuffle; else none."""
        return files if self.counts_tokens else []

    def of_cuts(self, of_spans: str, of_filters: str) -> list[str]:
        """Return the files with a part's cuts that this run has: of spans, of filters."""
        return [*self.if_cut([of_spans]), *self.if_edited([of_filters])]

    @property
    def writes_parquet(self) -> bool:
        return self._config.output.format == "parquet"

    @property
    def joins(self) -> bool:
        return self._config.output.join

    def joined(self, pattern: str) -> list[str]:
        """Return the joined file of every split, if output.join is set."""
        wanted = self.shards if self.joins else {}
        return [pattern.format(joined=joined_name(split)) for split in in_order(wanted)]

    def to_join(self, pattern: str) -> Callable[[Any], list[str]]:
        """Return a function from the wildcard `joined` to the files of its split's shards."""
        splits = {joined_name(split): split for split in self.shards}
        return lambda wildcards: self._shards_of(splits[wildcards.joined], pattern)

    @property
    def packs(self) -> bool:
        return bool(self._config.output.pack)

    def packed(self, pattern: str) -> list[str]:
        """Return the files of the packed rows: of every split and length."""
        lengths = self._config.output.pack
        splits = in_order(self.shards)
        return [pattern.format(split=split, length=n) for split in splits for n in lengths]

    def to_pack(self, pattern: str) -> Callable[[Any], list[str]]:
        """Return a function from the wildcard `split` to the files of its shards."""
        return lambda wildcards: self._shards_of(wildcards.split, pattern)

    def of_block(self, pattern: str) -> Callable[[Any], str]:
        """Return a function from the wildcard `part` to the file of its block."""
        return lambda wildcards: pattern.format(
            block=f"{int(wildcards.part) // self.block_parts:05d}"
        )

    def files_of_block(self, pattern: str) -> Callable[[Any], list[str]]:
        """Return a function from the wildcard `block` to one file per part, in order."""

        def files(wildcards: Any) -> list[str]:
            first = self.first_of_block(wildcards)
            parts = self.inputs.parts[first : first + self.block_parts]
            return [pattern.format(part=part.name) for part in parts]

        return files

    def first_of_block(self, wildcards: Any) -> int:
        return int(wildcards.block) * self.block_parts

    def buckets(self, name: str) -> dict:
        """Return how the keys of all parts are divided among the jobs of a wildcard."""
        return {"jobs": self.counts[name], "entries": self.bucket_entries}

    def numbered(self, pattern: str) -> Iterator[tuple[str, int | None]]:
        """Yield a rule's patterns, with `{}` for the number, and how many files each has.

        None: a single file without a number.
        """
        if "{length}" in pattern:
            for file in self.packed(pattern):
                yield file, None
        elif "{split}" in pattern:
            for split, count in self.shards.items():
                of_split = pattern.replace("{split}", split)
                yield of_split.replace("{shard}", "{}"), count if "{shard}" in pattern else None
        elif "{stage}" in pattern:
            for stage in self.barriers:
                yield pattern.replace("{stage}", stage), None
        elif "{joined}" in pattern:
            for split in self.shards:
                yield pattern.replace("{joined}", joined_name(split)), None
        elif names := re.findall(r"\{(\w+)\}", pattern):
            yield pattern.replace(f"{{{names[0]}}}", "{}"), self.counts[names[0]]
        else:
            yield pattern, None
