"""From a configuration to the output, time, memory and disk space of its run, in words and as
JSON."""

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from corpusmill.kernels.cache import are_compiled
from corpusmill.messages.progress import Progress
from corpusmill.messages.text_tables import aligned
from corpusmill.mill.read.first_records import Asked, faults_of
from corpusmill.run.config import Config
from corpusmill.run.disk import amount, free_bytes
from corpusmill.run.early_shortages import certain_shortages
from corpusmill.run.job_progress import duration, phase
from corpusmill.run.layout import Layout
from corpusmill.tools.tune.estimate.duplicates import ALL, Groups, groups_of, similar_pairs
from corpusmill.tools.tune.estimate.mixing import in_json as mixtures_in_json
from corpusmill.tools.tune.estimate.mixing import told_of_mixtures
from corpusmill.tools.tune.estimate.projection import Estimate, estimated
from corpusmill.tools.tune.estimate.reading import Sizes, Texts, read_some
from corpusmill.tools.tune.estimate.trial import Workflow, milled

PILOT_BYTES = 3_000_000
"""Bytes of text that are read first, to measure how fast this machine reads and filters text."""

READING, TAKING, MILLING = 0.1, 0.2, 0.2
"""Shares of the time: for reading, for filtering and comparing, for milling. The rest is for fixed
costs, mostly job starts."""

MILLING_PER_TAKING = 4
"""Approximate time of milling a text, relative to filtering and sketching it here."""


class Options(NamedTuple):
    cores: int
    read_megabytes: int
    seconds: float


def estimate(config: Config, layout: Layout, options: Options) -> Estimate:
    cores = min(options.cores, len(os.sched_getaffinity(0)))
    with phase("checking the first records"):
        asked = [Asked(*file) for file in layout.inputs.found_files()]
        # Before timing: a wrong input would be read for long.
        if faults := faults_of(asked, config.input.readers, config.input.limits):
            raise ValueError("\n".join(faults))
    if faults := certain_shortages(config, layout.inputs.milled):
        raise ValueError("\n".join(faults))
    compiled = are_compiled()
    with tempfile.TemporaryDirectory(prefix="corpusmill-estimate-") as temporary:
        folder = Path(temporary)
        planning = Workflow(folder / "plan", config, "--cores", "1", "--dry-run")
        try:
            with phase("measuring the speed of this machine"):
                wanted = sizes_for(config, layout, options, folder)
            reading = read_some(config, layout, wanted, folder)
            with phase("comparing", config.band_setting.bands, "bands") as progress:
                groups = compared(config, reading.texts, progress)
            with phase("planning"):
                plan = planning.end()
        finally:
            planning.stop()
        if not any(reading.trial.values()):
            raise ValueError(
                "expected documents in the text read from the input files, found none. Correct "
                "sources[].files, or read more with --read."
            )
        text_bytes = reading.text_bytes
        if not compiled:
            # One-off compilation is not part of the estimated run.
            first = next(name for name, paths in reading.trial.items() if paths)
            some = {first: reading.trial[first][:1]}
            with phase("compiling kernels", unit="jobs") as progress:
                milled(config, some, text_bytes, folder / "first", cores, progress)
        with phase("processing a sample", unit="jobs") as progress:
            trial = milled(config, reading.trial, text_bytes, folder / "trial", cores, progress)
    return estimated(config, reading, groups, trial, plan, (options.cores, cores))


def sizes_for(config: Config, layout: Layout, options: Options, folder: Path) -> Sizes:
    """Choose how much to read, take and mill within the time, from a small first sample."""
    most = Sizes(options.read_megabytes * 1_000_000)
    if layout.inputs.text_bytes <= PILOT_BYTES:
        return most
    seconds = []
    # The first round loads or compiles the kernels; the third takes nothing.
    for read, taken in ((PILOT_BYTES // 10, PILOT_BYTES), (PILOT_BYTES, PILOT_BYTES),
                        (PILOT_BYTES, 0)):  # fmt: skip
        started = time.perf_counter()
        read_some(config, layout, Sizes(read, taken, 0), folder)
        seconds.append(time.perf_counter() - started)
    reading = seconds[2] / PILOT_BYTES
    taking = max(seconds[1] - seconds[2], seconds[2] / 10) / PILOT_BYTES
    return Sizes(
        min(most.read, int(READING * options.seconds / reading)),
        min(most.taken, int(TAKING * options.seconds / taking)),
        min(most.trial, int(MILLING * options.seconds / (MILLING_PER_TAKING * taking))),
    )


def compared(config: Config, texts: Texts, progress: Progress) -> Groups:
    dedup, setting = config.dedup, config.band_setting
    pairs = similar_pairs(
        texts.signatures, setting, dedup.threshold, dedup.method == "verified", progress
    )
    return groups_of(texts.digests, pairs)


def in_json(found: Estimate) -> dict[str, Any]:
    return {
        "corpusmill.estimate": 1,
        **found._asdict(),
        "duplicates": found.duplicates._asdict(),
        "stages": [stage._asdict() for stage in found.stages],
        "mixture": mixtures_in_json(found.mixture),
    }


def told(found: Estimate) -> Iterator[str]:
    share = found.kept / max(found.documents, 1)
    passed = found.filtered / max(found.documents, 1)
    yield f"read         {found.documents:,.0f} documents, {amount(found.text_bytes)} of text"
    yield f"filtered     {found.filtered:,.0f} stay ({passed:.1%})"
    yield _duplicates(found)
    yield (
        f"kept         {found.kept:,.0f} documents ({share:.1%}, "
        f"{'copies' if found.mixture else 'weights'} applied), "
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
    yield from told_of_mixtures(found.mixture)
    rows = [
        [stage.name, f"{stage.jobs:,}", f"{stage.seconds:,.0f} s", f"{stage.mem_mb:,} MB"]
        for stage in found.stages
    ]
    yield aligned([["stage", "jobs", "of one core", "memory of a job"], *rows])
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
        yield (
            f"The figure for disk includes exports ({amount(found.exports_disk_bytes)}), but "
            "the figure for time does not."
        )
    milled = f"Time, disk and tokens come from a trial run on {amount(found.milled_bytes)}."
    how = "by sketches. Held-out texts and repeated spans were not searched for"
    if found.taken_share > ALL:
        yield (
            f"All {found.documents:,.0f} documents were read. The {found.compared:,} documents "
            f"that passed the filters were compared {how}. {milled}"
        )
        return
    yield (
        f"Only {found.taken_share:.1%} of the input was read. The {found.compared:,} documents of "
        f"it that passed the filters were compared {how}. {milled}"
    )
    yield (
        "A duplicate is found only if both documents were read. The number of duplicates is "
        "therefore an estimate between the smallest and the largest number that this sample "
        "allows. Only the beginning of each compressed file is read; if the rest of a file "
        "differs, the estimate is wrong. Raise --seconds to read more, up to the limit --read."
    )
