"""Compares `corpusmill estimate` with the actual run, on different corpora.

    CORPUSMILL_DATA=... python benchmarks/estimate.py [--cores 1] [--read 1000] [--corpora web,code]

web, languages and near are real text from CORPUSMILL_DATA, code is this Python's standard library.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))  # also when run as a file

from benchmarks.measuring import ROOT

DATA = Path(os.environ.get("CORPUSMILL_DATA", "."))
CORPORA = {
    "web": {"pages": ["corpus_large/commoncrawl/*.zst", "corpus/c4/*.zst"]},
    "languages": {name: [f"corpus/{name}/*.zst"] for name in ("commoncrawl", "books", "wikipedia")},
    "near": {"docs": ["neardup/docs.jsonl.zst"]},
}


def sources(name: str, folder: Path) -> list[dict]:
    if name != "code":
        return [
            {"name": source, "files": [str(DATA / pattern) for pattern in patterns]}
            for source, patterns in CORPORA[name].items()
        ]
    files = sorted(Path(os.__file__).parent.rglob("*.py"))
    with open(folder / "code.jsonl", "w", encoding="utf-8") as file:
        for path in files:
            text = path.read_text("utf-8", "replace")
            file.write(json.dumps({"text": text, "path": path.name}) + "\n")
    return [{"name": "code", "files": ["code.jsonl"]}]


def called(command: list[str], folder: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-4000:])
    return done.stdout


def compared(name: str, folder: Path, given: argparse.Namespace) -> dict:
    folder.mkdir(parents=True)
    tokenizer = str(DATA / "tokenizers/qwen3") if Path(".") != DATA else "train"
    of_tokenizer = {"source": tokenizer, "end_of_text": "<|endoftext|>"}
    config = {"sources": sources(name, folder), "tokenizer": of_tokenizer}
    (folder / "mine.yaml").write_text(yaml.safe_dump(config))
    asked = ["--cores", str(given.cores), "--read", str(given.read), "--json"]
    asked += ["--seconds", "600"]
    started = time.perf_counter()
    command = [sys.executable, "-m", "corpusmill", "estimate", "mine.yaml", *asked]
    said = json.loads(called(command, folder))
    took = time.perf_counter() - started
    started = time.perf_counter()
    snakefile = ["-s", str(ROOT / "Snakefile"), "--configfile", "mine.yaml"]
    command = [sys.executable, "-m", "snakemake", *snakefile, "--cores", str(given.cores)]
    called([*command, "--quiet", "all"], folder)
    seconds = time.perf_counter() - started
    summary = json.loads((folder / "results/summary.json").read_text())
    shards = [json.loads(path.read_text()) for path in folder.glob("results/tokens/*/*.json")]
    files = [path for path in (folder / "results").rglob("*") if path.is_file()]
    duplicates = summary["documents"]["dropped"]["duplicate"]
    return {
        "read": said["taken_share"],
        "took": took,
        "documents": (said["kept"], sum(shard["documents"] for shard in shards)),
        "tokens": (said["tokens"], sum(shard["tokens"] for shard in shards)),
        "seconds": (said["seconds"], seconds),
        "seconds of CPU": (
            said["cpu_seconds"],
            sum(rule["cpu_seconds"] for rule in summary["rules"].values()),
        ),
        "disk, MB": (said["disk_bytes"] / 1e6, sum(f.stat().st_size for f in files) / 1e6),
        "duplicates": (said["duplicates"]["likely"], duplicates),
    }


def table(found: dict[str, dict]) -> Iterator[str]:
    yield "| corpus | compared | estimate took | figure | estimated | was | off by |"
    yield "|---|--:|--:|---|--:|--:|--:|"
    for corpus, figures in found.items():
        for name, pair in figures.items():
            if isinstance(pair, tuple):
                estimated, was = pair
                off = f"{estimated / was - 1:+.0%}" if was else "-"
                yield (
                    f"| {corpus} | {figures['read']:.0%} | {figures['took']:.0f} s | {name} | "
                    f"{estimated:,.0f} | {was:,.0f} | {off} |"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", default="web,languages,near,code")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--read", type=int, default=1000, help="MB of text")
    parser.add_argument("--keep", type=Path, help="where the runs stay; else nowhere")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        found = {}
        for name in given.corpora.split(","):
            found[name] = compared(name, (given.keep or Path(temporary)) / name, given)
            print(json.dumps({"corpus": name, **found[name]}), file=sys.stderr)
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
