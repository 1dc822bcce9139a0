"""The example that trains: it learns, says so, stops and goes on to the last bit."""

import csv
import importlib.util
import math
import os
import signal
import subprocess
import sys
import time

import pytest
from stream_corpus import write_corpus
from workflow import ROOT

FOLDER = ROOT / "examples/train"
SMALL = ("--layers", "1", "--width", "16", "--heads", "2", "--length", "16", "--batch", "2",
         "--accumulate", "2")  # fmt: skip
needs_torch = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="no torch here")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    sizes = [[7 + k % 90 for k in range(200)], [40] * 90]
    return write_corpus(tmp_path_factory.mktemp("corpus"), {"train": sizes}, ids=300)


def environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


def train(results, folder, *arguments: str, processes: int = 1) -> subprocess.CompletedProcess:
    several = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes))
    start = [sys.executable, *(several if processes > 1 else ()), str(FOLDER / "train.py")]
    return subprocess.run(
        [*start, str(results), "--out", str(folder), *arguments],
        env=environment(), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def losses(folder) -> list[str]:
    with open(folder / "loss.csv") as file:
        return [row["loss"] for row in csv.DictReader(file)]


def test_train__without_what_it_needs_says_how_to_get_it(tmp_path):
    """An environment of nothing but Python."""
    done = subprocess.run(
        [sys.executable, "-E", "-S", str(FOLDER / "train.py"), "nowhere"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "is not installed here: pip install " in done.stderr
    assert "Traceback" not in done.stderr


@needs_torch
def test_train__of_no_corpus_is_a_sentence(tmp_path):
    done = train(tmp_path / "nowhere", tmp_path / "out")
    assert done.returncode == 1
    assert "nowhere/manifest.json: no such file" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@needs_torch
def test_train__begins_near_ln_of_the_vocabulary_and_learns(results, tmp_path):
    done = train(results, tmp_path / "out", "--test")
    assert done.returncode == 0, done.stderr
    found = [float(loss) for loss in losses(tmp_path / "out")]
    assert found[0] == pytest.approx(math.log(300), abs=0.5)
    assert found[-1] < found[0] - 0.3
    assert "ln(vocabulary) = 5.70" in (tmp_path / "out/loss.svg").read_text()


@needs_torch
@pytest.mark.parametrize("processes", [1, 2])
def test_train__gone_on_with_has_the_same_losses_to_the_last_bit(results, processes, tmp_path):
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    assert train(results, whole, *SMALL, "--steps", "7", processes=processes).returncode == 0
    assert train(results, parted, *SMALL, "--steps", "3", processes=processes).returncode == 0
    done = train(results, parted, *SMALL, "--steps", "7", "--resume", processes=processes)
    assert done.returncode == 0, done.stderr
    assert losses(parted) == losses(whole)
    assert len({*losses(whole)}) == 7


@needs_torch
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_train__stopped_saves_and_goes_on_as_if_never_stopped(results, number, tmp_path):
    whole, out = tmp_path / "whole", tmp_path / "out"
    start = [sys.executable, str(FOLDER / "train.py"), str(results), "--out", str(out), *SMALL]
    said = []
    with subprocess.Popen(
        [*start, "--steps", "100000"], env=environment(), stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(number, signal.default_int_handler),
    ) as running:  # fmt: skip
        for line in running.stderr:
            said.append(line)
            if line.startswith("step 3/"):
                running.send_signal(number)
    assert running.returncode == 128 + number, "".join(said)
    assert said[-1].startswith("Stopped. --resume goes on from here.")
    steps = len(losses(out))
    assert train(results, out, *SMALL, "--steps", str(steps + 3), "--resume").returncode == 0
    assert train(results, whole, *SMALL, "--steps", str(steps + 3)).returncode == 0
    assert losses(out) == losses(whole)


@needs_torch
def test_train__replaces_no_checkpoint_and_wants_one_to_go_on(results, tmp_path):
    none = train(results, tmp_path, *SMALL, "--steps", "1", "--resume")
    assert (none.returncode, "no checkpoint to go on from" in none.stderr) == (1, True)
    assert train(results, tmp_path, *SMALL, "--steps", "1").returncode == 0
    again = train(results, tmp_path, *SMALL, "--steps", "1")
    assert (again.returncode, "checkpoint.pt is there" in again.stderr) == (1, True)


def loaded(name: str):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_teller__speaks_while_nothing_moves(capsys, monkeypatch):
    telling = loaded("telling")
    monkeypatch.setattr(telling, "EVERY_SECONDS", 0.01)
    with telling.Teller() as teller:
        teller.now = "waiting for a shard"
        while "waiting for a shard" not in capsys.readouterr().err:
            time.sleep(0.05)


def test_curve__has_a_row_and_a_point_for_each_step(tmp_path):
    loaded("curve").save_curve(tmp_path, [5.5, 5.0, 4.25], 300)
    assert losses(tmp_path) == ["5.5", "5.0", "4.25"]
    points = (tmp_path / "loss.svg").read_text().split('points="')[1].split('"')[0].split()
    heights = [float(point.split(",")[1]) for point in points]
    assert heights == sorted(heights)
    assert len({*heights}) == 3
