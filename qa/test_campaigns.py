"""A sample of each campaign of qa/campaigns: kills, full disks, surroundings, bad inputs."""

import itertools
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from workflow import snakemake

from qa.campaigns import corpus, full_disk, inputs, kills, surroundings
from qa.campaigns.runs import copied, differing, half_written, leftovers, ran


class Whole(NamedTuple):
    folder: Path
    moments: dict[str, list[str]]
    """By step the changes to files that its first job makes."""


def milled(base: Path, make: Callable[[Path], dict]) -> Whole:
    folder, record = base / "run", base / "changes"
    make(folder)
    done = ran(folder, plan={"record": str(record)})
    assert done.code == 0, done.said
    found = kills.changes_of(record)
    return Whole(folder, {step: found[step] for step in found if step in corpus.RULES})


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Whole:
    """Of every rule."""
    return milled(tmp_path_factory.mktemp("whole"), corpus.corpus)


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Whole:
    """Of most rules, and half as long."""
    return milled(tmp_path_factory.mktemp("small"), inputs.corpus)


def some(moments: dict[str, list[str]], first: int, every: int) -> dict[str, list[str]]:
    return dict(itertools.islice(moments.items(), first, None, every))


def test_corpus__has_jobs_of_every_rule_but_the_demos(whole, tmp_path):
    assert whole.moments.keys() == {*corpus.RULES}
    rules = snakemake(tmp_path, "--list-rules").stdout.split()
    assert {*rules} - {*corpus.RULES} == {"all", "complete", "demo", "recall"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("target", "number"), [*itertools.product(("all", "snakemake"), kills.SIGNALS)]
)
def test_killed_run__goes_on_to_the_same_bytes(small, target, number, tmp_path):
    seen = kills.chain(number, target, 0, 2, small.folder, tmp_path / "run")
    assert seen.faults == []
    assert seen.kills > 0


def test_stopped_command__goes_on_to_the_same_bytes(small, tmp_path):
    seen = kills.chain(signal.SIGTERM, "corpusmill", 0, 1, small.folder, tmp_path / "run")
    assert (seen.faults, seen.kills) == ([], 1)


@pytest.mark.parametrize("number", kills.SIGNALS)
def test_killed_job__of_any_rule_is_done_again(whole, number, tmp_path):
    # Other rules by each signal.
    chosen = some(whole.moments, 4 * kills.SIGNALS.index(number), 12)
    found = list(kills.in_jobs(number, 0, chosen, whole.folder, tmp_path / "run"))
    assert [(seen.step, seen.faults) for seen in found if seen.faults] == []
    assert all(seen.happened for seen in found)


@pytest.fixture
def run_on_a_disk(tmp_path) -> Path:
    if not full_disk.can_mount(tmp_path / "disk"):
        pytest.skip("no disk can be mounted here: it takes root")
    return tmp_path / "run"


def test_full_disk__is_told_and_with_room_the_run_goes_on(small, run_on_a_disk):
    chosen = some(small.moments, 4, 20)
    found = list(full_disk.each(chosen, 1.0, 0, small.folder, run_on_a_disk))
    assert [(seen.step, seen.faults) for seen in found if seen.faults] == []
    assert all(seen.happened for seen in found)


def test_full_disk__at_more_rules(whole, run_on_a_disk):
    chosen = some(whole.moments, 1, 8)
    found = list(full_disk.each(chosen, None, 0, whole.folder, run_on_a_disk))
    assert [(seen.step, seen.faults) for seen in found if seen.faults] == []


@pytest.mark.parametrize("name", ["all at once", "order of jobs 1", "odd characters"])
def test_other_surroundings__same_bytes(whole, name, tmp_path):
    cell = next(cell for cell in surroundings.CELLS if name in cell.name)
    assert surroundings.checked(cell, whole.folder, tmp_path / "cell") == []


CASES = inputs.cases()


@pytest.mark.one_in(7)
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_bad_input__is_told_and_once_mended_the_run_goes_on(small, case, tmp_path):
    assert inputs.tried(case, small.folder, tmp_path / "case").faults == []


def test_half_written__finds_a_file_that_is_not_what_was_meant(small, tmp_path):
    folder = copied(small.folder, tmp_path / "run")
    (folder / "results/text").mkdir(parents=True)
    for name in ("00000.json", ".00000.json.sums"):
        content = (small.folder / "results/text" / name).read_bytes()
        (folder / "results/text" / name).write_bytes(content)
    assert list(half_written(folder)) == []
    (folder / "results/text/00000.json").write_bytes(b"{")
    assert [told.split(":")[0] for told in half_written(folder)] == [
        str(folder / "results/text/00000.json")
    ]
    assert "text/00000.json" in differing(folder, small.folder)


def test_leftovers__are_temporary_files_and_locks(tmp_path):
    for name in ("results/a/.b.npy~12-ab", "logs/c/.d.log.lock", "results/a/b.npy"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert leftovers(tmp_path) == ["logs/c/.d.log.lock", "results/a/.b.npy~12-ab"]
