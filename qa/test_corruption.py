"""Files between jobs that are not what was written: a job that reads one says so, by its name."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tokenizer_kinds import byte_level
from workflow import digests, document, mill, snakemake, write_jsonl

from corpusmill.mill.storage.recipes import Recipes, following
from corpusmill.mill.storage.sums import encoded, load_sums, sums_path
from corpusmill.run.job import bound
from corpusmill.run.recipes import RECIPES
from qa.kinds_of_files import READ_BY, READ_BY_NOBODY, kind_of, written


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
        "shuffle": {"order": "as_found"},
        "output": {"shard_bytes": 65_536, "join": True, "pack": [64]},
        "tokenizer": {"source": byte_level(folder / "tokenizer")},
        "mixture": {
            "budget": {"tokens": 30_000}, "by": ["source", {"value": "duplicates", "bins": [2]}],
        },
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


def of_another_recipe(path: Path, other: Path) -> None:
    """The bytes do not matter: whoever made them was told something else."""
    sums_path(path).write_bytes(encoded(load_sums(path)._replace(recipe=b"another recipe..")))


DAMAGES = {
    "flipped early": flipped(0.02),
    "flipped in the middle": flipped(0.5),
    "flipped late": flipped(0.999),
    "truncated": truncated,
    "empty": emptied,
    "of another": of_another,
    "of another, sums too": of_another_with_its_sums,
    "without sums": without_sums,
    "of another recipe": of_another_recipe,
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
    with following(Recipes.load(Path("results") / RECIPES)):
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
    described = {"report", "report.html", "DATASET_CARD.md", "training_content.md"}
    assert {path.parts[0] for path in without} <= {*described, "plan"}
    assert {path.name for path in without if path.parts[0] == "plan"} == {"record.json", "recipes"}
    assert {kind_of(path) for path in written(milled.folder)} == {*READ_BY, *READ_BY_NOBODY}


@pytest.mark.one_in(8)
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


def reading(kinds: list[str]) -> list[str]:
    """Return one rule for each kind that reads it, as arguments of -R."""
    return [READ_BY[kind][0] for kind in kinds]


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
    mill(folder, milled.config, "-R", *reading(kinds))
    assert digests(folder) == digests(milled.folder)
    assert written(folder) == written(milled.folder)
    assert os.listdir(folder / "results") == os.listdir(milled.folder / "results")


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "kind",
    [
        "text/{n}.arrow",
        "bands/{n}.json",  # counts and the tokenizer are looked at before any job
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
    asking = ("--configfile", "mine.yaml", "--cores", "2", "-R", *reading([kind]))
    failed = snakemake(folder, *asking)
    assert failed.returncode == 1
    found = f"{path.relative_to(folder)}: (block 0|SHA-256) .*(differs from|not) what was written"
    assert re.search(found, failed.stderr, re.S)
    if "tokenizer/" in kind:
        shutil.rmtree(path.parent)
    else:
        path.unlink()
    done = snakemake(folder, *asking)
    assert done.returncode == 0, done.stderr
    assert digests(folder) == digests(milled.folder)
