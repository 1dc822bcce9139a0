"""Code of users that raises what ends a process, and prints what steers a terminal."""

import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest
import yaml
from workflow import ROOT, write_jsonl

from corpusmill.mill.read.plugins import UsersCode, loaded

STEERING = "\x1b[31m"
READER = """
import os, sys
from corpusmill.mill.read.readers import Reader, record

print("\\x1b[31mimported")


class Foo(Reader):
    ending = ".foo"

    def read(self, path, text_field, progress):
        print("\\x1b[31mout", flush=True)
        print("\\x1b[31merr", file=sys.stderr, flush=True)
        {raising}
        yield record(1, "a text", {{}})
"""
ENDING = ["import os; os._exit(0)", "raise KeyboardInterrupt", "raise GeneratorExit", "sys.exit(0)",
          "raise type('Odd', (BaseException,), {})"]  # fmt: skip


def corpusmill(folder, *arguments) -> subprocess.CompletedProcess:
    command = [sys.executable, "-P", "-m", "corpusmill", *arguments]
    return subprocess.run(
        command, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip


def config(folder, **more) -> None:
    tokenizer = {"source": "train"}
    said = {"sources": [{"name": "a", "files": ["a.*"]}], "tokenizer": tokenizer, **more}
    (folder / "mine.yaml").write_text(yaml.safe_dump(said))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("raising", ENDING)
@pytest.mark.parametrize("command", ["check", "scan"])
def test_reader__that_ends_the_process_is_a_sentence(tmp_path, command, raising):
    (tmp_path / "a.foo").write_text("a")
    (tmp_path / "mine.py").write_text(READER.format(raising=raising))
    config(tmp_path, input={"readers": ["mine.py"]})
    done = corpusmill(tmp_path, command, "mine.yaml")
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert "mine.py:" in said
    assert ", reading a.foo after record 0" in said
    assert "Traceback" not in said
    assert STEERING not in said


@pytest.mark.parametrize("command", ["check", "scan", "calibrate"])
def test_reader__that_prints_steers_no_terminal(tmp_path, command):
    (tmp_path / "a.foo").write_text("a")
    # Below Python alone where the process is one of its own.
    raising = "pass" if command == "calibrate" else 'os.write(2, b"\\x1b[31mfd")'
    (tmp_path / "mine.py").write_text(READER.format(raising=raising))
    config(tmp_path, input={"readers": ["mine.py"]})
    done = corpusmill(tmp_path, command, "mine.yaml")
    assert done.returncode == 0, done.stderr
    assert "\\x1b[31mimported" in done.stdout
    assert STEERING not in done.stdout + done.stderr


@pytest.mark.one_in(2)
@pytest.mark.parametrize("raising", ENDING)
@pytest.mark.parametrize("where", ["import", "keep"])
def test_filter__that_ends_the_process_is_a_sentence(tmp_path, where, raising):
    write_jsonl(tmp_path / "a.jsonl", [{"text": "some words " * 30}])
    body = "return True" if where == "import" else raising
    first = raising if where == "import" else "pass"
    (tmp_path / "mine.py").write_text(f"import sys\n{first}\ndef keep(text, record):\n    {body}\n")
    config(tmp_path, filters=[{"name": "odd", "file": "mine.py"}])
    done = corpusmill(tmp_path, "check" if where == "import" else "calibrate", "mine.yaml")
    assert done.returncode == 1
    assert "mine.py:" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Abort" not in done.stderr


def test_users_code__leaves_ctrl_c_what_it_is(tmp_path):
    (tmp_path / "mine.py").write_text("import time\nwhile True:\n    time.sleep(0.01)\n")
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    with pytest.raises(KeyboardInterrupt):
        loaded(str(tmp_path / "mine.py"))


def test_users_code__costs_a_record_little():
    users_code, before = UsersCode("code"), time.process_time()
    for _ in range(100_000):
        with users_code:
            pass
    assert time.process_time() - before < 1


LOOPING = "while True:\n    pass\n"


def said_before_ctrl_c(folder, command: str, awaited: str) -> str:
    """What a command says that waits for code of a user's, until it has named what it awaits."""
    arguments = [sys.executable, "-P", "-m", "corpusmill", command, "mine.yaml"]
    process = subprocess.Popen(
        arguments, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    killing = threading.Timer(60, process.kill)
    killing.start()
    said = ""
    for line in process.stderr:
        said += line
        if awaited in line:
            process.send_signal(signal.SIGINT)
            break
    rest = process.communicate()[1]
    killing.cancel()
    assert process.returncode == 130, said + rest
    assert "Traceback" not in rest
    assert rest.splitlines()[-1].startswith("Stopped.")
    return said


@pytest.mark.parametrize("command", ["check", "scan", "estimate", "calibrate", "run"])
def test_filter__that_loops_at_import_is_named(tmp_path, command):
    write_jsonl(tmp_path / "a.jsonl", [{"text": "some words " * 30}])
    (tmp_path / "mine.py").write_text(LOOPING)
    config(tmp_path, filters=[{"name": "odd", "file": "mine.py"}])
    assert said_before_ctrl_c(tmp_path, command, "waiting for mine.py, which is imported (")


def test_run__that_is_ended_while_users_code_loops_leaves_no_process(tmp_path):
    write_jsonl(tmp_path / "a.jsonl", [{"text": "some words " * 30}])
    (tmp_path / "mine.py").write_text(LOOPING)
    config(tmp_path, filters=[{"name": "odd", "file": "mine.py"}])
    run = subprocess.Popen(
        [sys.executable, "-P", "-m", "corpusmill", "run", "mine.yaml"], cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while "which is imported" not in run.stderr.readline():
        assert run.poll() is None
    started = psutil.Process(run.pid).children(recursive=True)
    assert started
    run.terminate()
    told = run.communicate()[1]
    assert run.returncode == -signal.SIGTERM, told
    assert psutil.wait_procs(started, 20)[1] == []


@pytest.mark.parametrize("command", ["check", "scan", "estimate", "calibrate"])
def test_reader__that_loops_is_named(tmp_path, command):
    (tmp_path / "a.foo").write_text("a")
    (tmp_path / "mine.py").write_text(READER.format(raising="while True: pass"))
    config(tmp_path, input={"readers": ["mine.py"]})
    told = {"check": "the first records of a.foo, with mine.py", "scan": "a.foo"}
    awaited = told.get(command, "mine.py, which reads a.foo")
    assert said_before_ctrl_c(tmp_path, command, f"waiting for {awaited} (")


@pytest.mark.parametrize("command", ["check", "scan"])
@pytest.mark.parametrize("code", [0, 1])
def test_reader__that_ends_the_process_by_c_is_a_sentence(tmp_path, command, code):
    (tmp_path / "a.foo").write_text("a")
    ending = f"import ctypes; ctypes.CDLL(None)._exit({code})"
    (tmp_path / "mine.py").write_text(READER.format(raising=ending))
    config(tmp_path, input={"readers": ["mine.py"]})
    done = corpusmill(tmp_path, command, "mine.yaml")
    assert done.returncode == 1
    assert "ended the process" in done.stderr
    assert "Ready" not in done.stdout


def test_users_code__may_end_processes_that_it_has_started():
    with UsersCode("code"):
        child = os.fork()
        if not child:
            os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
