"""The steps of a run, each declared once: what it does and when it is part of a run."""

from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from corpusmill.run.config import Config
    from corpusmill.run.layout import Layout


class Step(NamedTuple):
    name: str
    stage: str
    """Stage under which `estimate` and a dry run count the step."""
    does: str
    """Short description for the progress display."""
    follows_kept: bool = False
    """Whether the step's work grows with the kept text. The work of other steps grows with the
    input."""
    only_looks: bool = False
    """Whether the step only inspects results, so that its code does not affect the corpus."""
    after_manifest: bool = False
    """Whether the step's files are made after the manifest and do not change it."""
    is_proved: bool = False
    """Whether `prove` does its work again."""
    counts: str = ""
    """Pattern of the files with its jobs' counts, if later jobs read the files of all of them."""
    plugins: str = ""
    """Attribute of Config that lists the files of code that the step finds by name, such as users'
    code."""
    only_if: str = ""
    """Flag of Layout that must be set for a run to have such jobs; "": every run has them."""

    def plugin_files(self, config: "Config") -> list[Path]:
        return list(map(Path, attrgetter(self.plugins)(config))) if self.plugins else []

    def part_of_run(self, layout: "Layout") -> bool:
        """Say whether a run of this layout has such jobs."""
        return not self.only_if or attrgetter(self.only_if)(layout)

    @property
    def folder(self) -> str:
        """Folder of the counts in results."""
        return self.counts.split("/")[1]


_IN_ORDER = [
    Step("demo", "read", "make the demo corpus", only_if="inputs.uses_demo"),
    Step("plan", "read", "divide the input files into parts"),
    Step(
        "normalize", "read", "read and normalize records", plugins="reading_files", is_proved=True
    ),
    Step("admit", "read", "check how many records are malformed"),
    Step(
        "span",
        "cut spans",
        "list passages that may repeat",
        counts="results/spans/{part}.json",
        only_if="cuts_spans",
    ),
    Step(
        "repeat",
        "cut spans",
        "find repeated passages",
        counts="results/repeats/{span_bucket}.json",
        only_if="cuts_spans",
    ),
    Step("cut", "cut spans", "cut repeated passages", only_if="cuts_spans", is_proved=True),
    Step(
        "measure",
        "filter",
        "measure texts for the filters",
        plugins="measuring_files",
        is_proved=True,
    ),
    Step("filter", "filter", "apply the filters", plugins="filter_files", is_proved=True),
    Step("allow", "filter", "check how much the filters drop"),
    Step("sign", "find duplicates", "sketch texts (MinHash)", is_proved=True),
    Step("band", "find duplicates", "sort sketches into bands", counts="results/bands/{part}.json"),
    Step(
        "pair",
        "find duplicates",
        "pair texts that share a band",
        counts="results/pairs/{bucket}.json",
    ),
    Step("group", "find duplicates", "group texts that may be alike"),
    Step(
        "extract",
        "find duplicates",
        "collect the texts of the groups",
        counts="results/extracts/{block}.json",
    ),
    Step(
        "resolve",
        "find duplicates",
        "compare texts, choose which stay",
        counts="results/resolved/{bin}.json",
    ),
    Step("guard", "find duplicates", "check how much is dropped as duplicates"),
    Step(
        "assign",
        "find duplicates",
        "choose split and copies",
        counts="results/assign/{part}.json",
        is_proved=True,
    ),
    Step("evaluation", "take out held-out", "read held-out texts", plugins="reading_files"),
    Step("holdout", "take out held-out", "collect held-out texts"),
    Step("decontaminate", "take out held-out", "take held-out texts out of train"),
    Step("count", "mix", "count tokens", only_if="counts_tokens"),
    Step(
        "weigh",
        "mix",
        "collect what the mixture needs",
        counts="results/candidates/{block}.json",
        only_if="mixes",
    ),
    Step("apportion", "mix", "divide the budget among the cells", only_if="mixes"),
    Step("mix", "mix", "choose copies", only_if="mixes"),
    Step(
        "gauge",
        "shuffle",
        "collect what the order needs",
        counts="results/values/{block}.json",
        only_if="arranges",
    ),
    Step("arrange", "shuffle", "find the place of each band or part", only_if="arranges"),
    Step(
        "scatter",
        "shuffle",
        "sort documents by their shard",
        counts="results/scatter/{part}.json",
        follows_kept=True,
    ),
    Step(
        "columns",
        "shuffle",
        "choose the columns of Parquet",
        plugins="reading_files",
        only_if="writes_parquet",
        is_proved=True,
    ),
    Step("gather", "shuffle", "write text shards", follows_kept=True, is_proved=True),
    Step("tokenizer", "tokenize", "load or train the tokenizer"),
    Step("encode", "tokenize", "tokenize", follows_kept=True, is_proved=True),
    Step("verify", "tokenize", "check token shards", follows_kept=True),
    Step("join", "tokenize", "join token shards", follows_kept=True, only_if="joins"),
    Step(
        "pack",
        "tokenize",
        "pack documents into rows",
        follows_kept=True,
        is_proved=True,
        only_if="packs",
    ),
    Step("label", "tokenize", "write source and cell of each document", follows_kept=True),
    Step("manifest", "tokenize", "list all files with their SHA-256"),
    Step("export", "account", "write formats of trainers", only_looks=True, after_manifest=True),
    Step("ledger", "account", "write the fate of each record", is_proved=True),
    Step("tally", "account", "count statistics", only_looks=True),
    Step("summarize", "account", "summarize the run", only_looks=True),
    Step("report", "account", "draw the report", only_looks=True),
    Step("domains", "account", "count domains", only_looks=True, only_if="crawls"),
    Step("card", "account", "describe the corpus", only_looks=True),
    Step(
        "recall",
        "account",
        "look for the demo's planted duplicates",
        only_looks=True,
        only_if="inputs.uses_demo",
    ),
    Step("complete", "account", "confirm that all parts have finished a step"),
]
STEPS = {step.name: step for step in _IN_ORDER}
STAGES = list(dict.fromkeys(step.stage for step in STEPS.values()))


def stage_of(rule: str) -> str:
    """Return the stage of a rule, whose name may have a suffix if used as a module."""
    step = STEPS.get(rule.split("_")[0])
    return step.stage if step else "account"
