"""The server that forks jobs: what a job is like, and what happens if the server cannot help."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tokenizer_kinds import byte_level
from workflow import ROOT, command, document, write_jsonl

from corpusmill.mill.tokens.tokenizer_folder import keep_tokenizer
from corpusmill.run import warm
from corpusmill.run.start import SERVER

START = [sys.executable, "-IS", str(ROOT / "corpusmill/run/start.py")]


@pytest.fixture
def server(monkeypatch):
    monkeypatch.delenv(SERVER, raising=False)
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    process = warm.started(ROOT, ROOT / "scripts", Path("none"))
    warm.begin(process, {ROOT / "scripts/plan.py": warm.FEWEST_JOBS})
    yield process
    process.send_signal(signal.SIGCONT)
    process.stdin.close()
    process.wait(20)
    assert not Path(os.environ[SERVER]).parent.exists()
    del os.environ[SERVER]


def job(
    folder: Path, code: str, start: list[str] = START, step: str = "step", **environment: str
) -> subprocess.Popen:
    """Start a script as a job, with its log as its only argument."""
    script = folder / f"{step}.py"
    script.write_text(code)
    variables = os.environ | warm.ONE_THREAD | {"PYTHONPATH": str(ROOT)} | environment
    return subprocess.Popen(
        [*start, script, "step.log"], cwd=folder, env=variables, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


WHO = "import os; print(os.getppid())"
PRINTED = """
import json, os, signal, sys
print(json.dumps({
    "argv": sys.argv, "path": sys.path, "folder": os.getcwd(), "variable": os.environ["MINE"],
    "given": sys.stdin.read(), "name": __name__, "group": os.getpgrp(),
    "interrupt": str(signal.getsignal(signal.SIGINT)), "mask": os.umask(0),
}))
print("to stderr", file=sys.stderr)
"""


def test_job__is_what_python_would_run(tmp_path, server):
    found = []
    for start in (START, [sys.executable, "-P"]):
        said, errors = job(tmp_path, PRINTED, start, MINE="mine").communicate("given")
        assert errors == "to stderr\n"
        found.append(json.loads(said))
    assert found[0] == found[1]


def test_job__is_a_process_forked_by_the_server(tmp_path, server):
    assert int(job(tmp_path, WHO).communicate()[0]) == server.pid


@pytest.mark.parametrize(
    ("code", "expected", "says"),
    [
        ("", 0, ""),
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit('error: no')", 1, "error: no\n"),
        ("1 / 0", 1, "ZeroDivisionError"),
        ("import os; os.kill(os.getpid(), 9)", 137, ""),
        ("import os; os.kill(os.getpid(), 11)", 139, ""),
        ("import atexit; atexit.register(print, 'at the end')", 0, ""),
    ],
)
def test_job__ends_as_python_ends(tmp_path, server, code, expected, says):
    running = job(tmp_path, code)
    said, errors = running.communicate()
    assert running.returncode == expected
    assert says in errors
    assert said == ("at the end\n" if "atexit" in code else "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_job__gets_the_signals_of_its_command(tmp_path, server, number):
    code = (
        "import signal, sys, time\n"
        "for one in (15, 2): signal.signal(one, lambda n, _: sys.exit(f'signal {n}'))\n"
        "print('ready', flush=True)\ntime.sleep(60)\n"
    )
    running = job(tmp_path, code)
    assert running.stdout.readline() == "ready\n"
    running.send_signal(number)
    assert running.communicate()[1] == f"signal {int(number)}\n"
    assert running.returncode == 1


def sleeping(folder: Path, server: subprocess.Popen) -> tuple[subprocess.Popen, psutil.Process]:
    running = job(folder, "import os, time; print(os.getpid(), flush=True); time.sleep(60)")
    process = psutil.Process(int(running.stdout.readline()))
    assert process.ppid() == server.pid
    return running, process


def test_job__ends_with_its_command(tmp_path, server):
    running, process = sleeping(tmp_path, server)
    running.kill()
    running.communicate()
    process.wait(20)


def test_job__ends_with_snakemake(tmp_path, server):
    running, process = sleeping(tmp_path, server)
    server.stdin.close()  # as when Snakemake is killed
    running.communicate()
    process.wait(20)


def test_job__outlives_the_server(tmp_path, server):
    code = "import time; print('ready', flush=True); time.sleep(1); print('done')"
    running = job(tmp_path, code)
    assert running.stdout.readline() == "ready\n"
    server.kill()
    assert running.communicate()[0] == "done\n"
    assert running.returncode == 0
    shutil.rmtree(Path(os.environ[SERVER]).parent)


def test_server__that_is_dead_or_hangs_is_done_without(tmp_path, server):
    server.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    running = job(tmp_path, WHO)
    assert running.communicate()[0] == f"{os.getpid()}\n"
    assert time.monotonic() - began < 30
    assert not Path(os.environ[SERVER]).exists()  # the others need not wait
    running = job(tmp_path, WHO)
    assert running.communicate()[0] == f"{os.getpid()}\n"


@pytest.mark.parametrize(
    "variables", [{"OMP_NUM_THREADS": "2"}, {"NUMBA_DISABLE_JIT": "1"}, {"PYTHONPATH": "/else"}]
)
def test_server__leaves_jobs_of_another_environment(tmp_path, server, variables):
    assert job(tmp_path, WHO, **variables).communicate()[0] == f"{os.getpid()}\n"


def test_server__leaves_jobs_when_the_code_was_edited(tmp_path):
    package = tmp_path / "corpusmill"
    package.mkdir()
    file = package / "__init__.py"
    file.write_text("")
    environment = dict(os.environ)
    with socket.socket(socket.AF_UNIX) as listening:
        found = warm.Server(listening, "none", Path("none"), [])
        found._files[str(file)] = warm.state_of(str(file))
        assert found._is_fit_for(sys.executable, environment)
        assert not found._is_fit_for("/another/python", environment)
        file.write_text("edited = True")
        assert not found._is_fit_for(sys.executable, environment)


def test_begin__ends_the_server_of_a_run_with_few_jobs(tmp_path, no_server):
    process = warm.started(ROOT, ROOT / "scripts", Path("none"))
    warm.begin(process, {ROOT / "scripts/plan.py": warm.FEWEST_JOBS - 1})
    assert process.returncode == -signal.SIGKILL
    assert SERVER not in os.environ


def test_begin__says_nothing_if_the_server_has_died(tmp_path, no_server):
    process = warm.started(ROOT, ROOT / "scripts", Path("none"))
    process.kill()
    process.wait()
    warm.begin(process, {ROOT / "scripts/plan.py": warm.FEWEST_JOBS})
    assert job(tmp_path, WHO).communicate()[0] == f"{os.getpid()}\n"
    process.stdin.close()
    del os.environ[SERVER]


@pytest.fixture
def tokenizer(tmp_path) -> Path:
    """The folder of a run's tokenizer."""
    given = byte_level(tmp_path / "given")
    keep_tokenizer(tmp_path / "tokenizer", given, "auto", "auto")
    return tmp_path / "tokenizer"


@contextlib.contextmanager
def serving(tokenizer: Path, *steps: str):
    """A server of a run with these steps."""
    jobs = {ROOT / f"scripts/{step}.py": warm.FEWEST_JOBS for step in steps}
    process = warm.started(ROOT, ROOT / "scripts", tokenizer)
    warm.begin(process, jobs)
    try:
        yield psutil.Process(process.pid)
    finally:
        warm.end(process)
        shutil.rmtree(Path(os.environ.pop(SERVER)).parent, ignore_errors=True)


@pytest.fixture
def no_server(monkeypatch):
    monkeypatch.delenv(SERVER, raising=False)
    monkeypatch.setenv("PYTHONSAFEPATH", "1")


def has_second(seconds: float = 30) -> bool:
    """Wait for the second server; return whether it is there."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if Path(f"{os.environ[SERVER]}-encode").exists():
            return True
        time.sleep(0.05)
    return False


SLEEP = "print('ready', flush=True); import time; time.sleep(60)"
HELD = """
import os
from corpusmill.mill.tokens import tokenizers
print(os.getppid(), len(tokenizers._HELD))
"""


def test_second_server__serves_the_steps_that_load_the_tokenizer(tmp_path, tokenizer, no_server):
    with serving(tokenizer, *warm.HOLDERS) as server:
        assert has_second()
        (second,) = server.children()
        for step in warm.HOLDERS:
            assert job(tmp_path, HELD, step=step).communicate()[0] == f"{second.pid} 2\n"
        assert job(tmp_path, HELD).communicate()[0] == f"{server.pid} 0\n"
        second.kill()
        assert job(tmp_path, HELD, step="encode").communicate()[0] == f"{server.pid} 0\n"


def test_second_server__ends_with_the_first(tmp_path, tokenizer, no_server):
    with serving(tokenizer, "encode") as server:
        assert has_second()
        (second,) = server.children()
        running = job(
            tmp_path, "print('ready', flush=True); import time; time.sleep(60)", step="encode"
        )
        assert running.stdout.readline() == "ready\n"
        sleeper = second.children()
    running.communicate()
    assert running.returncode
    assert psutil.wait_procs([second, *sleeper], 20)[1] == []


def test_second_server__waits_for_a_tokenizer_that_the_run_replaces(tokenizer, no_server):
    with serving(tokenizer, "tokenizer", "encode"):
        assert not has_second(5)
        os.utime(tokenizer / "corpusmill.json")
        assert has_second()


@pytest.mark.parametrize("steps", [["encode"], ["plan"]])
def test_second_server__only_with_a_tokenizer_and_its_steps(tmp_path, tokenizer, no_server, steps):
    with serving(tokenizer if "plan" in steps else tmp_path / "none", *steps) as server:
        assert not has_second(4)
        assert server.children() == []


def test_second_server__that_cannot_load_the_tokenizer_is_done_without(
    tmp_path, tokenizer, no_server
):
    (tokenizer / "tokenizer.json").write_text("{}")
    with serving(tokenizer, "encode") as server:
        assert not has_second(4)
        assert job(tmp_path, HELD, step="encode").communicate()[0] == f"{server.pid} 0\n"


def mill(folder: Path, **environment: str) -> subprocess.Popen:
    write_jsonl(folder / "in/a.jsonl", [{"text": document(one)} for one in range(40)])
    config = {
        "sources": [{"name": "a", "files": ["in/"]}],
        "tokenizer": {"source": "train", "train_vocabulary": 300},
        "splits": {"validation": 0.1, "test": 0.1},
    }
    (folder / "mine.yaml").write_text(json.dumps(config))
    variables = {name: value for name, value in os.environ.items() if name != SERVER}
    return subprocess.Popen(
        command("--configfile", "mine.yaml", "--cores", "2"), cwd=folder,
        env=variables | environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def server_of(run: subprocess.Popen) -> psutil.Process:
    """The server of a run, once it is there."""
    while run.poll() is None:
        for one in psutil.Process(run.pid).children():
            with contextlib.suppress(psutil.Error):
                if "corpusmill.run.warm" in one.cmdline():
                    return one
        time.sleep(0.05)
    raise AssertionError(run.communicate()[1])


def manifest(folder: Path) -> list[dict]:
    return json.loads((folder / "results/manifest.json").read_text())["files"]


@pytest.mark.whole
def test_run__is_the_same_without_its_server(tmp_path):
    for name in ("warm", "killed", "cold"):
        (tmp_path / name).mkdir()
    run = mill(tmp_path / "warm")
    said = run.communicate()[1]
    assert run.returncode == 0, said
    run = mill(tmp_path / "killed")
    server = server_of(run)
    time.sleep(1)
    server.kill()
    said = run.communicate()[1]
    assert run.returncode == 0, said
    run = mill(tmp_path / "cold", **{SERVER: "/nowhere"})
    said = run.communicate()[1]
    assert run.returncode == 0, said
    assert manifest(tmp_path / "warm") == manifest(tmp_path / "killed")
    assert manifest(tmp_path / "warm") == manifest(tmp_path / "cold")


@pytest.mark.whole
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_run__leaves_no_process(tmp_path, number):
    run = mill(tmp_path)
    server = server_of(run)
    time.sleep(1.5)
    alive = [server, *server.children()]
    run.send_signal(number)
    run.communicate()
    psutil.wait_procs(alive, 20)
    assert not any(one.is_running() for one in alive)


FREED = """
import os, resource, sys
from corpusmill.run import warm
pieces = [bytes(700) for _ in range(100_000)]
del pieces[::2]
if sys.argv[1] == "sorted":
    warm.sort_free_memory()
if os.fork() == 0:
    bytearray(5000)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt, flush=True)
    os._exit(0)
os.wait()
"""


def test_sort_free_memory__leaves_nothing_to_do_for_jobs():
    copied = {}
    for given in ("sorted", "as freed"):
        command = [sys.executable, "-c", FREED, given]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        copied[given] = int(done.stdout)
    assert copied["sorted"] < copied["as freed"] / 4
