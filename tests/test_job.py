"""A script is told its job as JSON on standard input, and gets paths."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BODY = """
import sys
sys.path.insert(0, {root!r})
from corpusmill.run.job import this_job
with this_job() as job:
    print(job.input.many, job.output.one, job.params.weights, job.params.part, sep="\\n")
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


def test_job__files_are_paths_and_params_as_they_were_told(run):
    told = {"code": "0" * 16, "weights": {"web": 0.5}, "part": "00007"}
    files = {"input": {"many": ["a b.json", "ü'{}\n.json"]}, "output": {"one": "c"}}
    done, log = run(f"{json.dumps(told)}\n{json.dumps(files)}\n", "step.log")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        str([Path("a b.json"), Path("ü'{}\n.json")]), "c", "{'web': 0.5}", "00007",
    ]  # fmt: skip
    assert "finished" in log


def test_job__without_a_log_says_how_it_is_used(run):
    done, log = run("{}")
    assert done.returncode == 1
    assert "usage: " in done.stderr
    assert "LOG < JOB" in done.stderr
    assert log is None


@pytest.mark.parametrize(
    ("job", "says"),
    [("", "found 0 lines"), ("{}", "found 1 lines"), ("no JSON\n{}\n", "Expecting value")],
)
def test_job__that_is_none_ends_with_one_line(run, job, says):
    done, log = run(job, "step.log")
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
