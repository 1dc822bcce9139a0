"""The sample milled by the real rules in a separate folder, and the plan of the whole run."""

import os
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corpusmill.mill.decide.shares import PROPORTIONAL
from corpusmill.mill.storage.files import load_json, save_plain_json
from corpusmill.run.config import Config
from corpusmill.run.job_progress import Phase
from corpusmill.run.measurements import finished_jobs
from corpusmill.run.mixture_config import By, MixtureKeys, StageKeys
from corpusmill.run.snakemake_events import heard
from corpusmill.run.typed import as_given
from corpusmill.run.workflow_files import snakemake_with_workflow

LAST_LINES = 12
MOST_EPOCHS, MOST_COPIES = 4, 1000
"""Maximum size of a trial's mixture, relative to its sample, and of copies of a document. A sample
of which little is kept needs many."""


class Trial(NamedTuple):
    text_bytes: int  # read
    kept_bytes: int  # with copies
    available_bytes: int  # without copies, before a mixture
    tokens: int
    tokens_per_byte: dict[str, float]
    """By source, as far as it has tokens."""
    epochs: dict[str, float]
    """Of train or each stage, if a mixture composes it."""
    jobs: dict[str, np.ndarray]
    """Maps each rule to float64 (jobs, 3): bytes of text, read or kept depending on the step;
    seconds; CPU seconds."""
    seconds: float
    folders: dict[str, int]
    """Bytes of each result folder; "" for files outside of folders."""


class Plan(NamedTuple):
    """The jobs of the whole run."""

    jobs: Counter[str]
    mem_mb: dict[str, int]
    """Memory of the largest job of each rule."""


class Workflow:
    """Snakemake with this workflow in a separate folder, and its output about jobs."""

    def __init__(
        self, folder: Path, config: Config, *options: str, progress: Phase | None = None
    ) -> None:
        """Start it. progress: counts jobs."""
        stand_in(folder)
        self._progress, self._refused = progress, ""
        self.plan = Plan(Counter(), {})
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by stop
        self._process, self._reader = heard(
            _snakemake(folder, config, *options), self._hear, self._said
        )

    def _hear(self, event: dict) -> None:
        match event["event"]:
            case "job":
                rule, mem_mb = event["rule"], self.plan.mem_mb
                self.plan.jobs[rule] += 1
                mem_mb[rule] = max(mem_mb.get(rule, 0), event["mem_mb"])
            case "jobs" if self._progress:
                self._progress.total = sum(event["counts"].values())
            case "finished" if self._progress:
                self._progress.advance(1)
            case "refused":
                self._refused = event["text"]

    def end(self) -> Plan:
        """Wait for the end. Raise ValueError with the reason if it fails."""
        code = self._process.wait()
        # A job left by a failed run may hold the pipe.
        self._reader.join(1 if code else None)
        if code:
            self._said.seek(0)
            last = self._said.read().strip().splitlines()[-LAST_LINES:]
            reason = self._refused or "\n".join(last)
            raise ValueError(
                f"a run of a sample failed, so the whole run would fail too:\n{reason}"
            )
        return self.plan

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._said.close()


def stand_in(folder: Path) -> None:
    """Make a folder in which the relative paths of a configuration lead to the same files, but
    without results."""
    folder.mkdir()
    for path in Path.cwd().iterdir():
        if path.name not in ("results", "logs", ".snakemake"):
            (folder / path.name).symlink_to(path.absolute())


def _snakemake(folder: Path, config: Config, *options: str) -> list[str]:
    save_plain_json(folder / "corpusmill-estimate.json", as_given(config))
    return [
        *snakemake_with_workflow(), "--directory", str(folder),
        "--configfile", str(folder / "corpusmill-estimate.json"), "--quiet", "all", *options,
    ]  # fmt: skip


def trial_config(config: Config, files: dict[str, list[Path]], text_bytes: float) -> Config:
    """Return the configuration for the files of a sample, without limits that a sample may
    exceed. text_bytes: of all input files."""
    sources = [
        replace(
            source,
            files=list(map(str, files[source.name])),
            max_malformed_fraction=1,
            max_dropped_fraction=1,
            max_duplicate_fraction=1,
        )
        for source in config.milled
        if files.get(source.name)
    ]
    # The small file is one part, the next another. Few parts, as each takes a dozen jobs.
    sizes = [path.stat().st_size for paths in files.values() for path in paths]
    part_bytes = max(sizes[1] if len(sizes) > 1 else 0, sum(sizes) // 3, 1 << 16)
    return replace(
        scaled_mixtures(config, files, text_bytes),
        sources=[*sources, *config.held_out],
        input=replace(config.input, part_bytes=part_bytes, verify="never"),
        # A sample may be shorter than the shipped lengths.
        output=replace(config.output, exports=[]),
        dedup=replace(config.dedup, max_group_texts=None),
        tokenizer=replace(config.tokenizer, max_lost_fraction=1),
    )


def scaled_mixtures(config: Config, files: dict[str, list[Path]], text_bytes: float) -> Config:
    """Return a configuration whose mixtures take as much of a sample, in proportion, as those given
    take of all files. In a sample a cell may be empty or small, so shares are proportional."""
    paths = [path for some in files.values() for path in some]
    size = sum(path.stat().st_size for path in paths)
    lines = sum(path.read_bytes().count(b"\n") for path in paths)
    most = {"bytes": size, "tokens": size // 3, "documents": lines}
    there = [name for name, some in files.items() if some]

    def scaled(given: dict[str, Any]) -> dict[str, Any]:
        taken = {name: given[name] for name in ("by", "budget") if given.get(name) is not None}
        if by := taken.get("by"):
            taken["by"] = [By.of(one).among(there).entry for one in by]
        if budget := taken.get("budget"):
            ((unit, total),) = budget.items()
            of_sample = int(total * min(1.0, size / max(text_bytes, 1)))
            taken["budget"] = {unit: max(1, min(of_sample, MOST_EPOCHS * most[unit]))}
        return given | taken

    def loose(keys: MixtureKeys) -> dict[str, Any]:
        found = {"shares": PROPORTIONAL, "on_shortage": "rescale"}
        if keys.budget.size is None:
            return found
        # A budget in documents is planned as if each had the maximum of copies.
        of_documents = keys.budget.unit == "documents"
        return found | {"max": MOST_COPIES // 10 if of_documents else MOST_COPIES}

    shared = config.mixture
    mixture = scaled(as_given(shared)) | loose(shared) | {"max_epochs": None}
    stages = []
    for one in config.stages:
        stage = scaled(as_given(one)) | loose(one.mixture(shared))
        strict = ("max_epochs", "exclude")
        stages.append({name: value for name, value in stage.items() if name not in strict})
    return replace(
        config,
        mixture=MixtureKeys.of(mixture) if config.mixtures else shared,
        stages=[StageKeys.of(one) for one in stages],
    )


def milled(
    config: Config,
    files: dict[str, list[Path]],
    text_bytes: float,
    folder: Path,
    cores: int,
    progress: Phase,
) -> Trial:
    """Mill the sample. text_bytes: of all input files. progress: counts jobs."""
    started = time.perf_counter()
    config = trial_config(config, files, text_bytes)
    workflow = Workflow(folder, config, "--cores", str(cores), progress=progress)
    try:
        workflow.end()
    finally:
        workflow.stop()
    return _found(folder, time.perf_counter() - started)


def _text_bytes(counts: dict) -> int:
    return sum(one.get("text_bytes", 0) for one in counts["by_source"].values())


def _found(folder: Path, seconds: float) -> Trial:
    results = folder / "results"
    of_text = [_text_bytes(load_json(path)) for path in sorted(results.glob("text/*.json"))]
    of_shard = {
        f"{path.parent.name}/{path.stem}": _text_bytes(load_json(path))
        for path in results.glob("corpus/*/*.json")
    }
    summary = load_json(results / "summary.json")
    sources = summary["sources"]
    return Trial(
        text_bytes=sum(of_text),
        kept_bytes=sum(of_shard.values()),
        available_bytes=sum(
            one["bytes"]["kept"] + one["bytes"]["dropped"].get("left_over", 0)
            for one in sources.values()
        ),
        tokens=sum(load_json(results / f"tokens/{name}.json")["tokens"] for name in of_shard),
        tokens_per_byte={
            name: sum(one["tokens"].values()) / one["bytes"]["written"]
            for name, one in sources.items()
            if one["bytes"].get("written")
        },
        epochs={
            split: sum(cell["reached"] for cell in one["cells"])
            / max(sum(cell["size"] for cell in one["cells"]), 1)
            for split, one in (summary.get("mixture") or {}).items()
        },
        jobs=_works(folder / "logs", of_text, of_shard),
        seconds=seconds,
        folders=_sizes(results),
    )


def _works(logs: Path, of_text: list[int], of_shard: dict[str, int]) -> dict[str, np.ndarray]:
    """Return the costs of every job by the name of its log: for a part, a shard, or the whole."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    kept_share = sum(of_shard.values()) / max(sum(of_text), 1)
    ends = finished_jobs(logs)
    jobs_of = Counter(log.relative_to(logs).parts[0] for log in ends)
    for log, end in ends.items():
        rule, *which = log.relative_to(logs).with_suffix("").parts
        jobs = jobs_of[rule]
        if "/".join(which) in of_shard:
            amount = float(of_shard["/".join(which)])
        elif which[0].isdigit() and jobs == len(of_text):
            amount = float(of_text[int(which[0])])
        else:
            amount = sum(of_text) / jobs
        amount *= kept_share if rule == "scatter" else 1  # its share of what is kept
        found.setdefault(rule, []).append((amount, end.seconds, end.cpu_seconds))
    return {rule: np.array(jobs) for rule, jobs in found.items()}


def _sizes(results: Path) -> dict[str, int]:
    found: Counter[str] = Counter()
    for root, _, names in os.walk(results):
        place = Path(root).relative_to(results).parts
        found[place[0] if place else ""] += sum((Path(root) / name).stat().st_size
                                                for name in names)  # fmt: skip
    return dict(found)
