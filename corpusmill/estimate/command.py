"""From a configuration to what a run of it would keep, take and leave; in words and as JSON."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from corpusmill.estimate.duplicates import ALL, Groups, groups_of, similar_pairs
from corpusmill.estimate.projection import Estimate, estimated
from corpusmill.estimate.reading import ReadTexts, read_some
from corpusmill.estimate.trial import Planning, milled
from corpusmill.kernels.cache import are_compiled
from corpusmill.report.columns import aligned
from corpusmill.run.config import band_setting
from corpusmill.run.disk import amount, free_bytes
from corpusmill.run.layout import Layout
from corpusmill.run.progress import phase


class Options(NamedTuple):
    cores: int
    read_megabytes: int


def estimate(config: dict, layout: Layout, options: Options) -> Estimate:
    cores = min(options.cores, len(os.sched_getaffinity(0)))
    compiled = are_compiled()
    with tempfile.TemporaryDirectory(prefix="corpusmill-estimate-") as temporary:
        folder = Path(temporary)
        planning = Planning(folder / "plan", config)
        try:
            with phase("reading") as progress:
                reading = read_some(
                    config, layout, options.read_megabytes * 1_000_000, folder, progress
                )
            with phase("comparing"):
                groups = compared(config, reading.texts)
            plan = planning.plan()
        finally:
            planning.stop()
        if not any(reading.trial.values()):
            raise ValueError(
                "expected documents in what was read of the input files, found none. Correct "
                "sources[].files, or read more with --read."
            )
        if not compiled:
            # What compiling takes, once on a machine, is no time of this run's.
            with phase("compiling kernels"):
                milled(config, reading.trial, folder / "first", cores)
        with phase("milling a sample"):
            trial = milled(config, reading.trial, folder / "trial", cores)
    return estimated(config, reading, groups, trial, plan, (options.cores, cores))


def compared(config: dict, texts: ReadTexts) -> Groups:
    dedup = config["dedup"]
    bands, rows = band_setting(config)
    pairs = similar_pairs(
        texts.signatures, bands, rows, dedup["threshold"], dedup["method"] == "verified"
    )
    return groups_of(texts.digests, pairs, texts.digests.size)


def in_json(found: Estimate) -> dict[str, Any]:
    return {
        "corpusmill.estimate": 1,
        **found._asdict(),
        "duplicates": found.duplicates._asdict(),
        "stages": [stage._asdict() for stage in found.stages],
    }


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes else f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min"


def told(found: Estimate) -> Iterator[str]:
    share = found.kept / max(found.documents, 1)
    passed = found.filtered / max(found.documents, 1)
    yield f"read         {found.documents:,.0f} documents, {amount(found.text_bytes)} of text"
    yield f"filtered     {found.filtered:,.0f} stay ({passed:.1%})"
    yield _duplicates(found)
    yield (
        f"kept         {found.kept:,.0f} documents ({share:.1%}, copies by weight counted), "
        f"{amount(found.kept_bytes)} of text"
    )
    yield f"tokens       {found.tokens:,.0f}"
    free = free_bytes(Path("results"))
    yield (
        f"disk         {amount(found.disk_bytes)} when it ends, {amount(found.kept_disk_bytes)} of "
        f"it to keep; {amount(free)} free here"
    )
    yield (
        f"time         {duration(found.seconds)} on {found.cores} cores like those here; "
        f"{duration(found.cpu_seconds)} of CPU"
    )
    yield ""
    rows = [
        [stage.name, f"{stage.jobs:,}", f"{stage.seconds:,.0f} s", f"{stage.mem_mb:,} MB"]
        for stage in found.stages
    ]
    yield aligned([["stage", "jobs", "of one core", "a job may hold"], *rows])
    yield ""
    yield from _doubts(found)


def _duplicates(found: Estimate) -> str:
    likely, least, most = found.duplicates
    if found.taken_share > ALL:
        return f"duplicates   {likely:,.0f}"
    return (
        f"duplicates   {likely:,.0f}, from {least:,.0f} to {min(most, found.filtered):,.0f}: "
        f"estimated from {found.compared:,} documents"
    )


def _doubts(found: Estimate) -> Iterator[str]:
    if found.exports_disk_bytes:
        yield (f"Exports are in the disk ({amount(found.exports_disk_bytes)}) and not in the time.")
    if found.taken_share > ALL:
        yield "All was compared. Time and tokens are those of a sample that was milled."
        return
    yield (
        f"{found.taken_share:.1%} of the text was compared. A document whose duplicate was not "
        "looks like none: the number of duplicates is a guess between the least and the most that "
        "this sample allows. Packed files are read from their beginning; if that is unlike the "
        "rest, so is all above. More is read with --read."
    )
