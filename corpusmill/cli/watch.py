"""`corpusmill watch`: shows a run from outside."""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpusmill.cli.failures import reason_of
from corpusmill.cli.screen import screen, total_line
from corpusmill.cli.watching import OVER, Folder, Watched
from corpusmill.messages.plain_text import json_text, short
from corpusmill.run.job_progress import duration
from corpusmill.run.job_state import FAILED

LOOK_EVERY_SECONDS = 1.0
MOST_NOTES = 5
"""Maximum number of jobs to report for each kind of note."""


def watch(path: Path) -> int:
    """Show the run of a folder until it is over. Return 0 if it succeeded."""
    folder, shown = Folder(path), screen(quiet=False)
    try:
        folder.look()
        while folder.state not in OVER:
            shown.show(folder.as_run(), list(notes(folder)))
            time.sleep(LOOK_EVERY_SECONDS)
            folder.look()
    finally:
        shown.close()
    run = folder.as_run()
    if folder.state == "finished":
        shown.say(f"{run.finished} jobs in {duration(run.elapsed)}")
    else:
        shown.say(total_line(run) if folder.is_listed else "The run ended before its first job.")
    for note in notes(folder):
        shown.say(note)
    shown.say(ENDS[folder.state])
    return 0 if folder.state == "finished" else 1


ENDS = {
    "finished": "Finished.",
    "failed": "Failed. Finished work is kept. Run the command again to resume.",
    "stopped": "Stopped. Finished work is kept. Run the command again to resume.",
}


def notes(folder: Folder) -> Iterator[str]:
    """Yield further notes about a run, one line each, faults last."""
    yield from amounts(folder)
    if job := folder.fullest():
        bound = folder.bound_of(job)
        yield f"memory: {job.peak_mb:,} of {bound:,} MB in {job.name}, the closest to its limit"
    used, is_all, left = folder.disk()
    size = f"{'' if is_all else 'at least '}{used / 1e9:,.1f} GB"
    yield f"disk: results take {size}, {left / 1e9:,.1f} GB are left"
    if folder.state == "waiting":
        silent = duration(folder.now - folder.last_heard)
        yield f"No job has run for {silent}: jobs are queued, or Snakemake was killed."
    if folder.state == "reading" and folder.announced and folder.announced.is_alive is None:
        host = folder.announced.lives[0].host if folder.announced.lives else "another machine"
        yield (
            f"Snakemake began to read the workflow on {host}. Check on that machine whether "
            "Snakemake still runs."
        )
    if folder.state == "failed" and not folder.of(FAILED) and folder.reason:
        yield short(folder.reason)
    slow = [
        f"slow: {job.name} has run for {duration(folder.now - job.started)}, others took "
        f"{duration(usual)}"
        for job, usual in folder.slow()
    ]
    stalled = [
        f"stalled: {job.name} has reported nothing for {duration(folder.now - job.heard)}, log "
        f"{job.log}"
        for job in folder.stalled()
    ]
    killed = [
        f"{job.name} disappeared: the job was killed by a user or for lack of memory; log {job.log}"
        for job in folder.killed()
    ]
    failed = [
        f"{job.name} failed, log {job.log}: {reason_of(job.job)}" for job in folder.of(FAILED)
    ]
    for found in (slow, stalled, killed, failed):
        yield from found[:MOST_NOTES]
        if len(found) > MOST_NOTES:
            yield f"and {len(found) - MOST_NOTES} more like it"


def amounts(folder: Folder) -> Iterator[str]:
    """Yield the amounts read and written so far, with rates."""
    done = folder.done
    if seconds := folder.seconds_of("normalize"):
        yield (
            f"read: {done.documents:,} documents, {done.text_bytes / 1e6:,.1f} MB of text, "
            f"{done.documents / seconds:,.0f} documents/s, {done.text_bytes / 1e6 / seconds:,.1f} "
            "MB/s"
        )
    if seconds := folder.seconds_of("encode"):
        yield f"written: {done.tokens:,} tokens, {done.tokens / seconds:,.0f} tokens/s"


def as_json(path: Path) -> str:
    """Return the current state of a run as JSON."""
    folder = Folder(path)
    folder.look()
    run = folder.as_run()
    used, is_all, left = folder.disk()
    of_rule: dict[str, list[Watched]] = {rule: [] for rule in folder.rules}
    for job in folder.jobs:
        of_rule[job.rule].append(job)
    states = {rule: Counter(job.state for job in jobs) for rule, jobs in of_rule.items()}
    found: dict[str, Any] = {
        "state": folder.state,
        "began": folder.began,
        "seconds": run.elapsed,
        "seconds_left": run.seconds_left(),
        "jobs": run.total,
        "finished": run.finished,
        "rules": {
            rule: {
                "jobs": len(jobs.logs), **states[rule], "seconds": run.seconds[rule],
                "mem_mb": max([jobs.mem_mb, *(job.bound_mb for job in of_rule[rule])]),
                "peak_mb": max((job.peak_mb for job in of_rule[rule]), default=0),
            }
            for rule, jobs in folder.rules.items()
        },
        "running": [
            {"job": job.name, "log": str(job.log), "seconds": folder.now - job.started,
             "silent_seconds": folder.now - job.heard, "held_mb": job.peak_mb,
             "mem_mb": folder.bound_of(job),
             "doing": job.job.doing()}
            for job in folder.running()
        ],
        "stalled": [job.name for job in folder.stalled()],
        "slow": [job.name for job, _ in folder.slow()],
        "killed": [job.name for job in folder.killed()],
        "failed": {job.name: reason_of(job.job) for job in folder.of(FAILED)},
        "documents": folder.done.documents,
        "text_bytes": folder.done.text_bytes,
        "tokens": folder.done.tokens,
        "disk": {"results_bytes": used, "counted_all": is_all, "free_bytes": left},
    }  # fmt: skip
    return json_text(found)
