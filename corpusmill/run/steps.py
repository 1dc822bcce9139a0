"""The steps of a run, each declared once: what it does, for whom, and when it is part of a run."""

from collections.abc import Callable
from typing import NamedTuple

from corpusmill.run.layout import Layout


def _cuts_spans(layout: Layout) -> bool:
    return layout.cuts_spans


def _joins(layout: Layout) -> bool:
    return bool(layout.joined("{joined}"))


def _writes_parquet(layout: Layout) -> bool:
    return bool(layout.if_parquet(""))


def _uses_demo(layout: Layout) -> bool:
    return layout.uses_demo


class Step(NamedTuple):
    name: str
    stage: str
    """The stage of `estimate` and of a dry run that counts it."""
    does: str
    """For whoever watches a run, in a few words."""
    follows_kept: bool = False
    """Its work grows with what is kept; that of other steps with what is read."""
    only_looks: bool = False
    """It looks at what others made: its code does not shape the corpus."""
    is_proved: bool = False
    """`prove` runs it again."""
    part_of_run: Callable[[Layout], bool] = lambda layout: True
    """Whether a run of this layout has such jobs. The results of another may hold its files."""


STEPS = {
    step.name: step
    for step in (
        Step("demo", "read", "make the demo corpus", part_of_run=_uses_demo),
        Step("plan", "read", "share out the input files"),
        Step("normalize", "read", "read and normalize records", is_proved=True),
        Step("admit", "read", "check how many records are malformed"),
        Step("span", "cut spans", "list passages that may repeat", part_of_run=_cuts_spans),
        Step("repeat", "cut spans", "find repeated passages", part_of_run=_cuts_spans),
        Step("cut", "cut spans", "cut repeated passages", part_of_run=_cuts_spans, is_proved=True),
        Step("measure", "filter", "measure texts for the filters", is_proved=True),
        Step("filter", "filter", "apply the filters", is_proved=True),
        Step("allow", "filter", "check how much the filters drop"),
        Step("sign", "find duplicates", "sketch texts (MinHash)", is_proved=True),
        Step("band", "find duplicates", "sort sketches into bands"),
        Step("pair", "find duplicates", "pair texts that share a band"),
        Step("group", "find duplicates", "group texts that may be alike"),
        Step("extract", "find duplicates", "collect the texts of the groups"),
        Step("resolve", "find duplicates", "compare texts, choose which stay"),
        Step("guard", "find duplicates", "check how much is dropped as duplicates"),
        Step("assign", "find duplicates", "choose split and copies", is_proved=True),
        Step("evaluation", "take out held-out", "read held-out texts"),
        Step("holdout", "take out held-out", "collect held-out texts"),
        Step("decontaminate", "take out held-out", "take held-out texts out of train"),
        Step("scatter", "shuffle", "sort documents by their shard", follows_kept=True),
        Step(
            "columns",
            "shuffle",
            "choose the columns of Parquet",
            part_of_run=_writes_parquet,
            is_proved=True,
        ),
        Step("gather", "shuffle", "write text shards", follows_kept=True, is_proved=True),
        Step("tokenizer", "tokenize", "load or train the tokenizer"),
        Step("encode", "tokenize", "tokenize", follows_kept=True, is_proved=True),
        Step("verify", "tokenize", "check token shards", follows_kept=True),
        Step("join", "tokenize", "join token shards", follows_kept=True, part_of_run=_joins),
        Step("manifest", "tokenize", "list all files with their SHA-256"),
        Step("export", "account", "write formats of trainers", only_looks=True),
        Step("ledger", "account", "write what became of each record", is_proved=True),
        Step("tally", "account", "count statistics", only_looks=True),
        Step("summarize", "account", "sum the run up", only_looks=True),
        Step("report", "account", "draw the report", only_looks=True),
        Step(
            "recall",
            "account",
            "look for the demo's planted duplicates",
            only_looks=True,
            part_of_run=_uses_demo,
        ),
        Step("complete", "account", "confirm that a step is done for all parts"),
    )
}
STAGES = list(dict.fromkeys(step.stage for step in STEPS.values()))


def stage_of(rule: str) -> str:
    """The stage of a rule; a module's rules have a name of their own behind ours."""
    step = STEPS.get(rule.split("_")[0])
    return step.stage if step else "account"
