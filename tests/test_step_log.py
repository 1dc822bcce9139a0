"""A job's log: what it did, how it ended; and the exit code. In processes of their own."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from corpusmill.run.job_state import FAILED, FINISHED, RUNNING, STOPPED, load_state
from corpusmill.run.step_log import BOUND, SAY_KILLED

ROOT = Path(__file__).parent.parent
START = """
import logging, sys, time
from corpusmill.run import job_progress as progress
from corpusmill.run.step_log import step_log
with step_log(sys.argv[1]):
"""


@pytest.fixture
def run(tmp_path):
    """Runs a body in step_log: (exit code, what the terminal shows, the log)."""

    def job(body: str) -> tuple[int, str, str]:
        code = START + "\n".join(f"    {line}" for line in body.splitlines())
        path = tmp_path / "job.log"
        command = [sys.executable, "-W", "error", "-c", code, str(path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr, path.read_text()

    return job


def test_step_log__of_a_job_that_ends_well(run):
    code, shown, log = run('logging.info("3 documents")')
    assert (code, shown) == (0, "")
    first, last = log.splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\d 3 documents", first)
    assert re.search(r"finished: [\d.]+ s, [\d.]+ s of CPU, memory \d+ MB$", last)


def test_step_log__says_what_its_job_may_hold(run, monkeypatch):
    monkeypatch.setenv(BOUND, "1500")
    _, _, log = run('with progress.phase("counting"):\n    time.sleep(2.05)')
    going, last = log.splitlines()
    assert re.search(r", memory \d+ of 1,500 MB allowed$", going)
    assert re.search(r", memory \d+ of 1,500 MB allowed$", last)


def test_step_log__says_something_within_two_seconds(run):
    body = 'with progress.phase("counting", 7, "parts"):\n    time.sleep(2.05)'
    code, _, log = run(body)
    assert code == 0
    assert "counting: 0 of 7 parts, 0 % (2 s)" in log


@pytest.mark.parametrize("error", ["ValueError", "FileNotFoundError"])
def test_step_log__wrong_input_ends_with_its_message_alone(run, error):
    code, shown, log = run(f'raise {error}("data/a.jsonl:3: blank line")')
    assert code == 1
    assert shown == "error: data/a.jsonl:3: blank line\n"
    assert "Traceback" in log
    assert "failed after" in log
    assert log.rstrip().endswith("error: data/a.jsonl:3: blank line")
    assert "finished" not in log


def test_step_log__our_own_mistake_shows_its_traceback(run):
    code, shown, log = run("assert 1 == 2, (1, 2)")
    assert code == 1
    assert "AssertionError: (1, 2)" in shown
    assert "AssertionError: (1, 2)" in log


def test_state__without_its_log_is_of_an_earlier_attempt(run, tmp_path):
    run('raise ValueError("a.jsonl:3: blank")')
    assert load_state(tmp_path / "job.log").state == FAILED
    (tmp_path / "job.log").unlink()
    assert load_state(tmp_path / "job.log") is None


def test_step_log__starts_the_log_anew(run):
    run('logging.info("first run")')
    _, _, log = run('logging.info("second run")')
    assert "first run" not in log


def test_step_log__an_exit_is_not_called_finished(run):
    code, _, log = run("sys.exit(3)")
    assert code == 3
    assert "finished" not in log


@pytest.mark.parametrize(("code", "says"), [(137, "error: killed (signal 9)"), (1, "")])
def test_say_killed__is_one_line_in_the_log_and_at_the_terminal(tmp_path, code, says):
    log = tmp_path / "a job.log"
    log.write_text("12:00:00 reading\n")
    command = ["sh", "-c", SAY_KILLED, str(log), str(code), "600"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stderr.startswith(says)
    assert done.stderr.count("\n") == bool(says)
    assert log.read_text() == "12:00:00 reading\n" + done.stderr
    state = load_state(log)
    assert (state and state.said) == (done.stderr[7:-1] or None)


@pytest.mark.parametrize(
    ("body", "state", "said", "is_fault"),
    [
        ("pass", FINISHED, "", False),
        ('raise ValueError("a.jsonl:3: blank")', FAILED, "a.jsonl:3: blank", False),
        ("assert 1 == 2, (1, 2)", FAILED, "AssertionError: (1, 2)", True),
        ("import os, signal; os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", STOPPED,
         "stopped: the run was interrupted", False),
        ("import os; os._exit(0)", RUNNING, "", False),
    ],
)  # fmt: skip
def test_state__is_what_the_log_says_for_programs(run, tmp_path, body, state, said, is_fault):
    run(body)
    found = load_state(tmp_path / "job.log")
    assert (found.state, found.said, found.is_fault) == (state, said, is_fault)
    assert found.process > 1
    assert state == RUNNING or (found.memory_mb > 5 and found.cpu_seconds > 0)


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (signal.SIGINT, "error: stopped: the run was interrupted\n"),
        (
            signal.SIGTERM,
            "error: stopped by signal 15: the job was cancelled, or ran out of time\n",
        ),
    ],
)
def test_step_log__of_a_stopped_job_says_so(run, number, told):
    code, shown, log = run(f"import os\nos.kill(os.getpid(), {int(number)})\ntime.sleep(9)")
    assert code == 1
    assert shown == told
    assert log.rstrip().endswith(shown.rstrip())


FAULTS = {
    "full": (
        "ENOSPC",
        "results/a: the disk or the quota is full (No space left on device)",
    ),
    "quota": ("EDQUOT", "results/a: the disk or the quota is full"),
    "gone": ("ENOENT", "results/a: expected a file, found none"),
    "unmounted": ("EIO", "results/a: the disk of this file does not respond"),
    "read only": ("EROFS", "results/a: no permission to read or write this file"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_step_log__says_of_a_disk_which_file_and_what_to_do(run, name):
    number, expected = FAULTS[name]
    code, shown, log = run(
        f'import errno, os\nraise OSError(errno.{number}, os.strerror(errno.{number}), "results/a")'
    )
    assert code == 1
    assert shown.startswith(f"error: {expected}")
    assert len(shown.splitlines()) == 1
    assert log.rstrip().endswith(shown.rstrip())


def test_step_log__that_cannot_be_written_is_told_once_and_the_job_goes_on():
    code = START + '    logging.info("a")\n    logging.info("b")\n    print("done")'
    command = [sys.executable, "-W", "error", "-c", code, "/dev/full"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert done.stderr.startswith("error: /dev/full: the disk or the quota is full")
    assert done.stderr.count("\n") == 1


WRITES_TOO_MUCH = """
import resource, signal
from pathlib import Path
from corpusmill.mill.storage.files import writing
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
with writing(Path(sys.argv[1]).parent / "table.arrow") as file:
    import pyarrow as pa
    with pa.ipc.new_file(file, pa.schema([("n", pa.int64())])) as writer:
        for _ in range(100):
            writer.write_batch(pa.record_batch([pa.array(range(10_000))], ["n"]))
"""


def test_writing__where_there_is_no_room_names_the_file_and_leaves_nothing(run, tmp_path):
    code, shown, _ = run(WRITES_TOO_MUCH)
    assert code == 1
    assert shown.startswith(f"error: {tmp_path}/table.arrow: the disk or the quota is full")
    assert {path.name for path in tmp_path.iterdir()} == {"job.log", ".job.log.json"}
