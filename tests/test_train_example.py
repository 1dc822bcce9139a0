"""The example that trains: it learns, says so, stops and goes on to the last bit."""

import csv
import importlib.util
import itertools
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


SLOW_TORCH = """\
import ctypes
ctypes.PyDLL(None).sleep(6)  # and no thread of Python runs meanwhile, as while torch is loaded
raise ModuleNotFoundError("no torch", name="torch")
"""


def with_torch(folder, code: str) -> dict[str, str]:
    """An environment in which torch is this."""
    (folder / "stand_in").mkdir()
    (folder / "stand_in/torch.py").write_text(code)
    there = environment()
    return there | {"PYTHONPATH": os.pathsep.join([str(folder / "stand_in"), there["PYTHONPATH"]])}


def test_train__speaks_every_two_seconds_while_torch_is_loaded(results, tmp_path):
    start = [sys.executable, str(FOLDER / "train.py"), str(results), "--out", str(tmp_path / "o")]
    said = []
    with subprocess.Popen(
        start, env=with_torch(tmp_path, SLOW_TORCH), stderr=subprocess.PIPE, text=True
    ) as running:
        for line in running.stderr:
            said.append((time.monotonic(), line))
    loading = [when for when, line in said if line.startswith("loading torch")]
    assert len(loading) >= 3, said
    # The machine may be busy: twice the promise.
    assert max(later - sooner for sooner, later in itertools.pairwise(loading)) < 4
    assert "torch is not installed here" in said[-1][1]


REFUSED_EARLY = {
    "no corpus": (["nowhere"], "nowhere/manifest.json: no such file"),
    "no checkpoint": (["--resume"], "checkpoint.pt: no checkpoint to go on from"),
    "a checkpoint": (["--out", "kept"], "checkpoint.pt is there: --resume goes on with it"),
    "heads": (["--width", "10", "--heads", "3"], "--width 10 is no multiple of --heads 3"),
    "too long": (["--length", "1000000"], "length 1000000: expected 1 to"),
    "no steps": (["--steps", "0"], "--steps: expected 1 or more, got 0"),
    "no rate": (["--rate", "nan"], "--rate: expected a number above 0, got nan"),
}


@pytest.mark.parametrize("case", REFUSED_EARLY)
def test_train__refuses_before_torch_is_loaded(case, results, tmp_path):
    more, expected = REFUSED_EARLY[case]
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/checkpoint.pt").touch()
    corpus = [] if case == "no corpus" else [str(results)]
    done = subprocess.run(
        [sys.executable, str(FOLDER / "train.py"), *corpus, *more],
        env=with_torch(tmp_path, "raise SystemExit('torch was loaded')"), cwd=tmp_path,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode in (1, 2)
    assert expected in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr + done.stdout
    assert "torch was loaded" not in done.stderr
    assert not (tmp_path / "trained").exists()


def test_rate_at__warms_up_then_falls_as_a_cosine():
    rate = loaded("rates").Rate(peak=0.8, warmup=4, cosine=24)
    assert [rate.at(step) for step in range(4)] == pytest.approx([0.2, 0.4, 0.6, 0.8])
    assert rate.at(4) == pytest.approx(0.8)
    assert rate.at(14) == pytest.approx(0.8 * (0.1 + 0.9 / 2))
    assert rate.at(24) == rate.at(1000) == pytest.approx(0.08)
    falling = [rate.at(step) for step in range(4, 25)]
    assert falling == sorted(falling, reverse=True)
    constant = loaded("rates").Rate(peak=0.8, warmup=0, cosine=0)
    assert {constant.at(step) for step in (0, 1, 10**6)} == {0.8}


@needs_torch
def test_train__begins_near_ln_of_the_vocabulary_and_learns(results, tmp_path):
    done = train(results, tmp_path / "out", "--test")
    assert done.returncode == 0, done.stderr
    found = [float(loss) for loss in losses(tmp_path / "out")]
    assert found[0] == pytest.approx(math.log(300), abs=0.5)
    assert found[-1] < found[0] - 0.3
    assert "ln(vocabulary) = 5.70" in (tmp_path / "out/loss.svg").read_text()


HOW = {
    "plain": (),
    "all": ("--dtype", "bfloat16", "--warmup", "4", "--cosine", "6", "--device", "cpu",
            "--accumulate", "3"),
}  # fmt: skip


@needs_torch
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("how", HOW)
def test_train__gone_on_with_has_the_same_losses_to_the_last_bit(results, how, processes, tmp_path):
    whole, parted, more = tmp_path / "whole", tmp_path / "parted", (*SMALL, *HOW[how])
    assert train(results, whole, *more, "--steps", "7", processes=processes).returncode == 0
    assert train(results, parted, *more, "--steps", "3", processes=processes).returncode == 0
    done = train(results, parted, *more, "--steps", "7", "--resume", processes=processes)
    assert done.returncode == 0, done.stderr
    assert losses(parted) == losses(whole)
    assert len({*losses(whole)}) == 7


@needs_torch
def test_train__learns_otherwise_with_another_rate_or_type(results, tmp_path):
    found = {}
    for name, more in {
        "plain": (), "warm": ("--warmup", "4"), "cosine": ("--cosine", "4"),
        "bf16": ("--dtype", "bfloat16"), "batches": ("--accumulate", "3"),
    }.items():  # fmt: skip
        assert train(results, tmp_path / name, *SMALL, *more, "--steps", "5").returncode == 0
        found[name] = tuple(losses(tmp_path / name))
    assert len(set(found.values())) == len(found)
    assert all(abs(float(one[0]) - math.log(300)) < 0.5 for one in found.values())


@needs_torch
def test_train__with_bf16_learns_too(results, tmp_path):
    done = train(results, tmp_path / "out", "--test", "--dtype", "bfloat16")
    assert done.returncode == 0, done.stderr


@needs_torch
@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_train__on_a_device_that_is_not_here_is_a_sentence(device, results, tmp_path):
    import torch

    if getattr(torch, device).is_available():
        pytest.skip(f"this machine has {device}")
    done = train(results, tmp_path / "out", *SMALL, "--device", device)
    assert done.returncode == 1
    assert f"--device {device}: torch finds none here" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@needs_torch
@pytest.mark.parametrize("damage", ["empty", "cut short", "no zip", "no options"])
def test_train__of_a_damaged_checkpoint_is_a_sentence(damage, results, tmp_path):
    import torch

    file = tmp_path / "checkpoint.pt"
    torch.save({"model": torch.zeros(1000)}, file)
    whole = file.read_bytes()
    damages = {"empty": b"", "cut short": whole[:3000], "no zip": b"x" * 99}
    file.write_bytes(damages.get(damage, whole))
    done = train(results, tmp_path, *SMALL, "--resume")
    assert done.returncode == 1
    assert "checkpoint.pt: " in done.stderr.splitlines()[-1]
    assert "Begin anew" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@needs_torch
def test_train__of_another_model_does_not_go_on(results, tmp_path):
    assert train(results, tmp_path, *SMALL, "--steps", "1").returncode == 0
    other = train(results, tmp_path, *SMALL, "--steps", "2", "--resume", "--width", "32")
    assert other.returncode == 1
    assert "checkpoint.pt: made with --width 16, this is 32" in other.stderr.splitlines()[-1]
    told = train(results, tmp_path, *SMALL, "--steps", "2", "--resume", "--rate", "0.1")
    assert told.returncode == 0
    assert "--rate was 0.001 and is 0.1 now" in told.stderr


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
