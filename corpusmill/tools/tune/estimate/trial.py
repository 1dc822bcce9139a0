"""The sample milled in a folder of its own, with the run's configuration; what each job took."""

import os
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from corpusmill.mill.storage.files import load_json, save_plain_json
from corpusmill.run.config import Config
from corpusmill.run.job_list import JOB_LIST, load_job_list
from corpusmill.run.job_progress import Phase
from corpusmill.run.measurements import seconds_of
from corpusmill.run.typed import as_given
from corpusmill.run.workflow_files import snakemake_with_workflow

OF_KEPT = ("scatter", "corpus", "tokens", "placements")
"""Folders of results that do likewise."""

OF_ANY = ("tokenizer", "report", "plan", "holdout", "verify")
"""Those as large for any corpus, about."""

RULE = re.compile(
    r"^(?:local)?rule (\w+):\n(?:    .*\n)*?    resources: .*?\bmem_mb=(\d+)", re.MULTILINE
)


OF_SNAKEMAKE = re.compile(r"Config file .* by additional config specified via")
"""What it says before the fault that ends it."""

LOOK_EVERY_SECONDS = 0.2

CPU_SECONDS = re.compile(r"finished: [\d.]+ s, ([\d.]+) s of CPU")


class Work(NamedTuple):
    """What a job took."""

    rule: str
    bytes: float
    """Of text that it had: read, or kept, for steps that follow from it."""
    seconds: float
    cpu_seconds: float


class Trial(NamedTuple):
    text_bytes: int  # read
    documents: int
    kept_bytes: int  # copies and all
    kept: int
    tokens: int
    jobs: list[Work]
    seconds: float
    folders: dict[str, int]
    """Bytes of each folder of results; "" for files beside them."""


class Plan(NamedTuple):
    """Of the whole run."""

    jobs: Counter[str]
    mem_mb: dict[str, int]
    """Of the largest job of a rule."""


def stand_in(folder: Path) -> None:
    """Make a folder in which the relative paths of a configuration mean what they mean here, and
    where nothing of a run is yet."""
    for path in Path.cwd().iterdir():
        if path.name not in ("results", "logs", ".snakemake"):
            (folder / path.name).symlink_to(path.absolute())


def _snakemake(folder: Path, config: Config, *arguments: str) -> list[str]:
    save_plain_json(folder / "corpusmill-estimate.json", as_given(config))
    return [
        *snakemake_with_workflow(), "--directory", str(folder),
        "--configfile", str(folder / "corpusmill-estimate.json"), *arguments,
    ]  # fmt: skip


def _ended_well(command: Sequence[str], said: str, code: int) -> None:
    if code:
        lines = [line for line in said.strip().splitlines() if not OF_SNAKEMAKE.match(line)]
        last = "\n".join(lines[-12:])
        raise ValueError(f"a run of a sample failed, and the whole one would:\n{last}")


class Planning:
    """Snakemake asked what the whole run would do, while something else is done."""

    def __init__(self, folder: Path, config: Config) -> None:
        folder.mkdir()
        stand_in(folder)
        self._command = _snakemake(folder, config, "--cores", "1", "--dry-run")
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def plan(self) -> Plan:
        said, _ = self._process.communicate()
        _ended_well(self._command, said, self._process.returncode)
        jobs: Counter[str] = Counter()
        mem_mb: dict[str, int] = {}
        for rule, megabytes in RULE.findall(said):
            jobs[rule] += 1
            mem_mb[rule] = max(mem_mb.get(rule, 0), int(megabytes))
        return Plan(jobs, mem_mb)

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def trial_config(config: Config, files: dict[str, list[Path]]) -> Config:
    """The same for the files of a sample; nothing that a sample may not keep stops it."""
    of_name = {source.name: source for source in config.sources}
    sources = [
        replace(
            of_name[name],
            files=[str(path) for path in paths],
            max_malformed_fraction=1,
            max_dropped_fraction=1,
            max_duplicate_fraction=1,
        )
        for name, paths in files.items()
        if paths
    ]
    # The small file is a part, the one behind it another; and few, as each has a dozen jobs.
    sizes = [path.stat().st_size for paths in files.values() for path in paths]
    part_bytes = max(sizes[1] if len(sizes) > 1 else 0, sum(sizes) // 3, 1 << 16)
    return replace(
        config,
        sources=[*sources, *config.held_out],
        input=replace(config.input, part_bytes=part_bytes, verify="never"),
        # A sample may be shorter than one of theirs.
        output=replace(config.output, exports=[]),
        dedup=replace(config.dedup, max_group_texts=None),
        tokenizer=replace(config.tokenizer, max_lost_fraction=1),
    )


def milled(
    config: Config, files: dict[str, list[Path]], folder: Path, cores: int, progress: Phase
) -> Trial:
    """progress: counts jobs."""
    folder.mkdir()
    stand_in(folder)
    command = _snakemake(
        folder, trial_config(config, files), "--cores", str(cores), "--quiet", "all"
    )
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        try:
            while (code := _ended(process)) is None:
                _count(folder, progress)
        finally:
            process.kill()
            process.wait()
        seconds = time.perf_counter() - started
        said.seek(0)
        _ended_well(command, said.read(), code)
    return _found(folder, seconds)


def _ended(process: subprocess.Popen) -> int | None:
    """The exit code; None if it still runs after a moment."""
    try:
        return process.wait(LOOK_EVERY_SECONDS)
    except subprocess.TimeoutExpired:
        return None


def _count(folder: Path, progress: Phase) -> None:
    """How many jobs have ended, as soon as it is known how many there are."""
    if not progress.total and (folder / JOB_LIST).exists():
        rules = load_job_list(folder / JOB_LIST).rules
        progress.total = sum(len(jobs.logs) for jobs in rules.values())
    progress.done = sum(1 for _ in (folder / "logs").rglob("*.tsv"))


def _found(folder: Path, seconds: float) -> Trial:
    results = folder / "results"
    read = [load_json(path) for path in sorted(results.glob("text/*.json"))]
    shards = {path: load_json(path) for path in sorted(results.glob("corpus/*/*.json"))}
    tokens = [load_json(path) for path in sorted(results.glob("tokens/*/*.json"))]
    of_text = [
        sum(one.get("text_bytes", 0) for one in counts["by_source"].values()) for counts in read
    ]
    of_shard = {
        f"{path.parent.name}/{path.stem}": sum(
            one["text_bytes"] for one in counts["by_source"].values()
        )
        for path, counts in shards.items()
    }
    kept_bytes = sum(of_shard.values())
    return Trial(
        text_bytes=sum(of_text),
        documents=sum(counts["documents"] for counts in read),
        kept_bytes=kept_bytes,
        kept=sum(counts["documents"] for counts in shards.values()),
        tokens=sum(counts["tokens"] for counts in tokens),
        jobs=list(_works(folder / "logs", of_text, of_shard)),
        seconds=seconds,
        folders=_sizes(results),
    )


def _works(logs: Path, of_text: list[int], of_shard: dict[str, int]) -> Iterator[Work]:
    """Every job, by its log's name: a part, a shard, or something of all."""
    for path in sorted(logs.rglob("*.tsv")):
        rule, *which = path.relative_to(logs).with_suffix("").parts
        jobs = len(list((logs / rule).rglob("*.tsv")))
        if "/".join(which) in of_shard:
            amount = float(of_shard["/".join(which)])
        elif which[0].isdigit() and jobs == len(of_text):
            amount = float(of_text[int(which[0])])
        else:
            amount = sum(of_text) / jobs
        if rule == "scatter":  # its part's share of what is kept
            amount *= sum(of_shard.values()) / max(sum(of_text), 1)
        yield Work(rule, amount, *_seconds(path))


def _seconds(benchmark: Path) -> tuple[float, float]:
    """Of a job, on the clock; and of CPU, as its log has them."""
    log = benchmark.with_suffix(".log").read_text("utf-8")
    return seconds_of(benchmark), float(CPU_SECONDS.findall(log)[-1])


def _sizes(results: Path) -> dict[str, int]:
    found: Counter[str] = Counter()
    for root, _, names in os.walk(results):
        place = Path(root).relative_to(results).parts
        folder = place[0] if place else ""
        found[folder] += sum((Path(root) / name).stat().st_size for name in names)
    return dict(found)
