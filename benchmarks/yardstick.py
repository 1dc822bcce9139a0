"""The whole workflow beside one core that only reads, decodes and tokenizes the same text.

    python benchmarks/yardstick.py --data DIR [DIR] --tokenizer DIR [--cores 2] [--runs 3]
                                   [--datatrove]

Both run in turn. A folder with `.jsonl.zst` files is a source. The workflow runs in an empty
folder, after a run on a tiny corpus that compiles the kernels. The yardstick ratio is the seconds
of the workflow over those of the one core. Two cores that did nothing else would have a ratio of
0.5. With --datatrove, datatrove's whole chain runs once, between two of the runs.
"""

import json
import shutil
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.measuring import parser, shown
from benchmarks.peers import OTHER_CHAIN, SCRIPTS, offline, python_of
from benchmarks.run_folder import RunFolder, spread
from benchmarks.watching import watched
from benchmarks.workflow import Job, counts_of, jobs_of, mill, outputs_digest, warm_up

TABLE = "yardstick"
NOT_EQUAL = "no duplicates removed, no shuffle, no checks, nothing written"
NEVER_SECONDS = 1e6  # memory is not measured here: a look at it stops all processes for a moment
STEPS_OVER = 0.5  # CPU seconds per GB: steps below are one line of the table


def sources_of(folders: list[Path]) -> dict[str, list[Path]]:
    """Return the files of each folder that has some, by a name for the source."""
    found: dict[str, list[Path]] = {}
    for folder in folders:
        for file in sorted(folder.resolve().rglob("*.jsonl.zst")):
            found.setdefault(f"{folder.name}_{file.parent.name}", []).append(file)
    if not found:
        raise ValueError(f"{folders[0]}: expected .jsonl.zst files, found none")
    return found


def config_of(sources: dict[str, list[Path]], tokenizer: Path, end_of_text: str) -> dict:
    return {
        "sources": [
            {"name": name, "files": list(map(str, files))} for name, files in sources.items()
        ],
        "tokenizer": {"source": str(tokenizer), "end_of_text": end_of_text},
    }


def step_table(runs: list[list[Job]], text_bytes: int) -> str:
    """Return a table of the steps: jobs, and CPU seconds per GB of text, the largest first."""
    per_gb: dict[str, list[float]] = {}
    for rule in {job.rule for job in runs[0]}:
        per_gb[rule] = [
            sum(job.cpu_seconds for job in jobs if job.rule == rule) / text_bytes * 1e9
            for jobs in runs
        ]
    ordered = sorted(per_gb, key=lambda rule: -statistics.median(per_gb[rule]))
    large = [rule for rule in ordered if statistics.median(per_gb[rule]) >= STEPS_OVER]
    small = [rule for rule in ordered if rule not in large]
    lines = ["| step | jobs | CPU s per GB |", "|---|--:|--:|"]
    for rule in large:
        count = sum(job.rule == rule for job in runs[0])
        lines.append(f"| {rule} | {count} | {spread(per_gb[rule])} |")
    if small:
        rest = [sum(values) for values in zip(*(per_gb[rule] for rule in small), strict=True)]
        count = sum(job.rule in small for job in runs[0])
        lines.append(f"| {len(small)} others | {count} | {spread(rest)} |")
    return "\n".join(lines)


def one_folder(files: list[Path], folder: Path) -> Path:
    """Make links to the files in one folder, as datatrove's chain takes one."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, file in enumerate(files):
        (folder / f"{number:05}.jsonl.zst").symlink_to(file)
    return folder


def measure(given) -> None:
    run_folder = RunFolder(given.run_folder)
    cache, tokenizer = given.cache.resolve(), given.tokenizer.resolve()
    sources = sources_of(given.data)
    files = [file for of_source in sources.values() for file in of_source]
    folder = cache / "yardstick"
    config = config_of(sources, tokenizer, given.end_of_text)
    command = [sys.executable, SCRIPTS / "one_core.py", "--tokenizer", tokenizer, *files]
    print("warming up", file=sys.stderr)
    warm_up(given.cores)
    all_jobs, wholes, bare = [], [], []
    for run in range(given.runs):
        own = mill(folder, config, given.cores, NEVER_SECONDS)
        jobs, counts = jobs_of(folder), counts_of(folder)
        output = outputs_digest(folder)
        yard = watched(command, folder, NEVER_SECONDS)
        counted = json.loads(yard.printed.splitlines()[-1])
        size = counted.pop("text_bytes")
        common = {"group": "whole", "amount": size, "unit": "MB", "run": run}
        run_folder.record(
            TABLE, f"corpusmill, `snakemake --cores {given.cores}`",
            seconds=own.seconds, output=output, counts=counts,
            jobs=[job._asdict() for job in jobs], **common,
        )  # fmt: skip
        run_folder.record(
            TABLE, "read, decode and tokenize, one core", seconds=yard.seconds,
            counts=counted, not_equal=NOT_EQUAL, **common,
        )  # fmt: skip
        all_jobs.append(jobs)
        wholes.append(own.seconds)
        bare.append(yard.seconds)
        if given.datatrove and run == given.runs // 2:
            links = one_folder(files, cache / "yardstick-links")
            peer = [python_of("datatrove", given.cache), SCRIPTS / "datatrove_chain.py",
                    "--corpus", links, "--workers", given.cores, "--tokenizer", tokenizer,
                    "--out", folder / "out"]  # fmt: skip
            measured = offline(peer, folder, NEVER_SECONDS)
            del measured["peak_memory_mb"]
            run_folder.record(
                TABLE, f"datatrove, {given.cores} workers", not_equal=OTHER_CHAIN,
                command=shown(["python", *peer[1:]]), **measured, **common,
            )  # fmt: skip
    ratios = [whole / yard for whole, yard in zip(wholes, bare, strict=True)]
    run_folder.note(
        TABLE,
        f"Yardstick ratio, the workflow's seconds over those of one core: {spread(ratios, 2)}",
    )
    run_folder.note(TABLE, step_table(all_jobs, size))
    run_folder.close()
    print(f"yardstick ratio: {spread(ratios, 2)}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--data", type=Path, nargs="+", required=True)
    arguments.add_argument("--tokenizer", type=Path, required=True, help="with tokenizer.json")
    arguments.add_argument("--end-of-text", default="<|endoftext|>", help="token after a document")
    arguments.add_argument("--cores", type=int, default=2)
    arguments.add_argument("--datatrove", action="store_true", help="also datatrove's whole chain")
    measure(arguments.parse_args())
