"""How a run stands, seen from the files of its folder."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from corpusmill.cli.main import main
from corpusmill.cli.watch import as_json, notes
from corpusmill.cli.watching import Folder
from corpusmill.run.announcement import ANNOUNCEMENT, Announcement, Life, this_process
from corpusmill.run.job_list import JOB_LIST, RuleJobs, save_job_list

DEAD = Life(2**22 + 1, os.uname().nodename, 1.0)
ELSEWHERE = Life(1, "elsewhere", 1.0)
ENDED = "12:00:01 finished: {} s, 0.40 s of CPU, peak memory {} MB\n"


class Made:
    """A folder of a run that began a minute ago."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.began = time.time() - 60

    def begin(self, run: str = "", **rules: list[str]) -> None:
        of_rules = {
            rule: RuleJobs(1000, [f"logs/{rule}/{which}.log" for which in jobs])
            for rule, jobs in rules.items()
        }
        save_job_list(of_rules, self.path / JOB_LIST, run)
        os.utime(self.path / JOB_LIST, (self.began, self.began))
        (self.path / ".snakemake/locks").mkdir(parents=True)
        (self.path / ".snakemake/locks/0.input.lock").touch()

    def announce(self, *lives: Life, run: str = "new", **ended) -> None:
        found = Announcement(run, self.began, list(lives), **ended)
        (self.path / "logs").mkdir(exist_ok=True)
        (self.path / ANNOUNCEMENT).write_bytes(msgspec.json.encode(found))

    def log(self, job: str, text: str, ago: float = 1.0) -> Path:
        path = self.path / f"logs/{job}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (time.time() - ago,) * 2)
        return path

    def run(self, job: str, text: str = "", ago: float = 1.0, since: float = 5, pid: int = 0):
        """A job that goes on since so many seconds and said something so many ago."""
        path = self.log(job, text, ago)
        lock = path.with_name(f".{path.name}.lock")
        lock.write_text(f"process {pid or os.getpid()} on {os.uname().nodename}")
        os.utime(lock, (time.time() - since,) * 2)

    def unlock(self) -> None:
        (self.path / ".snakemake/locks/0.input.lock").unlink()

    def seen(self) -> dict:
        return json.loads(as_json(self.path))

    def notes(self) -> str:
        folder = Folder(self.path)
        folder.look()
        return "\n".join(notes(folder))


@pytest.fixture
def made(tmp_path) -> Made:
    return Made(tmp_path)


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_job__is_what_its_log_says(made):
    made.begin(sign=["00000", "00001", "00002", "00003"], plan=["plan"])
    made.log("sign/00000", ENDED.format(4.5, 300))
    made.run(
        "sign/00001", "12:00:02 signing: 3 of 9 MB, 33 %, 1.0 MB/s, 6 s left (3 s), held 512 MB\n"
    )
    made.log("sign/00002", "12:00:00 failed after 3 s\n12:00:00 error: a.jsonl:3: no text\n")
    seen = made.seen()
    assert (seen["state"], seen["jobs"], seen["finished"]) == ("running", 5, 1)
    assert seen["rules"]["sign"] == {
        "jobs": 4, "done": 1, "running": 1, "failed": 1, "waiting": 1,
        "seconds": 4.5, "mem_mb": 1000, "peak_mb": 512,
    }  # fmt: skip
    (running,) = seen["running"]
    assert (running["job"], running["held_mb"]) == ("sign 00001", 512)
    assert running["doing"].startswith("signing: 3 of 9 MB")
    assert 4 < running["seconds"] < 10
    assert seen["failed"] == {"sign 00002": "a.jsonl:3: no text"}
    assert "memory: 512 of 1,000 MB in sign 00001" in made.notes()


def test_memory__is_held_against_the_bound_of_the_attempt(made):
    made.begin(sign=["00000", "00001"])
    made.log("sign/00000", "12:00:01 finished: 1.0 s, 0.4 s of CPU, peak memory 1200 MB of 1500\n")
    made.run("sign/00001", "12:00:02 signing: 3 MB, held 1000 MB of 2250\n")
    seen = made.seen()
    assert (seen["rules"]["sign"]["mem_mb"], seen["running"][0]["mem_mb"]) == (2250, 2250)
    assert "memory: 1,200 of 1,500 MB in sign 00000" in made.notes()


def test_log__of_an_earlier_run_is_not_counted(made):
    made.log("sign/00000", ENDED.format(1, 100), ago=600)
    made.begin(sign=["00000"])
    assert made.seen()["rules"]["sign"]["waiting"] == 1


def test_jobs__that_say_nothing_or_take_long_are_named(made):
    names = [f"{n:05d}" for n in range(8)]
    made.begin(pair=names)
    for name in names[:5]:
        made.log(f"pair/{name}", ENDED.format(2, 100))
    made.run("pair/00005", "12:00:00 pairing: 1 MB\n", ago=50, since=55)
    made.run("pair/00006", "12:00:00 pairing: 1 MB\n", since=50)
    made.run("pair/00007", "12:00:00 pairing: 1 MB\n", since=6, pid=dead_process())
    seen = made.seen()
    assert (seen["stalled"], seen["slow"], seen["killed"]) == (
        ["pair 00005"], ["pair 00005", "pair 00006"], ["pair 00007"],
    )  # fmt: skip
    told = made.notes()
    assert re.search(r"stalled: pair 00005 has said nothing for 50 s, log .*pair/00005\.log", told)
    assert "slow: pair 00006 runs for 50 s, others took 2.0 s" in told
    assert "pair 00007 is gone without a word" in told


def test_state__of_a_run_without_running_jobs(made):
    made.begin(sign=["00000", "00001"])
    made.log("sign/00000", ENDED.format(1, 100), ago=50)
    assert made.seen()["state"] == "waiting"
    assert "No job has run for 50 s" in made.notes()
    made.unlock()
    assert made.seen()["state"] == "stopped"
    made.log("sign/00001", "12:00:00 error: no space left\n")
    assert made.seen()["state"] == "failed"
    made.log("sign/00001", ENDED.format(1, 100))
    assert made.seen()["state"] == "finished"


def test_amounts__are_those_of_finished_jobs(made):
    made.begin(normalize=["00000", "00001"], encode=["train/00000"])
    for n in range(2):
        path = made.path / f"results/text/0000{n}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"by_source": {"a": {"records": 10, "text_bytes": 4_000_000}}}))
    path = made.path / "results/tokens/train/00000.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"tokens": 5000}))
    made.log("normalize/00000", ENDED.format(2, 100))
    made.log("encode/train/00000", ENDED.format(1, 100))
    seen = made.seen()
    assert (seen["documents"], seen["text_bytes"], seen["tokens"]) == (10, 4_000_000, 5000)
    told = made.notes()
    assert "read: 10 documents, 4.0 MB of text, 5 documents/s, 2.0 MB/s" in told
    assert "written: 5,000 tokens, 5,000 tokens/s" in told


def test_watch__goes_on_until_the_run_is_over(made):
    made.begin(sign=["00000"])
    made.run("sign/00000", "12:00:00 signing: 1 MB\n")
    command = [sys.executable, "-m", "corpusmill", "watch", str(made.path)]
    watcher = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    assert watcher.poll() is None
    made.log("sign/00000", ENDED.format(2.5, 100))
    _, said = watcher.communicate(timeout=60)
    assert watcher.returncode == 0
    assert said.splitlines()[-1] == "Finished."
    assert "1 jobs in " in said


@pytest.mark.parametrize(("text", "code"), [("error: disk full", 1), (ENDED.format(1, 1)[9:], 0)])
def test_watch__afterwards_says_how_it_ended(made, text, code):
    made.begin(sign=["00000"])
    made.unlock()
    made.log("sign/00000", f"12:00:00 {text}")
    done = CliRunner().invoke(main, ["watch", str(made.path)])
    assert done.exit_code == code
    assert ("disk full" in done.stderr) == bool(code)


@pytest.mark.parametrize(
    ("life", "ended", "state"),
    [
        (this_process(), {}, "reading"),
        (ELSEWHERE, {}, "reading"),
        (DEAD, {}, "stopped"),
        (msgspec.structs.replace(this_process(), started=9.0), {}, "stopped"),
        (DEAD, {"outcome": "failed", "reason": "no sources"}, "failed"),
        (DEAD, {"outcome": "failed"}, "stopped"),
        (DEAD, {"outcome": "nothing"}, "finished"),
    ],
)
def test_state__of_an_announced_run_is_not_that_of_the_run_before(made, life, ended, state):
    made.begin(sign=["00000"])
    made.unlock()
    made.log("sign/00000", ENDED.format(1, 100))
    assert made.seen()["state"] == "finished"
    made.announce(life, **ended)
    assert (made.seen()["state"], made.seen()["jobs"]) == (state, 0)
    assert ("no sources" in made.notes()) == ("reason" in ended)
    assert ("on elsewhere" in made.notes()) == (life == ELSEWHERE)


def test_watch__of_a_run_that_was_refused_says_why(made):
    made.begin(sign=["00000"])
    made.log("sign/00000", ENDED.format(1, 100))
    made.announce(DEAD, outcome="failed", reason="no sources", ended=time.time())
    done = CliRunner().invoke(main, ["watch", str(made.path)])
    assert done.exit_code == 1
    told = done.stderr.splitlines()
    assert (told[0], "no sources" in told) == ("The run ended before its first job.", True)


def test_state__of_a_listed_run_is_over_when_its_process_is(made):
    made.begin(sign=["00000", "00001"], run="new")
    made.announce(this_process())
    made.log("sign/00000", ENDED.format(1, 100), ago=50)
    assert made.seen()["state"] == "waiting"
    made.log("sign/00001", ENDED.format(1, 100))
    assert made.seen()["state"] == "running"  # Snakemake has not said that all is well
    made.announce(DEAD)
    assert made.seen()["state"] == "finished"
    made.announce(DEAD, outcome="finished", ended=made.began + 3)
    seen = made.seen()
    assert (seen["state"], round(seen["seconds"])) == ("finished", 3)
    made.log("sign/00001", "12:00:00 signing: 1 MB\n")
    made.announce(DEAD)
    assert made.seen()["state"] == "running"


def test_state__of_a_run_whose_process_is_dead_is_not_waiting(made):
    made.begin(sign=["00000", "00001"], run="new")
    made.log("sign/00000", ENDED.format(1, 100), ago=50)
    made.announce(DEAD)
    assert made.seen()["state"] == "stopped"


def test_job__that_was_ended_by_hand_has_not_failed(made):
    made.begin(sign=["00000"])
    made.unlock()
    made.log("sign/00000", "12:00:00 error: stopped: somebody has ended the run\n")
    seen = made.seen()
    assert (seen["state"], seen["failed"], seen["rules"]["sign"]["stopped"]) == ("stopped", {}, 1)
    assert "cancelled" not in made.notes()


def test_watch__of_a_folder_without_a_run_says_so(tmp_path):
    done = CliRunner().invoke(main, ["watch", str(tmp_path)])
    assert done.exit_code == 1
    assert "no run has begun in this folder" in done.stderr
    assert done.stderr.count("\n") == 1
