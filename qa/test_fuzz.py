"""Ten seeds of the fuzzer and every law once; and that the fuzzer does what it says."""

import hashlib
import itertools
import json
import multiprocessing
import os
import random
import subprocess
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from warm import CLIENT_OF, warm_jobs, warm_python

from corpusmill.run.config import Config
from qa.fuzz import configs, figures, files, laws, records, texts
from qa.fuzz.campaign import work
from qa.fuzz.corpora import generate
from qa.fuzz.runner import unexplained

# Small ones, of which some have to be refused: a run of one part is some thirty jobs.
SEEDS = [0, 6, 7, 8, 13, 21, 22, 26, 28, 35]
LAW_SEEDS = {
    "cores": 5,
    "killed": 71,
    "settings-back": 28,
    "file-added": 69,
    "file-split": 66,
    "order-of-files": 0,
    "source-doubled": 67,
}


@pytest.fixture(scope="session")
def runs(request, tmp_path_factory):
    """What comes of each seed and each law that is tested, two at a time."""
    folder = tmp_path_factory.mktemp("runs")
    spawn = multiprocessing.get_context("spawn")
    asked = [item.callspec.params for item in request.session.items if "runs" in item.fixturenames]
    warm_python()  # one for all
    with ProcessPoolExecutor(2, spawn) as pool:
        yield {
            (seed, law): pool.submit(work, seed, folder / f"{law}-{seed}", law)
            for seed, law in ((params["seed"], params.get("law")) for params in asked)
        }


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_fuzz__what_is_milled_is_what_the_oracle_has(runs, seed):
    assert runs[seed, None].result().differences == []


@pytest.mark.parametrize(("law", "seed"), LAW_SEEDS.items())
def test_fuzz__laws_hold(runs, law, seed):
    assert runs[seed, law].result().differences == []


def test_fuzz__has_a_seed_for_every_law():
    assert LAW_SEEDS.keys() == laws.LAWS.keys()


def bytes_of(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.some(4)
@pytest.mark.parametrize("seed", range(20))
def test_generate__same_seed_same_bytes(tmp_path, seed):
    one, two = (generate(seed, tmp_path / name) for name in ("one", "two"))
    assert one == two
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")


@pytest.mark.some(4)
@pytest.mark.parametrize("seed", range(20))
def test_generate__config_is_valid_and_every_pattern_matches(tmp_path, monkeypatch, seed):
    config = generate(seed, tmp_path)
    monkeypatch.chdir(tmp_path)
    Config.checked(configs.whole(config))
    assert all(list(tmp_path.glob(p)) for source in config["sources"] for p in source["files"])


@pytest.mark.parametrize("width", [1, 5, 13])
@pytest.mark.parametrize("threshold", [0.3, 0.625, 0.8, 0.95])
def test_near__is_below_at_and_above_the_threshold(threshold, width):
    base, *others = texts.near(random.Random(1), threshold, width)
    below, at, above = (texts.similarity(base, other, width) for other in others)
    assert below <= at <= above
    if width == 13:  # so long that all shingles differ
        assert below < threshold == at < above


@pytest.mark.parametrize("seed", range(5))
def test_chain__neighbours_are_alike_and_ends_are_not(seed):
    links = texts.chain(random.Random(seed), 0.8, 9)
    alike = [texts.similarity(a, b, 5) for a, b in itertools.pairwise(links)]
    assert min(alike) > 0.6 > texts.similarity(links[0], links[-1], 5)


@pytest.mark.parametrize("seed", range(50))
def test_line__is_json_of_its_members(seed):
    chance = random.Random(seed)
    raw = [("text", records.escaped(chance, "é\u2028\n/😀")), *records.members(chance, "text")]
    got = json.loads(records.line(chance, raw))
    assert got == {name: json.loads(value) for name, value in raw}
    assert got["text"] == "é\u2028\n/😀"


@pytest.mark.parametrize("ending", files.ENDINGS[:3])
@pytest.mark.parametrize("pieces", [1, 5])
def test_pack__is_undone_by_unpack(ending, pieces):
    data = b'{"text":"x"}\n' * 100
    assert files.unpack(files.pack(data, ending, pieces), ending) == data


@pytest.mark.parametrize("kind", files.TYPES)
def test_column__can_be_stored(tmp_path, kind):
    column = files.column(random.Random(1), kind, 30)
    table = pa.table({"c": column})
    pq.write_table(table, tmp_path / "c.parquet", version="2.6")
    assert pq.read_table(tmp_path / "c.parquet").num_rows == 30


@pytest.mark.parametrize(("error", "is_fault"), [("KeyError: 1", True), ("ValueError: a", False)])
def test_unexplained__are_tracebacks_of_what_is_no_wrong_input(tmp_path, error, is_fault):
    log = tmp_path / "logs/sign/00000.log"
    log.parent.mkdir(parents=True)
    log.write_text(f"12:00:00 failed\nTraceback (most recent call last):\n  x\n{error}\n")
    assert bool(unexplained(tmp_path, "")) == is_fault


def test_unexplained__is_a_traceback_of_the_rules(tmp_path):
    told = 'ValueError in file "rules/common.smk", line 137:\ntoo small\n  File "x", line 1\n'
    assert ["too small" in line for line in unexplained(tmp_path, told)] == [True]
    assert unexplained(tmp_path, "dedup.rows: 6 exceeds minhash.permutations.\n") == []


def test_unexplained__a_step_that_says_why_is_none(tmp_path):
    told = (
        'Error in rule guard:\nCalledProcessError in file "rules/assign.smk", line 5:\nCommand x\n'
    )
    assert unexplained(tmp_path, told) == []


def test_never_reached__are_the_listed_values_that_no_run_had():
    missing = figures.never_reached({"normalize.mode": {"nfc": 3, "ftfy": 1, "none": 0}})
    assert "normalize.mode = none" in missing
    assert "normalize.mode = nfc" not in missing


def test_warm_jobs__end_as_python_ends(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nprint(sys.argv, sys.stdin.read())\nsys.exit('error: so it is')\n"
    )
    with warm_jobs():
        done = subprocess.run(
            [os.environ[CLIENT_OF], "-P", str(script), "a"],
            input="told", capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.stdout == f"[{str(script)!r}, 'a'] told\n"
    assert (done.stderr, done.returncode) == ("error: so it is\n", 1)
