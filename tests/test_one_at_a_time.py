"""Two copies of one job never harm one another: processes of their own, killed at bad moments."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from corpusmill.run import one_at_a_time

ROOT = Path(__file__).parent.parent
# Writes one line to each of two files; between them it waits until a file `go` is there.
BODY = """
import sys, time
sys.path.insert(0, {root!r})
from pathlib import Path
from corpusmill.run import job, one_at_a_time
from corpusmill.mill.storage.files import replacing
one_at_a_time.PAUSE_SECONDS = 0.2

def step(one: Path, other: Path, word: str) -> None:
    for path in (one, other):
        with replacing(path) as temporary:
            temporary.write_text(word)
            print(path, flush=True)
            while path == other and not Path("go").exists():
                time.sleep(0.01)

job.run(step)
"""


class Copies:
    """Processes of one job in a folder; each says when it has a temporary of either file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, []
        (folder / "step.py").write_text(BODY.format(root=str(ROOT)))

    def start(self, word: str, **environment: str) -> subprocess.Popen:
        job = f'{{"word": "{word}"}}\n{{"one": "one", "other": "other"}}\n'
        process = subprocess.Popen(
            [sys.executable, "step.py", "step.log"], cwd=self.folder, text=True,
            env=os.environ | environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        process.stdin.write(job)
        process.stdin.close()
        self.processes.append(process)
        return process

    def go(self) -> None:
        (self.folder / "go").touch()

    def written(self) -> dict[str, str]:
        """Every file but the script, the log and the word to go on."""
        others = {"step.py", "step.log", ".step.log.json", "go", "run"}
        return {p.name: p.read_text() for p in self.folder.iterdir() if p.name not in others}


@pytest.fixture
def copies(tmp_path):
    copies = Copies(tmp_path)
    yield copies
    for process in copies.processes:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def in_second_file(process: subprocess.Popen) -> None:
    assert [process.stdout.readline(), process.stdout.readline()] == ["one\n", "other\n"]


def ended(process: subprocess.Popen) -> tuple[int, str]:
    """Exit code and what was said."""
    said = process.stderr.read()
    process.stdout.read()
    return process.wait(timeout=30), said


def test_second_copy__waits_for_the_first_and_says_so(copies):
    first = copies.start("first", SLURM_JOB_ID="17")
    in_second_file(first)
    second = copies.start("second")
    said = second.stderr.readline()
    assert said.startswith(f"process {first.pid} on ")
    assert said.endswith(", SLURM job 17 is running this job: waiting\n")
    assert copies.written()["one"] == "first"
    copies.go()
    assert ended(first) == ended(second) == (0, "")
    assert copies.written() == {"one": "second", "other": "second"}


def test_second_copy__goes_on_when_the_first_is_killed(copies):
    first = copies.start("first")
    in_second_file(first)
    second = copies.start("second")
    assert "is running this job: waiting" in second.stderr.readline()
    first.kill()
    copies.go()
    assert ended(first)[0] == -signal.SIGKILL
    assert ended(second) == (0, "")
    assert copies.written() == {"one": "second", "other": "second"}


def test_second_copy__that_is_killed_leaves_the_first_whole(copies):
    first = copies.start("first")
    in_second_file(first)
    second = copies.start("second")
    assert "is running this job: waiting" in second.stderr.readline()
    second.kill()
    assert ended(second)[0] == -signal.SIGKILL
    copies.go()
    assert ended(first) == (0, "")
    assert copies.written() == {"one": "first", "other": "first"}


def test_many_copies__end_one_after_another_and_leave_no_lock(copies):
    copies.go()
    started = [copies.start(str(n)) for n in range(5)]
    assert [ended(process)[0] for process in started] == [0] * 5
    files = copies.written()
    assert files["one"] == files["other"]
    assert sorted(files) == ["one", "other"]


def test_job_of_a_run_that_another_has_followed__writes_nothing(copies):
    note = copies.folder / "run"
    note.write_text("the next\n")
    late = copies.start("late", CORPUSMILL_RUN="mine", CORPUSMILL_RUN_NOTE=str(note),
                        CORPUSMILL_ENGINE="")  # fmt: skip
    code, said = ended(late)
    assert code == 1
    assert said.startswith("error: another run has begun in this folder")
    assert copies.written() == {}


GIVES_OUT = """
import os, pathlib, subprocess, sys
from corpusmill.run import one_at_a_time
one_at_a_time.name_run(pathlib.Path("note"))
job = "from corpusmill.run import one_at_a_time; one_at_a_time.refuse_if_followed()"
command = ["sh", "-c", '"$0" -c "$1"; exit $?', sys.executable, job]
assert subprocess.run(command).returncode == 0
pathlib.Path("note").write_text("the next")
subprocess.run(command)
pathlib.Path("outputs-removed").touch()
"""


def test_job_of_a_run_that_another_has_followed__ends_its_snakemake(tmp_path):
    """It would remove what the next run has made under the names of the job's outputs."""
    done = subprocess.run(
        [sys.executable, "-c", GIVES_OUT], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (tmp_path / "outputs-removed").exists()


def test_running_job__fails_if_another_run_has_begun_meanwhile(copies):
    note = copies.folder / "run"
    note.write_text("mine\n")
    running = copies.start("old", CORPUSMILL_RUN="mine", CORPUSMILL_RUN_NOTE=str(note),
                        CORPUSMILL_ENGINE="")  # fmt: skip
    in_second_file(running)
    note.write_text("the next\n")
    copies.go()
    assert ended(running)[0] == 1


def test_jobs__of_the_folders_run_or_of_none_are_not_refused(tmp_path, monkeypatch):
    one_at_a_time.refuse_if_followed()
    monkeypatch.setenv(one_at_a_time.RUN, "")
    monkeypatch.setenv(one_at_a_time.NOTE, "")
    monkeypatch.setenv(one_at_a_time.ENGINE, "")
    one_at_a_time.name_run(tmp_path / "logs/run")
    one_at_a_time.refuse_if_followed()  # nobody has begun
    one_at_a_time.begin_run()
    one_at_a_time.refuse_if_followed()
    one_at_a_time.name_run(tmp_path / "logs/run")
    with pytest.raises(ValueError, match="another run has begun"):
        one_at_a_time.refuse_if_followed()


def test_locked__is_the_file_that_others_find(tmp_path, monkeypatch):
    path, removed = tmp_path / ".a.log.lock", []

    def waited_for(_) -> bool:
        if not removed:  # by the process that held it, and another one makes its own
            path.unlink()
            path.touch()
            removed.append(path)
        return False

    monkeypatch.setattr(one_at_a_time, "waited_for", waited_for)
    with one_at_a_time.locked(path) as file:
        assert os.path.samestat(os.fstat(file.fileno()), path.stat())


def test_alone__goes_on_where_there_are_no_locks(tmp_path, monkeypatch, caplog):
    def flock(*_) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(one_at_a_time.fcntl, "flock", flock)
    with one_at_a_time.alone(tmp_path / "a.log"):
        pass
    assert "a second copy of this job would go unnoticed" in caplog.text


def test_stopped_job__says_so_and_leaves_nothing_behind(copies):
    running = copies.start("x")
    in_second_file(running)
    time.sleep(0.1)
    running.terminate()
    assert ended(running) == (
        1, "error: stopped by signal 15: the job was cancelled, or ran out of time\n"
    )  # fmt: skip
    assert copies.written() == {"one": "x"}
