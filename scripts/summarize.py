"""Add up the accounts of all parts and shards; fail if a document is unaccounted for."""

import importlib.metadata
import logging
import platform
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import corpusmill
from corpusmill.mill.account.accounts import balanced_account, funnel, losses_in_words, table
from corpusmill.mill.account.cross_checks import contradictions
from corpusmill.mill.decide.fates import dropping_fates
from corpusmill.mill.storage.files import load_json, own_digest, save_json, save_text
from corpusmill.run import job, record
from corpusmill.run.job_state import FINISHED, load_state
from corpusmill.run.measurements import seconds_of

PACKAGES = ["snakemake", "numpy", "numba", "pyarrow", "zstandard", "msgspec", "datasketch",
            "transformers", "tokenizers", "gigatoken"]  # fmt: skip

TOKENIZER = ["source", "end_of_text", "end_of_text_id", "vocabulary"]
"""What the summary says of the tokenizer."""


def measured(logs: Path) -> dict[str, dict]:
    """Per rule: jobs, seconds and CPU seconds of all jobs, the largest memory of one, and what
    that one was allowed, 0 where its log does not say.

    Seconds are Snakemake's, start of the job included. CPU and memory are what the job itself says
    at its end: Snakemake looks only now and then, and misses short jobs.
    """
    rules = {}
    for folder in sorted(path for path in logs.iterdir() if path.is_dir()):
        times = [seconds_of(file) for file in folder.rglob("*.tsv")]
        states = filter(None, map(load_state, folder.rglob("*.log")))
        ends = [state for state in states if state.state == FINISHED]
        # This job has no end yet, though its times may be those of an earlier run.
        if times and ends:
            peak, bound = max((end.memory_mb, end.allowed_mb) for end in ends)
            rules[folder.name] = {
                "jobs": len(times),
                "wall_seconds": round(sum(times), 2),
                "cpu_seconds": round(sum(end.cpu_seconds for end in ends), 2),
                "peak_memory_mb": peak,
                "mem_mb": bound,
            }
    return rules


class Facts(NamedTuple):
    """What the run says of itself, the same numbers more than once."""

    accounts: list[Path]
    text_facts: list[Path]
    facts: list[Path]
    admitted: Path
    allowed: Path
    duplicates: Path
    scattered: Path
    meta: Path
    edits: list[Path]
    languages: list[Path]


class Finished(NamedTuple):
    """What the folder is to remember of this run, and where."""

    plan: Path
    manifest: Path
    made: record.Made
    record: Path


def account_of(numbers: Facts, filters: list[str]) -> dict[str, Counter]:
    """The account of every source; ValueError if it does not balance, or is told otherwise."""
    account = balanced_account(
        numbers.accounts, numbers.text_facts, numbers.facts, dropping_fates(filters)
    )
    if faults := contradictions(
        account,
        numbers.admitted,
        numbers.allowed,
        numbers.duplicates,
        numbers.scattered,
        numbers.facts,
        numbers.meta,
        filters,
    ):
        raise ValueError("two numbers for one thing:\n" + "\n".join(faults))
    return account


class Told(NamedTuple):
    """What of the configuration is in the summary."""

    config_digest: str
    configuration: dict
    filters: list[str]
    span_unit: str


def edits_of(parts: list[Path]) -> dict[str, dict[str, int]]:
    """What filters cut out of the texts of all parts: `filter.rule` -> spans and bytes."""
    found: dict[str, Counter] = {}
    for part in parts:
        for rule, by_source in load_json(part)["by_rule"].items():
            for figures in by_source.values():
                found.setdefault(rule, Counter()).update(figures)
    return {rule: dict(figures) for rule, figures in found.items()}


def spans_of(whole: Counter, edits: dict[str, dict[str, int]], unit: str) -> dict:
    """What was cut as repeated spans: all that was cut but for what filters did."""
    cut = {figure: sum(one[figure] for one in edits.values()) for figure in ("spans", "bytes")}
    return {
        "unit": unit,
        "cut": whole["cut_spans"] - cut["spans"],
        "cut_bytes": whole["cut_bytes"] - cut["bytes"],
    }


def languages_of(blocks: list[Path]) -> dict[str, dict]:
    """Documents and bytes of every language, read and kept, and dropped for which reason, the most
    frequent first."""
    found: dict[str, Counter] = {}
    dropped: dict[str, Counter] = {}
    for file in blocks:
        for language, figures in load_json(file).items():
            dropped.setdefault(language, Counter()).update(figures.pop("dropped"))
            found.setdefault(language, Counter()).update(figures)
    ranked = sorted(found, key=lambda one: (-found[one]["read"], one))
    return {one: {**found[one], "dropped": dict(sorted(dropped[one].items()))} for one in ranked}


def remarks(
    whole: Counter,
    account: dict[str, Counter],
    spans: dict,
    edits: dict[str, dict[str, int]],
    tokenizer: dict,
    planted: dict | None,
) -> Iterator[str]:
    """What a person should know beside the table. whole: the account of all sources. tokenizer:
    corpusmill.json."""
    if not whole["copies"]:
        yield "WARNING: no document is left"
    if spans["unit"] != "none":
        yield (
            f"repeated spans ({spans['unit']}): {spans['cut']:,} cut, "
            f"{spans['cut_bytes'] / 1e6:,.2f} MB"
        )
    for rule, figures in edits.items():
        if figures["spans"]:
            yield f"cut by {rule}: {figures['spans']:,}, {figures['bytes'] / 1e6:,.2f} MB"
    yield from losses_in_words(account)
    yield f"documents end with {tokenizer['end_of_text']}, id {tokenizer['end_of_text_id']}"
    if steps := tokenizer["normalizer"]:
        yield f"the tokenizer's own normalizer changes texts: {', '.join(steps)}"
    for kind, figures in (planted or {}).items():
        yield f"planted {kind}: {figures['found']} of {figures['planted']} found"


def summarize(
    numbers: Facts,
    recall: list[Path],
    tokenizer: Path,
    config: Told,
    logs: Path,
    finished: Finished,
    summary: Path,
    readable: Path,
) -> None:
    account = account_of(numbers, config.filters)
    manifest = load_json(finished.manifest)
    fates = dropping_fates(config.filters)
    whole: Counter = Counter()
    for figures in account.values():
        whole.update(figures)
    planted = load_json(recall[0]) if recall else None
    ends = load_json(tokenizer / "corpusmill.json")
    edits, languages = edits_of(numbers.edits), languages_of(numbers.languages)
    spans = spans_of(whole, edits, config.span_unit)
    # First: a record that is of another run than the summary is of an earlier one.
    record.finish(finished.made, finished.plan, manifest, finished.record)
    told = {
        "corpusmill.summary": 1,
        **funnel(whole, fates),
        "sources": {name: funnel(figures, fates) for name, figures in account.items()},
        **({"spans": spans} if config.span_unit != "none" else {}),
        **({"edits": edits} if edits else {}),
        **({"languages": languages} if languages else {}),
        "balanced": True,
        "duplicates": load_json(numbers.duplicates)["dropped"],
        **({"planted": planted} if planted else {}),
        "config_digest": config.config_digest,
        "configuration": config.configuration,
        "tokenizer": {name: ends[name] for name in TOKENIZER},
        "manifest": manifest["sha256"],
        "versions": {"corpusmill": corpusmill.__version__, "python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in PACKAGES},
        "rules": measured(logs),
    }
    save_json(summary, told | {"sha256": own_digest(told)})
    lines = [table(account, fates), *remarks(whole, account, spans, edits, ends, planted)]
    save_text(readable, "\n".join(lines) + "\n", kept=True)
    logging.info("balanced\n%s", "\n".join(lines))


if __name__ == "__main__":
    job.run(summarize)
