"""Files between jobs that are not what was written: a job that reads one says so, by its name."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from workflow import digests, document, mill, snakemake, write_jsonl

from corpusmill.run.job import bound
from corpusmill.storage.sums import SUMS, sums_path

READ_BY = {
    "plan/parts.jsonl": ["summarize"],
    "text/{n}.arrow": ["span", "cut"],
    "text/{n}.json": ["admit", "ledger", "manifest"],
    "quarantine/{n}.jsonl": ["ledger"],
    "admitted.json": ["summarize"],
    "spans/{n}.npy": ["repeat"],
    "spans/{n}.json": ["complete"],
    "spans/complete.json": ["repeat"],
    "repeats/{n}.npy": ["cut"],
    "repeats/{n}.json": ["complete"],
    "repeats/complete.json": ["cut"],
    "cut/{n}.arrow": ["measure"],
    "cut/{n}.parquet": ["ledger"],
    "cut/{n}.npy": ["assign"],
    "cut/{n}.json": ["ledger"],
    "measures/{n}.arrow": ["filter", "ledger", "tally"],
    "edited/{n}.arrow": ["sign", "scatter", "ledger"],
    "edited/{n}.parquet": ["ledger"],
    "edited/{n}.npy": ["assign"],
    "edited/{n}.json": ["ledger"],
    "filter/{n}.arrow": ["band", "extract", "assign", "ledger"],
    "filter/{n}.json": ["allow"],
    "signatures/{n}.npy": ["band", "pair"],
    "digests/{n}.npy": ["band", "pair", "assign", "decontaminate"],
    "bands/{n}.npy": ["pair"],
    "bands/{n}.texts.npy": ["pair"],
    "bands/{n}.json": ["complete"],
    "bands/complete.json": ["pair"],
    "pairs/{n}.npy": ["group", "extract"],
    "pairs/{n}.json": ["complete"],
    "pairs/complete.json": ["group", "extract"],
    "groups/labels.npy": ["extract"],
    "groups/starts.npy": ["extract"],
    "extracts/{n}.arrows": ["resolve"],
    "extracts/{n}.npy": ["resolve"],
    "extracts/{n}.edges.npy": ["resolve"],
    "extracts/{n}.starts.npy": ["resolve"],
    "extracts/{n}.json": ["complete"],
    "extracts/complete.json": ["resolve"],
    "resolved/{n}.npy": ["assign"],
    "resolved/{n}.json": ["complete"],
    "resolved/complete.json": ["assign"],
    "assign/{n}.arrow": ["decontaminate"],
    "assign/{n}.json": ["complete"],
    "assign/complete.json": ["holdout"],
    "clusters/{n}.parquet": ["ledger", "report"],
    "duplicates.json": ["summarize"],
    "holdout/{n}.npy": ["holdout"],
    "holdout/evaluation.npy": ["holdout"],
    "holdout/evaluation.json": ["manifest"],
    "holdout/all.npy": ["decontaminate"],
    "decided/{n}.arrow": ["scatter", "ledger", "tally"],
    "scatter/{n}.arrows": ["gather"],
    "scatter/{n}.npy": ["gather"],
    "scatter/{n}.json": ["complete"],
    "scatter/complete.json": ["gather"],
    "corpus/{split}/{n}.jsonl.zst": ["encode", "verify"],
    "corpus/{split}/{n}.json": ["verify", "manifest", "summarize"],
    "tokenizer/tokenizer.json": ["encode"],
    "tokenizer/tokenizer_config.json": ["encode"],
    "tokenizer/corpusmill.json": ["encode"],
    "tokenizer/corpusmill-plain.json": ["encode"],
    "tokenizer/corpusmill-bytes.npy": ["encode"],
    "tokens/{split}/{n}.bin": ["verify", "join"],
    "tokens/{split}/{n}.idx": ["verify"],
    "tokens/{split}/{n}.json": ["verify", "join", "manifest", "summarize"],
    "tokens/train.json": ["manifest"],
    "tokens/meta.pkl": ["summarize"],
    "placements/{split}/{n}.parquet": ["verify"],
    "verify/{split}/{n}.txt": ["manifest"],
    "ledger/{n}.json": ["manifest", "summarize"],
    "tally/{n}.bins.parquet": ["report"],
    "tally/{n}.totals.parquet": ["report"],
    "tally/{n}.json": ["summarize"],
    "manifest.json": ["summarize"],
    "summary.json": ["report"],
    "summary.txt": ["report"],
}
"""Every kind of file that a later job reads, and the rules of these jobs. {n}: a number."""

READ_BY_NOBODY = {
    "allowed.json",
    "verify/{split}/{n}.json",
    "ledger/{n}.parquet",
    "tokens/{joined}.bin",
    "eye_test.txt",
    "report/statistics.parquet",
    "report/histograms.parquet",
}
"""Jobs wait for them, no more; or nothing comes after them. The manifest has what was meant."""


def kind_of(path: Path) -> str:
    """The kind of a file below results."""
    name = re.sub(r"\d{5}", "{n}", str(path))
    name = re.sub(r"(tokens)/(train|val|test)\.bin", r"\1/{joined}.bin", name)
    name = re.sub(r"(tokens)/(train|val|test)\.json", r"\1/train.json", name)
    return re.sub("/(train|validation|test)/", "/{split}/", name)


class Job(NamedTuple):
    rule: str
    given: dict


def jobs_of(dry_run: str) -> Iterator[Job]:
    """Of a dry run with -p: what each job is told, as its script reads it."""
    found = re.findall(r'_SCRIPTS/(\w+)\.py" \S+ <<\'JOB\'.*\n(.*)\n(.*)\nJOB\n', dry_run)
    for rule, settings, paths in found:
        yield Job(rule, json.loads(settings) | json.loads(paths))


class Milled(NamedTuple):
    folder: Path
    config: dict
    jobs: list[Job]

    def file_of(self, kind: str) -> Path:
        """The largest of its kind."""
        files = [path for path in written(self.folder) if kind_of(path) == kind]
        largest = max(files, key=lambda path: (self.folder / "results" / path).stat().st_size)
        return Path("results") / largest


def written(folder: Path) -> list[Path]:
    """The files of a run that have sums, below results."""
    results = folder / "results"
    sums = results.rglob(f".*{SUMS}")
    return sorted(
        path.relative_to(results).with_name(path.name.removeprefix(".").removesuffix(SUMS))
        for path in sums
    )


def prose(number: int, words: int) -> str:
    """Lines of so many words, a line that c4 cuts, and a line that stands in many texts."""
    text = document(number, 96).split()
    lines = [" ".join(text[k : k + words]) + "." for k in range(0, 96, words)]
    shared = f"This line stands in many texts {number % 3}."
    return "\n".join([*lines, f"no end mark {number}", shared])


def corpus(folder: Path) -> dict:
    records = [{"text": prose(k, 8), "name": f"document {k}"} for k in range(240)]
    records += [{"text": prose(k, 12)} for k in range(40)]  # like others, with no line in common
    for part in range(3):
        lines = [*records[part::3], {"text": "short"}, {"wrong": "no text"}]
        write_jsonl(folder / f"raw/{part}.jsonl", lines)
    write_jsonl(folder / "raw/held.jsonl", [{"text": prose(k, 8)} for k in range(20, 24)])
    return {
        "sources": [
            {"name": "s", "files": [f"raw/{part}.jsonl" for part in range(3)],
             "max_malformed_fraction": 0.5, "max_dropped_fraction": 1.0,
             "max_duplicate_fraction": 1.0},
            {"name": "held", "files": ["raw/held.jsonl"], "held_out": True},
        ],
        "input": {"part_bytes": 65_536},
        "filters": [{"name": "empty"}, {"name": "c4"}],
        "spans": {"unit": "line"},
        "splits": {"validation": 0.1, "test": 0.1},
        "output": {"shard_bytes": 65_536, "join": True},
        "tokenizer": {"source": "train", "train_vocabulary": 400},
    }  # fmt: skip


@pytest.fixture(scope="module")
def milled(tmp_path_factory) -> Milled:
    folder = tmp_path_factory.mktemp("milled")
    config = corpus(folder)
    mill(folder, config)
    told = snakemake(folder, "--configfile", "mine.yaml", "--forceall", "-n", "-p")
    return Milled(folder, config, list(jobs_of(told.stdout + told.stderr)))


def flipped(place: float) -> Callable:
    def damage(path: Path, other: Path) -> None:
        content = bytearray(path.read_bytes())
        at = min(int(place * len(content)), len(content) - 1)
        content[at] ^= 1 << at % 8
        path.write_bytes(content)

    return damage


def truncated(path: Path, other: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def emptied(path: Path, other: Path) -> None:
    path.write_bytes(b"")


def of_another(path: Path, other: Path) -> None:
    path.write_bytes(other.read_bytes())


def of_another_with_its_sums(path: Path, other: Path) -> None:
    of_another(path, other)
    shutil.copyfile(sums_path(other), sums_path(path))


def without_sums(path: Path, other: Path) -> None:
    sums_path(path).unlink()


DAMAGES = {
    "flipped early": flipped(0.02),
    "flipped in the middle": flipped(0.5),
    "flipped late": flipped(0.999),
    "truncated": truncated,
    "empty": emptied,
    "of another": of_another,
    "of another, sums too": of_another_with_its_sums,
    "without sums": without_sums,
}


def other_than(path: Path, milled: Milled) -> Path:
    """A file of the same kind with other content; of the same folder if there is one alone."""
    kind, content = kind_of(path.relative_to("results")), path.read_bytes()
    places = [Path("results") / one for one in written(milled.folder)]
    alike = [one for one in places if kind_of(one.relative_to("results")) == kind]
    others = [one for one in alike if one.read_bytes() != content]
    return next(one for one in (*others, *places) if one != path)


def told(rules: list[str], milled: Milled, step: Callable) -> str:
    """What the first job of these rules to fail says; nothing if none does."""
    for job in milled.jobs:
        if job.rule in rules:
            function = getattr(step(job.rule), job.rule)
            try:
                function(**bound(function, job.given))
            except ValueError as error:
                return str(error)
    return ""


def test_every_file_of_a_run__is_read_with_its_sums_or_by_nobody(milled):
    results = milled.folder / "results"
    there = {path.relative_to(results) for path in results.rglob("*") if path.is_file()}
    without = {path for path in there if path.name[0] != "."} - set(written(milled.folder))
    assert {path.parts[0] for path in without} <= {"report", "report.html", "plan"}
    assert {path.name for path in without if path.parts[0] == "plan"} == {"record.json"}
    assert {kind_of(path) for path in written(milled.folder)} == {*READ_BY, *READ_BY_NOBODY}


@pytest.mark.one_in(15)
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", READ_BY)
def test_damaged_file__fails_the_job_that_reads_it(kind, damage, milled, step, monkeypatch):
    monkeypatch.chdir(milled.folder)
    path = milled.file_of(kind)
    other = other_than(path, milled)
    before = {file: file.read_bytes() for file in (path, sums_path(path))}
    DAMAGES[damage](path, other)
    try:
        said = told(READ_BY[kind], milled, step)
        assert re.search(f"^{path}: .* run again", said, re.S | re.M), said
    finally:
        for file, content in before.items():
            file.write_bytes(content)


def test_every_file_with_sums__is_an_output_which_the_engine_makes_when_missing(milled):
    told = snakemake(milled.folder, "--configfile", "mine.yaml", "--detailed-summary")
    outputs = {line.split("\t")[0] for line in told.stdout.splitlines()[1:]}
    for path in written(milled.folder):
        made = Path("results") / path
        assert {str(made), str(made.parent)} & outputs or path.parts[0] == "plan", path


MADE_ANEW = [kind for kind in READ_BY if not kind.startswith("plan/")]
GROUPS = 8


def reading(kinds: list[str], milled: Milled) -> list[str]:
    """What -R takes so that each kind is read again: a rule of its readers, or its own barrier."""
    readers = [(READ_BY[kind][0], milled.file_of(kind).parent) for kind in kinds]
    return [str(at / "complete.json") if rule == "complete" else rule for rule, at in readers]


@pytest.mark.one_in(GROUPS)
@pytest.mark.parametrize("group", range(GROUPS))
def test_damaged_files__removed_are_made_anew(group, milled, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(milled.folder, folder)
    kinds = MADE_ANEW[group::GROUPS]
    for kind in kinds:
        path = folder / milled.file_of(kind)
        if "tokenizer/" in kind:
            shutil.rmtree(path.parent)
        else:
            path.unlink()
    mill(folder, milled.config, "-R", *reading(kinds, milled))
    assert digests(folder) == digests(milled.folder)
    assert written(folder) == written(milled.folder)
    assert os.listdir(folder / "results") == os.listdir(milled.folder / "results")


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "kind",
    [
        "text/{n}.arrow",
        "bands/complete.json",  # barriers and the tokenizer are looked at before any job
        "tokenizer/tokenizer.json",
        "assign/{n}.arrow",
        "tokens/{split}/{n}.idx",  # held against the SHA-256 of the manifest
        "summary.json",
    ],
)
def test_damaged_file__stops_the_run_until_it_is_removed(kind, milled, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(milled.folder, folder)
    path = folder / milled.file_of(kind)
    flipped(0.5)(path, path)
    asking = ("--configfile", "mine.yaml", "--cores", "2", "-R", *reading([kind], milled))
    failed = snakemake(folder, *asking)
    assert failed.returncode == 1
    found = f"{path.relative_to(folder)}: (block 0|SHA-256) is .*not what was written"
    assert re.search(found, failed.stderr, re.S)
    if "tokenizer/" in kind:
        shutil.rmtree(path.parent)
    else:
        path.unlink()
    done = snakemake(folder, *asking)
    assert done.returncode == 0, done.stderr
    assert digests(folder) == digests(milled.folder)
