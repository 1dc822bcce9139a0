"""`python -m qa.fuzz --seeds 0 300`: mill the corpora of these seeds and compare."""

import argparse
import json
import multiprocessing
import shutil
import sys
import tempfile
import time
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from warm import warm_jobs

from qa.fuzz import figures, laws
from qa.fuzz.runner import Result, run_seed

DEFAULT_FOLDER = Path(tempfile.gettempdir()) / "corpusmill-fuzz"


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="qa.fuzz", description=__doc__)
    parser.add_argument("--seeds", type=int, nargs=2, metavar=("A", "B"), required=True,
                        help="from A to B, B not among them")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, a core each")
    told = f"folder of seeds.jsonl and of what was found ({DEFAULT_FOLDER})"
    parser.add_argument("--keep", type=Path, default=DEFAULT_FOLDER, help=told)
    parser.add_argument("--again", action="store_true", help="also seeds that seeds.jsonl has")
    parser.add_argument(
        "--law", choices=sorted(laws.LAWS), help="check a law in place of the oracle"
    )
    return parser.parse_args()


def work(seed: int, folder: Path, law: str | None) -> Result:
    """A seed in a folder of its own, which stays if there is a finding."""
    started = time.monotonic()
    try:
        if law:
            result = Result(seed, differences=laws.check(law, seed, folder))
        else:
            result = run_seed(seed, folder)
    except Exception:  # a fault of the fuzzer or the oracle does not end the others
        result = Result(seed, differences=[traceback.format_exc()[-2000:]])
    result.seconds = round(time.monotonic() - started, 1)
    if not result.differences:
        shutil.rmtree(folder)
    return result


def earlier(results: Path) -> list[dict]:
    """The last line of every seed."""
    lines = results.read_text("utf-8").splitlines() if results.exists() else []
    return list({line["seed"]: line for line in map(json.loads, lines)}.values())


def main() -> None:
    options = asked()
    options.keep.mkdir(parents=True, exist_ok=True)
    results = options.keep / (f"{options.law}.jsonl" if options.law else "seeds.jsonl")
    done = set() if options.again else {result["seed"] for result in earlier(results)}
    seeds = [seed for seed in range(*options.seeds) if seed not in done]
    spawn = multiprocessing.get_context("spawn")
    with warm_jobs(), ProcessPoolExecutor(options.jobs, spawn) as pool:
        name = options.law or "seed"
        running = [
            pool.submit(work, seed, options.keep / f"{name}-{seed}", options.law) for seed in seeds
        ]
        for number, future in enumerate(as_completed(running), 1):
            result = future.result()
            with results.open("a", encoding="utf-8") as file:
                file.write(result.line())
            ended = f"refused ({result.refused_by})" if result.refused else "ended well"
            print(f"{number} of {len(seeds)}: seed {result.seed}, {result.seconds} s, {ended}, "
                  f"{result.counts.get('records', 0)} records", flush=True)  # fmt: skip
            for difference in result.differences[:3]:
                print(f"    {difference}", flush=True)
    found = [result for result in earlier(results) if result["seed"] in range(*options.seeds)]
    print(figures.account(found))
    sys.exit(any(result["differences"] for result in found))
