"""A script is told its job as JSON on standard input, and gets paths."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from corpusmill.mill.storage.recipes import Recipe, settings_digest
from corpusmill.run.recipes import save_recipes

ROOT = Path(__file__).parent.parent
BODY = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from typing import NamedTuple
from corpusmill.run.job import run

class Sampling(NamedTuple):
    weights: dict[str, float]
    seed: int | None

class Made(NamedTuple):
    one: Path
    other: Path

def step(many: list[Path], made: Made, sampling: Sampling, part: int, share: float) -> None:
    print(many, made, sampling, part, share, sep="\\n")

run(step)
"""


@pytest.fixture
def run(tmp_path):
    """Runs the body with a job: the finished process and the log."""
    script = tmp_path / "step.py"
    script.write_text(BODY.format(root=str(ROOT)))

    def of(job: str, *arguments: str):
        done = subprocess.run([sys.executable, script, *arguments], input=job, text=True,
                              capture_output=True, cwd=tmp_path)  # fmt: skip
        log = tmp_path / "step.log"
        return done, log.read_text() if log.exists() else None

    return of


SETTINGS = {"sampling": {"weights": {"web": 0.5}, "seed": None}, "part": "00007", "share": 1}
PATHS = {"many": ["a b.json", "ü'{}\n.json"], "one": "c", "other": "d"}


def job(settings=SETTINGS, paths=PATHS) -> str:
    return f"{json.dumps(settings)}\n{json.dumps(paths)}\n"


def test_job__is_bound_by_name_and_type(run):
    done, log = run(job(), "step.log")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        str([Path("a b.json"), Path("ü'{}\n.json")]),
        f"Made(one={Path('c')!r}, other={Path('d')!r})",
        "Sampling(weights={'web': 0.5}, seed=None)", "7", "1.0",
    ]  # fmt: skip
    assert "finished" in log


def test_job__wildcards_that_nobody_takes_are_no_fault(run):
    done, _ = run(job(SETTINGS | {"split": "train"}), "step.log")
    assert done.returncode == 0


def test_job__without_a_log_says_how_it_is_used(run):
    done, log = run("{}")
    assert done.returncode == 1
    assert "usage: " in done.stderr
    assert "LOG < JOB" in done.stderr
    assert log is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("", "found 0 lines"),
        ("{}", "found 1 lines"),
        ("no JSON\n{}\n", "Expecting value"),
        (job({}), "the job has no value for weights"),
        (job(paths=PATHS | {"many": "a"}), "expected a list"),
    ],
)
def test_job__that_is_none_ends_with_one_line(run, given, says):
    done, log = run(given, "step.log")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "Traceback" in log


@pytest.mark.parametrize("step", ["admit", "complete", "guard", "join", "plan", "summarize"])
def test_small_steps__start_without_numpy(step):
    code = f"import sys, scripts.{step}; sys.exit('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == 0


def test_job__follows_the_recipes_of_its_run(run, tmp_path):
    paths = PATHS | {"one": "results/a/0.json"}
    table, settings = tmp_path / "results/plan/recipes", json.dumps(SETTINGS)
    done, _ = run(job(paths=paths), "step.log")
    assert done.returncode == 1
    assert (
        "results/plan/recipes: the file is missing, although a run writes it before its first job."
        in done.stderr
    )
    save_recipes(table, {"a/0.json": Recipe(settings_digest(settings), b"a" * 16)})
    assert run(job(paths=paths), "step.log")[0].returncode == 0
    save_recipes(table, {"a/0.json": Recipe(settings_digest(f"{settings} "), b"a" * 16)})
    assert run(job(paths=paths), "step.log")[0].returncode == 0
    save_recipes(table, {"a/0.json": Recipe(settings_digest("{}"), b"a" * 16)})
    done, _ = run(job(paths=paths), "step.log")
    assert done.returncode == 1
    assert "the settings of this job differ from those in results/plan/recipes" in done.stderr
    assert "Traceback" not in done.stderr
