"""The whole workflow through Snakemake: wall time and memory by rule, and Snakemake's overhead.

    python benchmarks/workflow.py --corpus DIR --tokenizer DIR|train [--cores 2] [--runs 3]

Every run starts in an empty folder, after one on a tiny corpus that compiles the kernels. Then the
same command runs once more, to measure how long it takes to find nothing to do.

Start and end of a job are in its state beside its log; the start is that of its command. From this
and the CPU time of Snakemake's own process:

    overhead = seconds in which no job ran + CPU seconds of Snakemake itself while jobs ran

The second part is CPU time that jobs could have used.
"""

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.make_corpus import make_corpus
from benchmarks.measuring import ROOT, parser, shown
from benchmarks.run_folder import RunFolder, spread
from benchmarks.watching import EVERY_SECONDS, MEMORY, Watched, watched
from corpusmill.mill.storage.files import load_json
from corpusmill.run.measurements import finished_jobs


class Job(NamedTuple):
    rule: str
    start: float
    end: float
    cpu_seconds: float
    peak_memory_mb: float


def config_of(corpus: Path, tokenizer: str, **sections: dict) -> dict:
    """Return the shipped configuration with this corpus as its only source."""
    files = [f"{corpus.resolve()}/*.jsonl.zst"]
    source = tokenizer if tokenizer == "train" else str(Path(tokenizer).resolve())
    return {
        "sources": [{"name": "corpus", "files": files}],
        "tokenizer": {"source": source}
        | ({"end_of_text": "<|endoftext|>"} if source != "train" else {}),
        **sections,
    }


def snakemake(*arguments: object) -> list:
    return [sys.executable, "-m", "snakemake", "-s", ROOT / "Snakefile",
            "--configfile", "benchmark.yaml", *arguments]  # fmt: skip


def mill(folder: Path, config: dict, cores: int, every_seconds: float = EVERY_SECONDS) -> Watched:
    """Run the workflow in an empty folder. every_seconds: as in `watched`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "benchmark.yaml").write_text(yaml.safe_dump(config))
    return watched(snakemake("--cores", cores), folder, every_seconds)


def warm_up(cores: int) -> None:
    """Compile the kernels and fill caches for later runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_corpus(folder / "tiny", 1_000_000)
        tiny = config_of(folder / "tiny", "train")
        tiny["tokenizer"]["train_vocabulary"] = 512
        mill(folder / "run", tiny, cores)


def jobs_of(folder: Path) -> list[Job]:
    """Return every job of a finished run."""
    logs = folder / "logs"
    return [
        Job(
            log.relative_to(logs).parts[0], end.began, end.began + end.seconds,
            end.cpu_seconds, end.memory_mb,
        )
        for log, end in finished_jobs(logs).items()
    ]  # fmt: skip


def running(jobs: list[Job]) -> list[tuple[float, float]]:
    """Return the intervals in which at least one job ran, in order."""
    stretches: list[tuple[float, float]] = []
    for job in sorted(jobs, key=lambda job: job.start):
        if stretches and job.start <= stretches[-1][1]:
            stretches[-1] = (stretches[-1][0], max(stretches[-1][1], job.end))
        else:
            stretches.append((job.start, job.end))
    return stretches


def overhead(run: Watched, jobs: list[Job]) -> dict[str, float]:
    """Return Snakemake's share of a run, in seconds; see the top of this file."""
    stretches = running(jobs)
    idle = run.seconds - sum(stop - start for start, stop in stretches)
    times, cpu = np.array(run.cpu).T
    during = sum(np.diff(np.interp(stretch, times, cpu))[0] for stretch in stretches)
    return {
        "no job ran": idle,
        "own CPU while jobs ran": float(during),
        "overhead": idle + float(during),
    }


def outputs_digest(folder: Path) -> str:
    """Return a digest of every final text and token file, names and bytes."""
    digest = hashlib.sha256()
    for part in ("corpus", "tokens"):
        for path in sorted((folder / "results" / part).rglob("*")):
            if path.is_file():
                digest.update(path.relative_to(folder).as_posix().encode())
                with open(path, "rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def counts_of(folder: Path) -> dict[str, int]:
    found = load_json(folder / "results/summary.json")
    return {
        "documents in": found["documents"]["in"],
        "kept": found["documents"]["kept"],
        "tokens": sum(found["tokens"].values()),
    }


def text_bytes_of(folder: Path) -> int:
    return load_json(folder / "results/summary.json")["bytes"]["in"]


def rule_table(runs: list[list[Job]]) -> str:
    """Return a table of rules: jobs, their seconds in each run, and the most memory of one."""
    lines = ["| rule | jobs | seconds, all jobs | of these CPU | peak memory of a job MB |",
             "|---|--:|--:|--:|--:|"]  # fmt: skip
    for rule in dict.fromkeys(job.rule for job in sorted(runs[0], key=lambda job: job.start)):
        of_rule = [[job for job in jobs if job.rule == rule] for jobs in runs]
        seconds = [sum(job.end - job.start for job in jobs) for jobs in of_rule]
        cpu = [sum(job.cpu_seconds for job in jobs) for jobs in of_rule]
        memory = max(job.peak_memory_mb for jobs in of_rule for job in jobs)
        lines.append(
            f"| {rule} | {len(of_rule[0])} | {spread(seconds)} | {spread(cpu)} | {memory:,.0f} |"
        )
    return "\n".join(lines)


def measure(given) -> None:
    run_folder = RunFolder(given.run_folder)
    folder = given.cache / "workflow"
    sizes = {"input": {"part_bytes": given.part_bytes}, "output": {"shard_bytes": given.part_bytes}}
    config = config_of(given.corpus, given.tokenizer, **(sizes if given.part_bytes else {}))
    table = f"workflow, {given.corpus.name}"
    print("warming up", file=sys.stderr)
    warm_up(given.cores)
    all_jobs, shares = [], []
    command = shown([sys.executable, "-m", "snakemake", "--cores", given.cores])
    for number in range(given.runs):
        run = mill(folder, config, given.cores)
        jobs = jobs_of(folder)
        share = overhead(run, jobs)
        all_jobs.append(jobs)
        shares.append(share)
        size = text_bytes_of(folder)
        row = {"run": number, "command": command, "amount": size, "unit": "MB"}
        run_folder.record(
            table, f"`{command}`, empty folder", group="whole", seconds=run.seconds,
            peak_memory_mb=run.peak_memory_mb, output=outputs_digest(folder),
            counts=counts_of(folder), overhead=share, jobs=[job._asdict() for job in jobs], **row,
        )  # fmt: skip
    for number in range(given.runs if given.nothing_to_do else 0):
        again = watched(snakemake("--cores", given.cores), folder)
        if "Nothing to be done" not in again.printed:
            raise RuntimeError(f"the second run did something:\n{again.printed[-2000:]}")
        run_folder.record(
            table, f"`{command}`, nothing to do", group="nothing", run=number,
            amount=size, unit="MB", seconds=again.seconds, peak_memory_mb=again.peak_memory_mb,
            output=outputs_digest(folder),
        )  # fmt: skip
    lines = [f"- {name}: {spread([share[name] for share in shares])} s" for name in shares[0]]
    run_folder.note(table, MEMORY)
    run_folder.note(table, rule_table(all_jobs))
    run_folder.note(
        table,
        "Snakemake's share; `benchmarks/workflow.py` says how it is found:\n\n" + "\n".join(lines),
    )
    run_folder.close()
    shutil.rmtree(folder)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--corpus", type=Path, required=True)
    arguments.add_argument("--tokenizer", default="train", help="a folder, or train")
    arguments.add_argument("--cores", type=int, default=2)
    arguments.add_argument("--part-bytes", type=int, help="of parts and of shards; the default's")
    arguments.add_argument(
        "--no-nothing-to-do", dest="nothing_to_do", action="store_false",
        help="leave out the runs that find nothing to do",
    )  # fmt: skip
    measure(arguments.parse_args())
