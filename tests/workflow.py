"""Runs of the whole workflow in a folder of their own, for the tests that need one."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import yaml
from warm import warm_python

ROOT = Path(__file__).parents[1]
PASSAGE = (
    "the mill takes grain of every kind and gives back flour that can be weighed and named "
    "for each sack that came in there is a line in the book which says what became of it "
)


def command(*arguments: str, checkout: Path = ROOT, python: str = sys.executable) -> list[str]:
    return [python, "-m", "snakemake", "-s", str(checkout / "Snakefile"), *arguments]


def snakemake(
    folder: Path, *arguments: str, checkout: Path = ROOT, warm: bool = True, **environment: str
) -> subprocess.CompletedProcess:
    """Snakemake run in `folder`, whatever comes of it; environment: variables beside the usual.

    warm: its processes are forked, see warm.py. Not with another checkout or another environment,
    which have to be there when Python starts.
    """
    warm = warm and checkout == ROOT and not environment
    python = warm_python() if warm else sys.executable
    return subprocess.run(
        command(*arguments, checkout=checkout, python=python), env=os.environ | environment,
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def mill(
    folder: Path, config: dict, *arguments: str, checkout: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess:
    """A run of `config` in `folder` that must succeed."""
    (folder / "mine.yaml").write_text(yaml.safe_dump(config))
    asked = ("--configfile", "mine.yaml", "--cores", "2", *arguments)
    done = snakemake(folder, *asked, checkout=checkout, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def jobs(dry_run: subprocess.CompletedProcess) -> dict[str, int]:
    """Rule -> number of jobs, from the table of a dry run with `--quiet rules`."""
    assert dry_run.returncode == 0, dry_run.stdout + dry_run.stderr
    rows = [line.split() for line in (dry_run.stdout + dry_run.stderr).splitlines()]
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}


def document(number: int, words: int = 60) -> str:
    """A text of its own: the passage, with a word from its number after every few words."""
    state = hashlib.sha256(str(number).encode()).hexdigest()
    marks = [state[k : k + 7] for k in range(0, 56, 4)]
    base = PASSAGE.split() * 4
    return " ".join(f"{word} {marks[k % len(marks)]}{k}" for k, word in enumerate(base[:words]))


def write_jsonl(path: Path, records: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def small_corpus(folder: Path) -> dict:
    """Three sources of 600 documents, 60 of them exact copies; returns the run's config."""
    for k, source in enumerate(("one", "two", "three")):
        records = [
            {"text": document(1000 * k + i), "name": f"{source} {i}", "n": 1.50,
             "where": {"source": source, "row": i}}
            for i in range(180)
        ]  # fmt: skip
        records += [{"text": document(i), "n": None} for i in range(15)]  # copies of `one`
        records += [{"text": "short"}] * 4 + [{"text": ""}]
        for half in range(2):
            write_jsonl(folder / f"raw/{source}/{half}.jsonl", records[half::2])
    return {
        "sources": [
            {"name": name, "files": [f"raw/{name}/*.jsonl"]} for name in ("one", "two", "three")
        ],
        "input": {"part_bytes": 120_000},
        "splits": {"validation": 0.05, "test": 0.05},
        "output": {"shard_bytes": 150_000},
        "tokenizer": {"source": "train", "train_vocabulary": 512},
    }


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every final text and token file of a run, by path."""
    files = sorted((folder / "results/corpus").rglob("*")) + sorted(
        (folder / "results/tokens").rglob("*")
    )
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.is_file() and path.name[0] != "."
    }


def summary(folder: Path) -> dict:
    return json.loads((folder / "results/summary.json").read_text())


def data_folder() -> Path | None:
    """Real corpora and tokenizers to test on, where there are any."""
    found = os.environ.get("CORPUSMILL_DATA")
    return Path(found) if found else None
