"""Project the figures of a sample to the whole corpus."""

from typing import NamedTuple

import numpy as np

from corpusmill.mill.decide.fates import TRAIN
from corpusmill.run.config import Config
from corpusmill.run.steps import STAGES, STEPS, stage_of
from corpusmill.tools.export.exporting import disk_share
from corpusmill.tools.tune.estimate.duplicates import Groups, Range, duplicates_in_all
from corpusmill.tools.tune.estimate.mixing import ExpectedMixture, Sampled, expected_mixtures
from corpusmill.tools.tune.estimate.reading import Reading, Texts
from corpusmill.tools.tune.estimate.trial import Plan, Trial

SNAKEMAKE_JOB_SECONDS = 0.01
"""Snakemake's own time per job, measured in runs of 5,000 jobs."""

KEPT_FOLDERS = ("corpus", "tokens", "placements", "ledger", "tokenizer", "report", "clusters",
                "exports", "")  # fmt: skip
"""Folders in README's table of outputs."""

OF_KEPT = ("scatter", "corpus", "tokens", "placements")
"""Result folders whose size is proportional to the kept text."""

OF_ANY = ("tokenizer", "report", "plan", "holdout", "verify")
"""Result folders whose size hardly depends on the corpus."""


class Stage(NamedTuple):
    name: str
    jobs: int
    seconds: float  # sum over jobs
    cpu_seconds: float
    mem_mb: int


class Estimate(NamedTuple):
    records: float
    documents: float
    text_bytes: float
    filtered: float  # documents that pass the filters
    duplicates: Range
    kept: float
    kept_bytes: float  # with copies
    tokens: float
    stages: list[Stage]
    seconds: float  # of the whole run, on `cores`
    cpu_seconds: float  # of its jobs
    cores: int
    disk_bytes: float  # during the run, and at its end
    kept_disk_bytes: float
    taken_share: float  # of the bytes of all input files: filtered and compared
    compared: int  # documents from which duplicates are estimated
    exports_disk_bytes: float  # part of the disk
    milled_bytes: int  # of text, in the milled sample
    mixture: dict[str, ExpectedMixture]  # of train or each stage; empty without a mixture


def line_through(sizes: np.ndarray, seconds: np.ndarray, start: float) -> tuple[float, float]:
    """Fit a line: seconds of a job without text, and per byte of text, both at least 0. start:
    seconds of any job, used if all had equal text."""
    if np.ptp(sizes) > 0.5 * sizes.max():
        slope, base = np.polyfit(sizes, seconds, 1)
        if slope > 0 and base > 0:
            return float(base), float(slope)
    base = min(start, float(seconds.mean()))
    return base, float((seconds.mean() - base) / max(sizes.mean(), 1))


def start_of_jobs(of_rule: dict[str, np.ndarray], clock: int) -> float:
    """Estimate a job's fixed time, from the rules whose jobs had different amounts of text.

    Not the minimum: other rules take as long to start as most of these.
    """
    bases = {
        rule: line_through(rows[:, 0], rows[:, clock], np.inf)[0] for rule, rows in of_rule.items()
    }
    of_two = [base for rule, base in bases.items() if np.ptp(of_rule[rule][:, 0])]
    return float(np.quantile(of_two or list(bases.values()), 0.75))


def stages_of(trial: Trial, plan: Plan, text_bytes: float, kept_bytes: float) -> list[Stage]:
    starts = {clock: start_of_jobs(trial.jobs, clock) for clock in (1, 2)}
    stages: dict[str, list[Stage]] = {}
    for rule, rows in trial.jobs.items():
        amount = kept_bytes if STEPS[rule].follows_kept else text_bytes
        # Training a tokenizer or writing a page takes the same for any corpus.
        amount = float(rows[:, 0].sum()) if rule in ("tokenizer", "report") else amount
        count, seconds = plan.jobs[rule] or len(rows), {}
        for clock, start in starts.items():
            base, per_byte = line_through(rows[:, 0], rows[:, clock], start)
            seconds[clock] = base * count + per_byte * amount
        one = Stage(stage_of(rule), count, seconds[1], seconds[2], plan.mem_mb.get(rule, 0))
        stages.setdefault(one.name, []).append(one)
    return [
        Stage(
            name,
            sum(one.jobs for one in stages[name]),
            sum(one.seconds for one in stages[name]),
            sum(one.cpu_seconds for one in stages[name]),
            max(one.mem_mb for one in stages[name]),
        )
        for name in STAGES
        if name in stages
    ]


def disk_of(trial: Trial, text_bytes: float, kept_bytes: float) -> dict[str, float]:
    """Return the bytes of each result folder."""
    by_text = text_bytes / max(trial.text_bytes, 1)
    by_kept = kept_bytes / max(trial.kept_bytes, 1)
    return {
        folder: size * (1 if folder in OF_ANY else by_kept if folder in OF_KEPT else by_text)
        for folder, size in trial.folders.items()
    }


def kept_in_all(
    config: Config, reading: Reading, dropped: np.ndarray, more: float, trial: Trial
) -> tuple[float, float]:
    """Return documents and bytes kept, with copies by weight.

    dropped: bool (documents that were compared,). more: factor for duplicates of documents outside
    the sample.
    """
    texts, count = reading.texts, len(reading.sources)
    weights = {source.name: source.weight for source in config.sources}
    copies = np.array([one.weight * weights[one.name] for one in reading.sources])

    def staying(values: np.ndarray) -> float:
        whole, gone = texts.by_source(count, values), texts.by_source(count, values * dropped)
        return float(copies @ np.maximum(whole - more * gone, 0))

    documents, bytes = staying(np.ones(dropped.size)), staying(texts.sizes)
    if config.spans.unit != "none":  # no filter has seen the text after spans are cut
        share = trial.kept_bytes / max(trial.text_bytes, 1)
        bytes *= min(1.0, share * reading.text_bytes / max(bytes, 1))
    return documents, bytes


def sample_of_train(
    config: Config, reading: Reading, dropped: np.ndarray, more: float, trial: Trial
) -> Sampled:
    """Return what the sampled documents that the filters keep stand for in train, before a mixture.
    dropped, more: as for `kept_in_all`."""
    texts, sources = reading.texts, reading.sources
    weights = np.array([config.weights[one.name] for one in sources])
    documents = np.array([one.weight for one in sources])
    stays = (documents * (weights > 0))[texts.sources] * (1 - more * dropped)
    sizes = texts.sizes.astype(float)
    if config.spans.unit != "none":  # no filter has seen the text after spans are cut
        share = trial.available_bytes / max(trial.text_bytes, 1)
        read = sum(one.weight * one.text_bytes for one in sources)
        sizes *= min(1.0, share * read / max(float(stays @ sizes), 1))
    usual = trial.tokens / max(trial.kept_bytes, 1)
    tokens = np.array([trial.tokens_per_byte.get(one.name, usual) for one in sources])
    return Sampled(config.splits.fractions[TRAIN] * stays, weights[texts.sources], sizes,
                   sizes * tokens[texts.sources])  # fmt: skip


def written_in_all(
    config: Config, mixture: dict[str, ExpectedMixture], texts: Texts, sampled: Sampled
) -> tuple[float, float, float]:
    """Return documents, bytes and tokens of all splits. Only validation and test have no
    mixture."""
    of_all = config.splits.fractions[TRAIN]
    others = (1 - of_all) / of_all
    count = int(texts.sources.max(initial=0)) + 1
    found = []
    for unit in ("documents", "bytes", "tokens"):
        of_train = texts.by_source(count, sampled.stays * sampled.sizes(unit))
        written = sum(getattr(one, unit) for one in mixture.values())
        found.append(written + others * float(np.maximum(of_train, 0).sum()))
    return found[0], found[1], found[2]


def estimated(
    config: Config,
    reading: Reading,
    groups: Groups,
    trial: Trial,
    plan: Plan,
    cores: tuple[int, int],
) -> Estimate:
    """Return the estimate. cores: of the run, and of the trial."""
    sources = reading.sources
    # Both documents of a pair have to be in the sample.
    whole = sum(one.bytes for one in sources)
    taken_share = sum(one.share * one.bytes for one in sources) / max(whole, 1)
    duplicates = duplicates_in_all(groups, taken_share)
    text_bytes = reading.text_bytes
    more = duplicates.likely / max(duplicates.least, 1)
    kept, kept_bytes = kept_in_all(config, reading, groups.dropped, more, trial)
    tokens = trial.tokens / max(trial.kept_bytes, 1) * kept_bytes
    mixture: dict[str, ExpectedMixture] = {}
    if config.mixtures:
        sampled = sample_of_train(config, reading, groups.dropped, more, trial)
        cells = list(zip(reading.cells, reading.texts.cells.T, strict=True))
        mixture = expected_mixtures(config.composed, cells, sampled, trial.epochs)
        kept, kept_bytes, tokens = written_in_all(config, mixture, reading.texts, sampled)
    stages = stages_of(trial, plan, text_bytes, kept_bytes)
    # Waiting for a job or for Snakemake: the same in any run, plus a little per job.
    costs = np.concatenate(list(trial.jobs.values()))
    waiting = max(trial.seconds - float(costs[:, 1].sum()) / cores[1], 0)
    waiting += SNAKEMAKE_JOB_SECONDS * max(plan.jobs.total() - len(costs), 0)
    disk = disk_of(trial, text_bytes, kept_bytes)
    disk["exports"] = disk_share(config.output.exports) * disk.get("tokens", 0)
    return Estimate(
        records=sum(one.records for one in sources),
        documents=sum(one.documents for one in sources),
        text_bytes=text_bytes,
        filtered=float(reading.texts.by_source(len(sources)) @ [one.weight for one in sources]),
        duplicates=duplicates,
        kept=kept,
        kept_bytes=kept_bytes,
        tokens=tokens,
        stages=stages,
        seconds=waiting + sum(stage.seconds for stage in stages) / cores[0],
        cpu_seconds=sum(stage.cpu_seconds for stage in stages),
        cores=cores[0],
        disk_bytes=sum(disk.values()),
        kept_disk_bytes=sum(size for folder, size in disk.items() if folder in KEPT_FOLDERS),
        taken_share=taken_share,
        compared=reading.texts.sizes.size,
        exports_disk_bytes=disk["exports"],
        milled_bytes=trial.text_bytes,
        mixture=mixture,
    )
