"""Compares `corpusmill verify` with `sha256sum` on the same files of a finished corpus.

    python benchmarks/verify.py --results results

The corpus is not changed. A first round reads all files, so that they are in memory if they fit.
Both run file by file, and with all available cores.
"""

import json
import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.measuring import ROOT, parser
from benchmarks.run_folder import RunFolder
from benchmarks.watching import watched


def measure(given) -> None:
    run_folder, results = RunFolder(given.run_folder), given.results.resolve()
    files = json.loads((results / "manifest.json").read_text())["files"]
    names = [file["path"].removeprefix("results/") for file in files]
    size = sum(file["bytes"] for file in files)
    folder = given.cache / "verify"
    folder.mkdir(parents=True, exist_ok=True)
    sums = [f"{one['sha256']}  {results / name}\n" for one, name in zip(files, names, strict=True)]
    (folder / "sums").write_text("".join(sums))
    verify = [sys.executable, "-m", "corpusmill", "verify", results]
    commands = {
        "`sha256sum --check`": ["sha256sum", "--check", "--quiet", "sums"],
        "`corpusmill verify`": verify,
        "`corpusmill verify --deep`": [*verify, "--deep"],
    }
    for number in range(-1, given.runs):  # the first run reads from the disk
        for what, command in commands.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run = watched(command, folder, PYTHONPATH=str(ROOT))
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            if number >= 0:
                run_folder.record(
                    "verify", what, group=f"{len(files)} files", run=number, amount=size,
                    unit="MB", seconds=run.seconds, cpu_seconds=cpu,
                    peak_memory_mb=run.first_peak_memory_mb, output="whole",
                    counts={"files": len(files)},
                )  # fmt: skip
    run_folder.close()


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--results", type=Path, required=True, help="of a finished run")
    measure(arguments.parse_args())
