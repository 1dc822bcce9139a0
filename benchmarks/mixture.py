"""A mixture by source, language and quality: how close it comes to its budget, and what it takes.

    python benchmarks/mixture.py --data DIR [DIR] --tokenizer DIR [--tokens 20000000] [--cores 2]
                                 [--datatrove]

A folder with `.jsonl.zst` files is a source. Quality is a model trained on the first two sources
by name. The run with the mixture and one without it alternate. The steps that only a mixture has
are `weigh`, `apportion` and `mix`; `count` encodes the text, which `encode` then need not do again.
With --datatrove, its SamplerFilter chooses documents at the rates that give the same expected
tokens per cell.

Ends with 1 if these steps take more than 8 % of the CPU seconds, or if the budget is missed by more
than the longest document.
"""

import json
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.measuring import ROOT, parser
from benchmarks.peers import SCRIPTS, python_of
from benchmarks.run_folder import RunFolder
from benchmarks.workflow import jobs_of, mill, warm_up
from benchmarks.yardstick import config_of, sources_of

OWN_STEPS = ("weigh", "apportion", "mix")
MOST_OWN_SHARE = 0.08


def model_of(sources: dict[str, list[Path]], folder: Path) -> Path:
    """Train a model of quality: texts of the last source by name are good, of the first bad."""
    names = sorted(sources)
    model = folder / "quality.model"
    command = [sys.executable, "-m", "corpusmill", "train-filter", "-o", str(model)]
    for option, name in (("--bad", names[0]), ("--good", names[-1])):
        for file in sources[name][:1]:
            command += [option, str(file)]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    return model


def cells_of(folder: Path, splits: tuple[str, ...] = ("train",)) -> list[dict]:
    mixture = json.loads((folder / "results/summary.json").read_text())["mixture"]
    return [cell for split in splits for cell in mixture[split]["cells"]]


def documents_by_cell(folder: Path) -> dict[tuple, dict[int, int]]:
    """Return the tokens of each candidate, by cell."""
    from corpusmill.mill.decide.composition import compose
    from corpusmill.run.config import Config
    from corpusmill.run.config_files import laid_over
    from corpusmill.run.workflow_files import workflow_home
    from corpusmill.tools.tune.mixture.mixtures import tables_of

    given = json.loads((folder / "results/summary.json").read_text())["configuration"]
    config = Config.read(laid_over(workflow_home() / "config.yaml", given))
    stages = config.composed
    tables = tables_of(folder / "results", stages)
    composed = compose(tables, stages[0].mixture)
    found: dict[tuple, dict[int, int]] = defaultdict(dict)
    for columns in tables.pieces():
        for number, id, size in zip(
            composed.grid.numbers(columns).tolist(), columns["id"].tolist(),
            columns["size"].tolist(), strict=True,
        ):  # fmt: skip
            found[composed.grid.names(number)][id] = size
    return found


def told(name: str, offs: list[tuple[float, float]], total: tuple[float, float]) -> str:
    """offs: wanted and reached tokens of each cell."""
    worst = max(abs(reached - wanted) / wanted for wanted, reached in offs if wanted)
    mean = sum(abs(reached - wanted) for wanted, reached in offs) / sum(w for w, _ in offs)
    wanted, reached = total
    return (
        f"| {name} | {reached:,.0f} | {(reached - wanted) / wanted:+.3%} | {mean:.3%} "
        f"| {worst:.2%} |"
    )


def main(given) -> None:
    run_folder = RunFolder(given.run_folder)
    scratch = given.cache.resolve() / "mixture"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    sources = sources_of(given.data)
    config = config_of(sources, given.tokenizer.resolve(), given.end_of_text)
    config["filters"] = [
        {"name": "empty"}, {"name": "too_short"}, {"name": "language"},
        {"name": "quality_model", "model": str(model_of(sources, scratch))},
    ]  # fmt: skip
    mixture = {
        "budget": {"tokens": given.tokens},
        "by": ["source", "language", {"value": "quality_score", "quantiles": 3}],
        "max_epochs": 4,
    }
    warm_up(given.cores)
    seconds: dict[str, list[float]] = {"without": [], "with": []}
    for run in range(given.runs):
        for name in ("without", "with"):
            folder = scratch / name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            of_run = config | ({"mixture": mixture} if name == "with" else {})
            watched = mill(folder, of_run, given.cores)
            seconds[name].append(watched.seconds)
            print(f"run {run}, {name} a mixture: {watched.seconds:.2f} s", flush=True)
    folder = scratch / "with"
    jobs = jobs_of(folder)
    whole = sum(job.cpu_seconds for job in jobs)
    lines = ["", "| step | CPU seconds | of all steps |", "|---|--:|--:|"]
    for step in ("count", "encode", *OWN_STEPS):
        took = sum(job.cpu_seconds for job in jobs if job.rule == step)
        lines.append(f"| `{step}` | {took:.2f} | {took / whole:.1%} |")
    own = sum(job.cpu_seconds for job in jobs if job.rule in OWN_STEPS)
    lines.append(f"| steps that only a mixture has | {own:.2f} | {own / whole:.1%} |")
    cells = cells_of(folder)
    offs = [(cell["wanted"], cell["reached"]) for cell in cells]
    reached = sum(reached for _, reached in offs)
    lines += [
        "",
        f"{len(cells)} cells.",
        "",
        "| what chose | tokens | off the budget | off per cell, mean | worst cell |",
        "|---|--:|--:|--:|--:|",
        told("corpusmill", offs, (given.tokens, reached)),
    ]
    documents = documents_by_cell(folder)
    if given.datatrove:
        lines.append(of_datatrove(documents, cells, given))
    print("\n".join(lines))
    run_folder.note("mixture", "\n".join(lines))
    run_folder.close()
    longest = max(size for of_cell in documents.values() for size in of_cell.values())
    if not 0 <= given.tokens - reached <= longest:
        sys.exit(f"missed: {reached:,} tokens; the longest document has {longest:,}")
    if own > MOST_OWN_SHARE * whole:
        sys.exit(f"missed: {own / whole:.1%} of the CPU seconds, more than {MOST_OWN_SHARE:.0%}")


def of_datatrove(documents: dict[tuple, dict[int, int]], cells: list[dict], given) -> str:
    """Return the line of datatrove's SamplerFilter: a rate per cell, documents by chance."""
    asked = [
        {
            "rate": cell["wanted"] / cell["size"] if cell["size"] else 0,
            "documents": list(documents[tuple(cell["cell"])]),
        }
        for cell in cells
    ]
    python = python_of("datatrove", given.cache)
    done = subprocess.run(
        [python, str(SCRIPTS / "sampling.py")], input=json.dumps(asked), capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    offs = [
        (cell["wanted"], sum(documents[tuple(cell["cell"])][id] for id in kept))
        for cell, kept in zip(cells, json.loads(done.stdout), strict=True)
    ]
    total = sum(reached for _, reached in offs)
    return told("datatrove SamplerFilter, rate per cell", offs, (given.tokens, total))


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--data", type=Path, nargs="+", required=True)
    arguments.add_argument("--tokenizer", type=Path, required=True)
    arguments.add_argument("--end-of-text", default="<|endoftext|>")
    arguments.add_argument("--tokens", type=int, default=20_000_000)
    arguments.add_argument("--cores", type=int, default=2)
    arguments.add_argument("--datatrove", action="store_true")
    main(arguments.parse_args())
