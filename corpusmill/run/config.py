"""The configuration of a run: every key once, with its type, limits and meaning.

`Config.checked` is the way in: it refuses a configuration with one line per fault. The JSON schema
and docs/reference/configuration.md are made from these classes; the shipped values are in
config.yaml.
"""

import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import jsonschema

from corpusmill.messages.sentences import MOST_FAULTS, first_of
from corpusmill.mill.decide.curriculum import Arranging
from corpusmill.mill.decide.fates import SPLITS, TRAIN, in_order
from corpusmill.mill.decide.mixture import Stage
from corpusmill.mill.dedup.band_settings import BandSetting, auto_setting
from corpusmill.mill.filters.configured import ConfiguredFilter
from corpusmill.mill.storage.streams import ReadLimits
from corpusmill.mill.tokens.pack_files import LEAST_LENGTH, MOST_LENGTH
from corpusmill.run.filter_faults import filter_faults
from corpusmill.run.mixture_config import NOT_EMPTY, MixtureKeys, StageKeys, stage_faults
from corpusmill.run.order_config import SHUFFLED, Order
from corpusmill.run.schema_faults import Validator, in_words
from corpusmill.run.typed import Section, key
from corpusmill.run.workflow_files import PACKAGE

TRAINED_END_OF_TEXT = "<|endoftext|>"
Origin = Literal["public", "licensed", "third_party", "crawled", "user", "synthetic", "other"]
FORMATS = sorted(
    path.stem.replace("_", "-") for path in (PACKAGE / "tools/export/formats").glob("[a-z]*.py")
)
"""Formats of `output.exports`; each is a module."""


@dataclass(frozen=True, kw_only=True)
class Source(Section):
    name: str = key(
        "Name of the source, used in all tables and records. Allowed characters: letters, "
        "digits, - _ and .",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z",
    )
    files: list[str] = key(
        "Files, patterns (`*`, `**`, `?`) or folders, relative to the working directory. "
        "Formats: see docs/reference/formats.md#input. Folders are read recursively, each folder "
        "once; symlinks are followed. Only regular files are read.",
        entries=NOT_EMPTY,
        least_entries=1,
    )
    text_field: str = key("Field or column that holds the text.", least_chars=1, default="text")
    weight: float = key(
        "Number of epochs of this source. 0.5: a fixed half of every split. 2: each train "
        "document twice, far apart; validation and test documents once.",
        least=0,
        most=100,
        default=1,
    )
    priority: int | None = key(
        "Rank of the source if several sources contain duplicates of the same text. The source "
        "with the lowest number keeps its document. Sources without a priority come last.",
        least=0,
        most=1000000,
        default=None,
        within="preference",
    )
    max_malformed_fraction: float = key(
        "The run fails if more than this share of the source's records is malformed.",
        least=0,
        most=1,
        default=0,
    )
    max_dropped_fraction: float = key(
        "The run stops if filters drop more than this share of the source's documents. Sources "
        "with fewer than 100 documents are exempt.",
        least=0,
        most=1,
        default=0.99,
        within="filter_limits",
    )
    max_duplicate_fraction: float = key(
        "The run stops if more than this share of the source's documents that pass the filters "
        "are duplicates.",
        least=0,
        most=1,
        default=0.9,
        within="duplicate_limits",
    )
    duplicates: Literal["near", "exact", "none"] = key(
        "With which documents to compare the source's documents. near: with similar ones. exact: "
        "only with those that have the same text. none: with no others, so all stay and none of "
        "them displaces another; for example for synthetic or templated text.",
        default="near",
    )
    cut_spans: bool = key(
        "Whether repeated spans are cut from this source (see spans.unit). If false, spans of "
        "this source also do not count as first occurrences.",
        default=True,
    )
    held_out: bool = key(
        "Whether this source is an evaluation set, not part of the corpus. A document is removed "
        "from train if its normalized text equals that of a document in an evaluation set.",
        default=False,
    )
    licence: str | None = key(
        "Licence of the source, if possible an identifier of the Hugging Face hub such as "
        "cc-by-4.0.",
        least_chars=1,
        default=None,
        shapes=False,
        within="provenance",
    )
    origin: Origin | None = key(
        "Kind of the source in the template of the EU: publicly available dataset, licensed by "
        "rightsholders, private dataset of a third_party, crawled, data of users, synthetic or "
        "other.",
        default=None,
        shapes=False,
        within="provenance",
    )
    homepage: str | None = key(
        "Web address that describes the source.",
        pattern=r"^https?://[^\s<>]+\Z",
        default=None,
        shapes=False,
        within="provenance",
    )
    collected: str | None = key(
        "Period in which the source was collected, such as 01/2023 to 06/2024.",
        least_chars=1,
        default=None,
        shapes=False,
        within="provenance",
    )
    url_member: str = key(
        "Member of the records that has the URL, if origin is crawled; `meta.url` is the member "
        "url of the object meta.",
        least_chars=1,
        default="url",
        shapes=False,
    )

    def faults(self) -> Iterator[str]:
        milled_only = {
            "weight": 1, "priority": None, "max_dropped_fraction": 0.99,
            "max_duplicate_fraction": 0.9, "duplicates": "near", "cut_spans": True,
        }  # fmt: skip
        for name in sorted(milled_only) if self.held_out else ():
            if getattr(self, name) != milled_only[name]:
                yield f'sources: "{self.name}" is held_out, so {name} has no effect. Remove {name}.'
        if self.url_member != "url" and (self.held_out or self.origin != "crawled"):
            yield (
                f'sources: "{self.name}" is not crawled text of the corpus, so url_member has no '
                "effect. Remove url_member, or set origin to crawled."
            )


@dataclass(frozen=True, kw_only=True)
class Input(Section):
    part_bytes: int = key(
        "Target size of a part, in bytes of text. Before a run, the text of a file is estimated "
        "from its size. The size of a part determines how much memory a job needs. A run has at "
        "most 99,999 parts.",
        least=65536,
        most=68719476736,
    )
    max_record_bytes: int = key(
        "Maximum size of a record in bytes; larger records are malformed. For JSON lines, the "
        "size of a record is that of the line without its line end; for other formats, that of "
        "all fields in UTF-8.",
        least=1024,
        most=2147483647,
    )
    max_window_log: int = key(
        "Maximum window size of a zstd frame, as a power of two; files with a larger window are "
        "rejected. The zstd command has a limit of 27 without --long.",
        least=10,
        most=31,
    )
    readers: list[str] = key(
        "Your Python files with readers for other formats, relative to the working directory; "
        "see docs/how-to/extend.md.",
        entries=NOT_EMPTY,
    )
    verify: Literal["changed", "always", "never"] = key(
        "Which input files to check by SHA-256 for changes since earlier runs. changed: only "
        "files that a job reads again. always: all files, before the first job. never: no files.",
        shapes=False,
    )

    @property
    def limits(self) -> ReadLimits:
        return ReadLimits(self.max_record_bytes, self.max_window_log)

    @property
    def read_limits(self) -> dict[str, int]:
        """The limits as JSON, for jobs."""
        return {"line_bytes": self.max_record_bytes, "window_log": self.max_window_log}


@dataclass(frozen=True, kw_only=True)
class Normalize(Section):
    mode: Literal["nfc", "ftfy", "none"] = key(
        "How texts are normalized. nfc: compose characters (Unicode NFC). ftfy: also repair "
        "quotes, full-width letters and mojibake, as in SlimPajama. none: texts stay unchanged."
    )


@dataclass(frozen=True, kw_only=True)
class Spans(Section):
    unit: Literal["none", "line", "paragraph", "sentence"] = key(
        "Unit of text to cut if the same text occurred earlier in the corpus: line, paragraph "
        "(up to a blank line), sentence (sequences of spans.width sentences) or none."
    )
    min_chars: int = key(
        "Minimum length of a span to cut, in characters after white space is collapsed.",
        least=1,
        most=1000000,
    )
    width: int = key(
        "Number of sentences per span if spans.unit is sentence.",
        least=1,
        most=100,
    )


@dataclass(frozen=True, kw_only=True)
class MinHash(Section):
    scheme: Literal["affine32", "legacy"] = key(
        "How sketches are computed. affine32: as in datasketch 2, with rolling hashes. legacy: "
        "as in datasketch 1 and SlimPajama, with SHA-1."
    )
    permutations: int = key(
        "Number of values per sketch. Each value takes 4 bytes on disk per document.",
        least=1,
        most=4096,
    )
    shingle_chars: int = key(
        "Number of characters per shingle of the cleaned text.",
        least=1,
        most=256,
        within="resolution",
    )
    seed: int = key(
        "Seed of the permutations; datasketch's default is 1.", least=0, most=4294967295
    )


@dataclass(frozen=True, kw_only=True)
class Prefer(Section):
    """Which duplicate to keep if the sources have equal priority."""

    field: str | None = key(
        "Field of the record that ranks duplicates. Numbers are compared by value, dates and "
        "times as points in time, other strings by code points. The run fails if the field "
        "contains both numbers and strings. Records without the field come last.",
        least_chars=1,
        within="preference",
    )
    order: Literal["highest", "lowest"] = key(
        "Whether to keep the document with the highest or the lowest value of dedup.prefer.field."
    )


@dataclass(frozen=True, kw_only=True)
class Dedup(Section):
    method: Literal["verified", "sketch", "exact"] = key(
        "Which documents are duplicates. verified: documents with similar shingle sets. sketch: "
        "documents that share a band key. exact: documents with equal texts.",
        within="banding",
    )
    threshold: float = key(
        "Minimum Jaccard similarity of duplicates. With dedup.method sketch, the threshold is "
        "only used to determine bands and rows that are auto.",
        above=0,
        below=1,
        within="similarity",
    )
    bands: Literal["auto"] | int = key(
        "Number of LSH bands. Two documents are candidates if their sketches are equal in at "
        "least one band. auto (for both bands and rows): as many rows as possible while LSH "
        "still finds 99.5 % of the pairs whose similarity equals the threshold; with method "
        "sketch, the choice of datasketch.",
        least=1,
        most=4096,
    )
    rows: Literal["auto"] | int = key("Number of sketch values per band.", least=1, most=4096)
    candidates: Literal["kept", "all"] = key(
        "Which documents to compare. kept: documents that pass the filters. all: every document.",
        within="comparing",
    )
    within: str | None = key(
        "Record member, such as dump, or meta.language for a nested one. Only documents with the "
        "same value are compared. Documents without the member are compared with each other.",
        least_chars=1,
        within="comparing",
    )
    min_sources: int = key(
        "Keep a document only if its cluster has documents of at least this number of sources. 1: "
        "keep every document.",
        least=1,
        most=1000000,
    )
    resolve: Literal["kept", "component"] = key(
        "Which duplicates to drop. kept: only documents that are similar to a kept document. "
        "component: all documents of a connected component except one.",
        within="resolution",
    )
    earlier_first: bool = key(
        "Whether documents kept by a finished run stay in the corpus even if files added later "
        "contain preferred duplicates."
    )
    prefer: Prefer
    max_group_texts: int | None = key(
        "The run stops if a connected component has more distinct texts than this.",
        least=2,
        within="duplicate_limits",
    )
    engine: Literal["union_find", "networkit"] = key(
        "Implementation that finds connected components; both implementations give the same "
        "result.",
        within="components",
    )

    def faults(self, permutations: int) -> Iterator[str]:
        if (self.bands == "auto") != (self.rows == "auto"):
            yield (
                "dedup.bands and dedup.rows: one is auto and the other a number. Set both to "
                "numbers, or both to auto."
            )
        elif self.bands == "auto":
            try:
                self.band_setting(permutations)
            except ValueError as error:
                yield (
                    f"dedup.bands: auto finds no setting for dedup.threshold {self.threshold} and "
                    f"minhash.permutations {permutations} ({error}). Set bands and rows to "
                    "numbers, or raise minhash.permutations."
                )
        elif (used := int(self.bands) * int(self.rows)) > permutations:
            yield (
                f"dedup.bands ({self.bands}) x dedup.rows ({self.rows}) = {used} exceeds "
                f"minhash.permutations ({permutations}). Lower bands or rows, or raise the "
                "permutations."
            )
        if self.method == "sketch" and self.resolve == "kept":
            yield (
                "dedup.resolve: kept needs the similarity of each pair, which dedup.method "
                "sketch does not compute. Set resolve to component, or method to verified."
            )

    def band_setting(self, permutations: int) -> BandSetting:
        """Return the bands and rows, with auto resolved. For method exact, that is one key per
        text."""
        if self.method == "exact":
            return BandSetting(0, 1)
        if self.bands == "auto":
            return auto_setting(self.method, permutations, self.threshold)
        return BandSetting(self.bands, int(self.rows))


@dataclass(frozen=True, kw_only=True)
class Splits(Section):
    validation: float = key(
        "Share of the documents, chosen by a keyed hash of the document id.", least=0, below=1
    )
    test: float = key(
        "Share of the documents, chosen by a keyed hash of the document id.", least=0, below=1
    )

    def faults(self) -> Iterator[str]:
        if self.validation + self.test >= 1:
            yield (
                "splits: validation + test leave nothing for train. Lower them so that their sum "
                "is below 1."
            )

    @property
    def fractions(self) -> dict[str, float]:
        """Share of the documents in each split."""
        train = 1 - self.validation - self.test
        return {"train": train, "validation": self.validation, "test": self.test}


@dataclass(frozen=True, kw_only=True)
class Shuffle(Section):
    seed: int = key(
        "Seed of the keyed hashes that determine the split, the sampling and the order of "
        "documents.",
        least=0,
        within="sampling",
    )
    order: Order = key(
        "Order of the documents of each split. shuffled: random. as_found: as in the input, second "
        "copies after all first ones. {by: edu_score, bands: 8}: a curriculum, train in bands of "
        "ascending values, each band shuffled; validation and test are shuffled."
    )

    @classmethod
    def shaping(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        # Shuffled corpora have the digest that they had before there was another order.
        shapes = super().shaping(given)
        return {
            name: value for name, value in shapes.items() if (name, value) != ("order", SHUFFLED)
        }


@dataclass(frozen=True, kw_only=True)
class Output(Section):
    format: Literal["jsonl.zst", "parquet"] = key(
        "Format of the text shards. Parquet files have a column for each field whose values all "
        "have the same type."
    )
    shard_bytes: int = key(
        "Target size of a shard, in bytes of text. The number of shards is chosen before the run, "
        "from estimates, so shards can be smaller. The size of a shard determines how much memory "
        "the steps gather and encode need. A split has at most 99,999 shards.",
        least=65536,
        most=68719476736,
    )
    join: bool = key(
        "Whether to also join the token shards of each split into one file: train.bin, val.bin "
        "and test.bin."
    )
    pack: list[int] = key(
        "Lengths of rows to pack whole documents into, for each split as a whole. A row of length "
        "n has n inputs and n targets. Each length adds an index beside the token shards.",
        entries={"type": "integer", "minimum": LEAST_LENGTH, "maximum": MOST_LENGTH},
        unique=True,
    )
    exports: list[str] = key(
        "Export formats to write to `results/exports`; see [export.md](../how-to/export.md).",
        entries={"enum": FORMATS, "title": "names of formats"},
        unique=True,
        shapes=False,
    )
    sample_tokens: int = key(
        "Tokens per sample, for export formats that store samples instead of documents.",
        shapes=False,
        least=1,
        most=16777216,
    )
    packed_samples: bool = key(
        "Whether exports of samples have rows of output.pack instead of consecutive samples. A row "
        "of mds or litdata has one token more than its length in output.pack: sample_tokens 2048 "
        "needs 2047.",
        shapes=False,
    )


@dataclass(frozen=True, kw_only=True)
class Tokenizer(Section):
    source: str = key(
        "Folder or Hugging Face id of a tokenizer. train: train a byte-level BPE tokenizer on "
        "this corpus.",
        least_chars=1,
        within="tokenizer",
    )
    end_of_text: str = key(
        "Token that ends every document. auto: the tokenizer's eos_token. With auto, the run "
        "fails if the eos_token seems to end chat turns.",
        least_chars=1,
        within="tokenizer",
    )
    engine: Literal["auto", "gigatoken", "reference"] = key(
        "Library that encodes the text. reference: transformers. auto: gigatoken, unless its "
        "token ids differ from those of transformers.",
        within="tokenizer",
    )
    train_vocabulary: int = key(
        "Vocabulary size, including the end-of-text token, if tokenizer.source is train.",
        least=300,
        most=1000000,
        within="tokenizer",
    )
    max_lost_fraction: float = key(
        "The run fails if tokenizing loses more than this share of a source's characters.",
        least=0,
        most=1,
        within="loss_limits",
    )

    def faults(self) -> Iterator[str]:
        if self.source == "train" and self.end_of_text not in ("auto", TRAINED_END_OF_TEXT):
            yield (
                "tokenizer.end_of_text: a tokenizer trained on this corpus ends documents with "
                f"{TRAINED_END_OF_TEXT}, not {self.end_of_text}. Leave the key out."
            )
        if "\0" in self.source:
            yield (
                "tokenizer.source: expected a folder or an id, found a NUL byte in the value. "
                "Remove the byte."
            )
        is_path = self.source.startswith(("/", "./", "../", "~"))
        if is_path and not os.path.isdir(self.source):
            yield f"tokenizer.source: there is no folder {self.source}. Correct the path."


@dataclass(frozen=True, kw_only=True)
class Config(Section):
    sources: list[Source] = key(
        "Your text, one entry per source. At least one of your config files must have `sources`. "
        "The default entries are those of the demo.",
        least_entries=1,
    )
    input: Input
    normalize: Normalize
    spans: Spans
    filters: list[ConfiguredFilter] = key(
        "Filters, in the order in which they run. Each entry can also contain settings of its "
        "filter.",
        most_entries=200,
    )
    minhash: MinHash
    dedup: Dedup
    splits: Splits
    mixture: MixtureKeys
    stages: list[StageKeys] = key(
        "Stages of training, each composed by a mixture of its own. With stages, train has no "
        "shards; each stage has shards under its name. Earlier stages come first.",
        most_entries=100,
    )
    shuffle: Shuffle
    output: Output
    tokenizer: Tokenizer
    if TYPE_CHECKING:

        @property
        def given(self) -> dict[str, Any]:
            """The configuration as files and --config give it."""

    @classmethod
    def checked(cls, given: dict) -> Self:
        """Return the checked configuration; raise ValueError with one line per fault."""
        config = cls.read(given)
        config.refuse_faults()
        return config

    @classmethod
    def read(cls, given: dict) -> Self:
        """Return a configuration checked against the schema only, for example that of a run made
        elsewhere. The files that it names need not exist.
        """
        found = sorted(
            Validator(cls.schema()).iter_errors(given),
            key=lambda fault: [
                f"{step:09}" if type(step) is int else str(step) for step in fault.absolute_path
            ],
        )
        if found:
            told = found[:MOST_FAULTS]
            faults = [in_words(jsonschema.exceptions.best_match([fault])) for fault in told]
            more = [f"and {len(found) - len(told):,} more"] * (len(found) > len(told))
            raise ValueError("\n".join(faults + more))
        config = cls.of(given)
        config.__dict__["given"] = given
        return config

    def refuse_faults(self) -> None:
        """Raise ValueError with one line per fault that the schema cannot express."""
        if faults := first_of(list(self.faults())):
            raise ValueError("\n".join(faults))

    def faults(self) -> Iterator[str]:
        yield from self.dedup.faults(self.minhash.permutations)
        names = [source.name for source in self.sources]
        filter_told = [*filter_faults(self.filters, names)]
        yield from filter_told
        for name in (name for name, count in Counter(names).items() if count > 1):
            yield f'sources: the name "{name}" is used twice. Give each source its own name.'
        for source in self.sources:
            yield from source.faults()
        yield from self.tokenizer.faults()
        if not self.milled:
            yield (
                "sources: all sources are held_out, so the corpus would be empty. Add a source "
                "that is not."
            )
        elif not any(source.weight for source in self.milled):
            yield (
                "sources: all sources have the weight 0, so no document would be kept. Raise a "
                "weight above 0."
            )
        yield from self._agreement_faults()
        yield from self.splits.faults()
        if not filter_told:
            yield from stage_faults(self) if self.stages else self.mixture.faults(self)
            yield from self.shuffle.order.faults(self)

    def _agreement_faults(self) -> Iterator[str]:
        compared = [source for source in self.milled if source.duplicates != "none"]
        if (wanted := self.dedup.min_sources) > max(len(compared), 1):
            yield (
                f"dedup.min_sources: {wanted} exceeds the number of compared sources "
                f"({len(compared)}), so none of their documents would be kept. Lower it."
            )

    @cached_property
    def milled(self) -> list[Source]:
        """Sources that go into the corpus."""
        return [source for source in self.sources if not source.held_out]

    @cached_property
    def held_out(self) -> list[Source]:
        """Evaluation sets, whose texts are removed from train."""
        return [source for source in self.sources if source.held_out]

    @cached_property
    def weights(self) -> dict[str, float]:
        """Epochs of each milled source."""
        return {source.name: source.weight for source in self.milled}

    @cached_property
    def mixtures(self) -> dict[str, MixtureKeys]:
        """The mixture of train, or of each stage in place of it; none if no mixture is used."""
        if self.stages:
            return {stage.name: stage.mixture(self.mixture) for stage in self.stages}
        return {TRAIN: self.mixture} if self.mixture.is_used else {}

    @property
    def composed(self) -> list[Stage]:
        """What the steps need to know of the mixtures."""
        exclude = {stage.name: stage.exclude or [] for stage in self.stages}
        return [
            Stage(split, [*exclude.get(split, [])], keys.settings(self, split, self.seeds[split]))
            for split, keys in self.mixtures.items()
        ]

    @cached_property
    def written_splits(self) -> list[str]:
        """Splits that may have shards, in order: train or its stages, validation, test."""
        return in_order({*(self.mixtures or [TRAIN]), *SPLITS[1:]})

    @property
    def seeds(self) -> dict[str, int]:
        """Seed of the order of each split that may have shards."""
        own = {stage.name: stage.seed for stage in self.stages if stage.seed is not None}
        return dict.fromkeys(self.written_splits, self.shuffle.seed) | own

    @property
    def most_copies(self) -> int:
        """The most copies that a document can have in a split."""
        by_mixture = [one.max for one in self.mixtures.values()]
        return max(by_mixture or map(math.ceil, self.weights.values()))

    @property
    def arranging(self) -> Arranging | None:
        """The splits that are not shuffled, and their order; None if all are shuffled."""
        return self.shuffle.order.arranging(self)

    @cached_property
    def crawled(self) -> dict[str, str]:
        """Record member with the URL, of each milled source that was crawled."""
        crawled = [source for source in self.milled if source.origin == "crawled"]
        return {source.name: source.url_member for source in crawled}

    @property
    def permutations(self) -> int:
        """Values per sketch; 0 for method exact, which needs no sketches."""
        return 0 if self.dedup.method == "exact" else self.minhash.permutations

    @property
    def filter_files(self) -> list[Path]:
        """Files of all filters: code and data."""
        return [file for filter in self.filters for file in filter.files]

    @property
    def reading_files(self) -> list[Path]:
        """Files of the formats, which are found by name."""
        # It imports numpy, and most commands need no format.
        from corpusmill.mill.read.readers import code_of_built_in

        return [*code_of_built_in(), *map(Path, self.input.readers)]

    @property
    def measuring_files(self) -> list[Path]:
        """Files of the filters that measure texts."""
        return [file for filter in self.filters if filter.measures for file in filter.files]

    @property
    def members(self) -> list[str]:
        """Record members whose values divide documents, or put them in order."""
        others = [one for one in (self.dedup.within, self.shuffle.order.member) if one]
        return sorted({*self.mixture_members, *others})

    @property
    def mixture_members(self) -> list[str]:
        """Record members that divide documents into cells, in any stage."""
        return sorted({member for one in self.mixtures.values() for member in one.members})

    @cached_property
    def band_setting(self) -> BandSetting:
        return self.dedup.band_setting(self.minhash.permutations)


def config_digest(given: dict) -> str:
    """Return the digest that identifies the configuration of a result."""
    return digest_of_shaping(Config.shaping(given))


def digest_of_shaping(shapes: dict) -> str:
    """Return `config_digest` of a configuration that went through `Config.shaping`."""
    # Twice, so that numbers as keys sort as they do when read back.
    plain = json.loads(json.dumps(shapes))
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]
