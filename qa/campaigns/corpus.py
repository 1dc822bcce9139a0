"""A small corpus that every step works on, but for those of the demo."""

import hashlib
import json
from pathlib import Path

import every_fate
import yaml
from tokenizer_kinds import byte_level

RULES = (
    "plan", "normalize", "admit", "span", "repeat", "cut", "measure", "filter", "allow",
    "sign", "band", "pair", "group", "extract", "resolve", "assign", "guard", "evaluation",
    "holdout", "decontaminate", "tokenizer", "count", "weigh", "apportion", "mix", "gauge",
    "arrange", "scatter", "columns", "gather", "encode", "verify",
    "join", "label", "manifest", "export", "pack", "ledger", "summarize", "tally", "report",
    "domains", "card",
)  # fmt: skip
"""The rules of its run, each after those that it waits for."""

RECIPE = slice(40, 56)
"""Of a file of sums."""
TIMES = {"plan/parts.jsonl", "plan/record.json", "plan/recipes", "report.html", "report/times.html",
         "report/times.csv"}  # fmt: skip
"""Of the results: what tells when inputs were written or how long jobs took."""


def corpus(folder: Path) -> dict:
    """Writes its files, and the config as `mine.yaml`; returns the config."""
    folder.mkdir(parents=True, exist_ok=True)
    config = every_fate.corpus(folder)
    config["filters"].append({"name": "language"})
    config["sources"][0] |= {"origin": "crawled", "url_member": "text"}
    config["output"] |= {"format": "parquet", "exports": ["megatron"]}
    config["tokenizer"] = {"source": byte_level(folder / "tokenizer")}
    config["mixture"] = {
        "budget": {"tokens": 15_000}, "by": ["source", "language"], "max": 3,
        "on_shortage": "rescale",
    }  # fmt: skip
    config["shuffle"] = {"order": "as_found"}
    write_config(folder, config)
    return config


def write_config(folder: Path, config: dict) -> None:
    (folder / "mine.yaml").write_text(yaml.safe_dump(config))


def results(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of the results, hidden ones too, but for times."""
    base, found = folder / "results", {}
    for path in sorted(path for path in base.rglob("*") if path.is_file()):
        name, data = path.relative_to(base).as_posix(), path.read_bytes()
        of = path.with_name(path.name.removeprefix(".").removesuffix(".sums")).relative_to(base)
        if name in TIMES or (path.suffix == ".sums" and str(of) in {*TIMES, "summary.json"}):
            data = b""
        if path.suffix == ".sums":
            # The recipe is of the times of input files, too, and the last bytes sum it up.
            data = data[: RECIPE.start] + data[RECIPE.stop : -8]
        if name == "summary.json":
            figures = json.loads(data)
            del figures["rules"], figures["sha256"]
            data = json.dumps(figures).encode()
        # A note of Snakemake's own, in a folder that is an output: empty, and not always there.
        if path.name != ".snakemake_timestamp":
            found[name] = hashlib.sha256(data).hexdigest()
    return found


def unlike(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """The files that differ, or that only one has."""
    return sorted(name for name in one | other if one.get(name) != other.get(name))
