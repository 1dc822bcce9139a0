"""Add up the accounts of all parts and shards; fail if a document is unaccounted for."""

import csv
import importlib.metadata
import logging
import platform
import re
from collections import Counter
from pathlib import Path

import corpusmill
from corpusmill.documents.accounts import balanced_account, funnel, losses_in_words, table
from corpusmill.documents.cross_checks import contradictions
from corpusmill.run import record as run_record
from corpusmill.run.job import this_job
from corpusmill.storage.files import load_json, replacing, save_json

PACKAGES = ["snakemake", "numpy", "numba", "pyarrow", "zstandard", "msgspec", "datasketch",
            "transformers", "tokenizers", "gigatoken"]  # fmt: skip


def measured(logs: Path) -> dict[str, dict]:
    """Per rule: jobs, seconds of all jobs, and the largest memory of one.

    Seconds are Snakemake's, start of the job included. Memory is what the job itself says at its
    end: Snakemake looks only now and then, and misses short jobs.
    """
    rules = {}
    for folder in sorted(path for path in logs.iterdir() if path.is_dir()):
        times = [row["s"] for file in folder.rglob("*.tsv") for row in tab_separated(file)]
        peaks = [
            int(found[1])
            for file in folder.rglob("*.log")
            if (found := re.search(r"peak memory (\d+) MB", file.read_text("utf-8")))
        ]
        if times:
            rules[folder.name] = {
                "jobs": len(times),
                "wall_seconds": round(sum(map(float, times)), 2),
                "peak_memory_mb": max(peaks, default=None),
            }
    return rules


def tab_separated(file: Path) -> csv.DictReader:
    return csv.DictReader(file.read_text("utf-8").splitlines(), delimiter="\t")


def summarize(
    account: dict[str, Counter],
    duplicates: Path,
    recall: list[Path],
    tokenizer: Path,
    config_digest: str,
    span_unit: str,
    logs: Path,
    summary: Path,
    readable: Path,
) -> None:
    """account: of every source, balanced."""
    whole: Counter = Counter()
    for figures in account.values():
        whole.update(figures)
    planted = load_json(recall[0]) if recall else None
    spans = {"unit": span_unit, "cut": whole["cut_spans"], "cut_bytes": whole["cut_bytes"]}
    save_json(
        summary,
        {
            "corpusmill.summary": 1,
            **funnel(whole),
            "sources": {name: funnel(figures) for name, figures in account.items()},
            **({"spans": spans} if span_unit != "none" else {}),
            "balanced": True,
            "duplicates": load_json(duplicates)["dropped"],
            **({"planted": planted} if planted else {}),
            "config_digest": config_digest,
            "versions": {"corpusmill": corpusmill.__version__, "python": platform.python_version()}
            | {name: importlib.metadata.version(name) for name in PACKAGES},
            "rules": measured(logs),
        },
    )
    lines = [table(account)]
    if not whole["copies"]:
        lines.append("WARNING: no document is left")
    if span_unit != "none":
        lines.append(
            f"repeated spans ({span_unit}): {spans['cut']:,} cut, "
            f"{spans['cut_bytes'] / 1e6:,.2f} MB"
        )
    lines += losses_in_words(account)
    if steps := load_json(tokenizer / "corpusmill.json")["normalizer"]:
        lines.append(f"the tokenizer's own normalizer changes texts: {', '.join(steps)}")
    lines += [
        f"planted {kind}: {figures['found']} of {figures['planted']} found"
        for kind, figures in (planted or {}).items()
    ]
    with replacing(readable) as temporary:
        temporary.write_text("\n".join(lines) + "\n", "utf-8")
    logging.info("balanced\n%s", "\n".join(lines))


if __name__ == "__main__":
    with this_job() as job:
        files = job.input
        account = balanced_account(files.accounts, files.text_facts, files.facts)
        if faults := contradictions(
            account, files.admitted, files.duplicates, files.scattered, files.facts, files.meta
        ):
            raise ValueError("two numbers for one thing:\n" + "\n".join(faults))
        summarize(
            account=account,
            duplicates=job.input.duplicates,
            recall=job.input.recall,
            tokenizer=job.input.tokenizer,
            config_digest=job.params.config_digest,
            span_unit=job.params.span_unit,
            logs=Path("logs"),
            summary=job.output.summary,
            readable=job.output.readable,
        )
        run_record.finish(job.params.made, job.input.plan)
