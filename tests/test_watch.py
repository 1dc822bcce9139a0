"""How a run stands, seen from the files of its folder."""

import dataclasses
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
from corpusmill.run.job_state import (
    FAILED,
    FINISHED,
    RUNNING,
    STOPPED,
    JobState,
    save_state,
    state_file,
)  # fmt: skip

DEAD = Life(2**22 + 1, os.uname().nodename, 1.0)
ELSEWHERE = Life(1, "elsewhere", 1.0)


def finished(seconds: float, memory_mb: int, allowed_mb: int = 0) -> JobState:
    return JobState(FINISHED, seconds=seconds, memory_mb=memory_mb, allowed_mb=allowed_mb)


def failed(said: str, state: str = FAILED) -> JobState:
    return JobState(state, said)


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

    def job(self, job: str, state: JobState, ago: float = 1.0) -> Path:
        """A job that has said so some seconds ago."""
        log = self.path / f"logs/{job}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch()
        heard = time.time() - ago
        began = state.began or heard - state.seconds
        save_state(log, dataclasses.replace(state, began=began))
        os.utime(state_file(log), (heard, heard))
        return log

    def run(self, job: str, said: str = "", ago: float = 1.0, since: float = 5, pid: int = 0,
            **more) -> None:  # fmt: skip
        """A job that goes on since so many seconds and said something so many ago."""
        self.job(job, JobState(RUNNING, said, began=time.time() - since, process=pid or os.getpid(),
                               host=os.uname().nodename, **more), ago)  # fmt: skip

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


def test_job__is_what_it_says_itself(made):
    made.begin(sign=["00000", "00001", "00002", "00003"], plan=["plan"])
    made.job("sign/00000", finished(4.5, 300))
    made.run("sign/00001", "signing: 3 of 9 MB, 33 %, 1.0 MB/s, 6 s left (3 s)", memory_mb=512)
    made.job("sign/00002", failed("a.jsonl:3: no text"))
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
    made.job("sign/00000", finished(1.0, 1200, 1500))
    made.run("sign/00001", "signing: 3 MB", memory_mb=1000, allowed_mb=2250)
    seen = made.seen()
    assert (seen["rules"]["sign"]["mem_mb"], seen["running"][0]["mem_mb"]) == (2250, 2250)
    assert "memory: 1,200 of 1,500 MB in sign 00000" in made.notes()


def test_log__of_an_earlier_run_is_not_counted(made):
    made.job("sign/00000", finished(1, 100), ago=600)
    made.begin(sign=["00000"])
    assert made.seen()["rules"]["sign"]["waiting"] == 1


def test_jobs__that_say_nothing_or_take_long_are_named(made):
    names = [f"{n:05d}" for n in range(8)]
    made.begin(pair=names)
    for name in names[:5]:
        made.job(f"pair/{name}", finished(2, 100))
    made.run("pair/00005", "pairing: 1 MB", ago=50, since=55)
    made.run("pair/00006", "pairing: 1 MB", since=50)
    made.run("pair/00007", "pairing: 1 MB", since=6, pid=dead_process())
    seen = made.seen()
    assert (seen["stalled"], seen["slow"], seen["killed"]) == (
        ["pair 00005"], ["pair 00005", "pair 00006"], ["pair 00007"],
    )  # fmt: skip
    told = made.notes()
    stalled = r"stalled: pair 00005 has reported nothing for 50 s, log .*pair/00005\.log"
    assert re.search(stalled, told)
    assert "slow: pair 00006 has run for 50 s, others took 2.0 s" in told
    assert "pair 00007 disappeared" in told


def test_state__of_a_run_without_running_jobs(made):
    made.begin(sign=["00000", "00001"])
    made.job("sign/00000", finished(1, 100), ago=50)
    assert made.seen()["state"] == "waiting"
    assert "No job has run for 50 s" in made.notes()
    made.unlock()
    assert made.seen()["state"] == "stopped"
    made.job("sign/00001", failed("no space left"))
    assert made.seen()["state"] == "failed"
    made.job("sign/00001", finished(1, 100))
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
    made.job("normalize/00000", finished(2, 100))
    made.job("encode/train/00000", finished(1, 100))
    seen = made.seen()
    assert (seen["documents"], seen["text_bytes"], seen["tokens"]) == (10, 4_000_000, 5000)
    told = made.notes()
    assert "read: 10 documents, 4.0 MB of text, 5 documents/s, 2.0 MB/s" in told
    assert "written: 5,000 tokens, 5,000 tokens/s" in told


@pytest.mark.parametrize(
    "counted",
    [[], {"by_source": []}, {"by_source": {"a": {"records": 10**300, "text_bytes": 1}}},
     {"by_source": {"a": {"records": -1, "text_bytes": "x"}}}],
)  # fmt: skip
def test_amounts__that_no_job_writes_are_refused_with_their_file(counted, made):
    made.begin(normalize=["00000"])
    path = made.path / "results/text/00000.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(counted))
    made.job("normalize/00000", finished(2, 100))
    with pytest.raises(ValueError, match=r"results/text/00000\.json: "):
        made.notes()


def test_watch__goes_on_until_the_run_is_over(made):
    made.begin(sign=["00000"])
    made.run("sign/00000", "signing: 1 MB")
    command = [sys.executable, "-m", "corpusmill", "watch", str(made.path)]
    watcher = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    assert watcher.poll() is None
    made.job("sign/00000", finished(2.5, 100))
    _, said = watcher.communicate(timeout=60)
    assert watcher.returncode == 0
    assert said.splitlines()[-1] == "Finished."
    assert "1 jobs in " in said


@pytest.mark.parametrize(("state", "code"), [(failed("disk full"), 1), (finished(1, 1), 0)])
def test_watch__afterwards_says_how_it_ended(made, state, code):
    made.begin(sign=["00000"])
    made.unlock()
    made.job("sign/00000", state)
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
    made.job("sign/00000", finished(1, 100))
    assert made.seen()["state"] == "finished"
    made.announce(life, **ended)
    assert (made.seen()["state"], made.seen()["jobs"]) == (state, 0)
    assert ("no sources" in made.notes()) == ("reason" in ended)
    assert ("on elsewhere" in made.notes()) == (life == ELSEWHERE)


def test_watch__of_a_run_that_was_refused_says_why(made):
    made.begin(sign=["00000"])
    made.job("sign/00000", finished(1, 100))
    made.announce(DEAD, outcome="failed", reason="no sources", ended=time.time())
    done = CliRunner().invoke(main, ["watch", str(made.path)])
    assert done.exit_code == 1
    told = done.stderr.splitlines()
    assert (told[0], "no sources" in told) == ("The run ended before its first job.", True)


def test_state__of_a_listed_run_is_over_when_its_process_is(made):
    made.begin(sign=["00000", "00001"], run="new")
    made.announce(this_process())
    made.job("sign/00000", finished(1, 100), ago=50)
    assert made.seen()["state"] == "waiting"
    made.job("sign/00001", finished(1, 100))
    assert made.seen()["state"] == "running"  # Snakemake has not said that all is well
    made.announce(DEAD)
    assert made.seen()["state"] == "finished"
    made.announce(DEAD, outcome="finished", ended=made.began + 3)
    seen = made.seen()
    assert (seen["state"], round(seen["seconds"])) == ("finished", 3)
    made.run("sign/00001", "signing: 1 MB")
    made.announce(DEAD)
    assert made.seen()["state"] == "running"


def test_state__of_a_run_whose_process_is_dead_is_not_waiting(made):
    made.begin(sign=["00000", "00001"], run="new")
    made.job("sign/00000", finished(1, 100), ago=50)
    made.announce(DEAD)
    assert made.seen()["state"] == "stopped"


def test_job__that_was_ended_by_hand_has_not_failed(made):
    made.begin(sign=["00000"])
    made.unlock()
    made.job("sign/00000", failed("stopped: the run was interrupted", STOPPED))
    seen = made.seen()
    assert (seen["state"], seen["failed"], seen["rules"]["sign"]["stopped"]) == ("stopped", {}, 1)
    assert "cancelled" not in made.notes()


def test_watch__of_a_folder_without_a_run_says_so(tmp_path):
    done = CliRunner().invoke(main, ["watch", str(tmp_path)])
    assert done.exit_code == 1
    assert "no run has begun in this folder" in done.stderr
    assert done.stderr.count("\n") == 1


def listed(made: Made, **rules: list[str]) -> Path:
    """A list of jobs with these logs; it was written a minute ago."""
    save_job_list({name: RuleJobs(1, logs) for name, logs in rules.items()}, made.path / JOB_LIST)
    os.utime(made.path / JOB_LIST, (made.began, made.began))
    return made.path / JOB_LIST


@pytest.mark.parametrize(
    "log",
    ["../outside/secret.log", "{outside}/secret.log", "logs/../../outside/secret.log", "logs/a",
     "results/a.log", "", "logs/\0.log"],
)  # fmt: skip
def test_watch__opens_no_log_that_a_list_names_elsewhere(log, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.log").write_text("12:00:00 error: TOP SECRET\n")
    made = Made(tmp_path / "run")
    listed(made, normalize=["logs/normalize/00000.log", log.format(outside=outside)])
    with pytest.raises(ValueError, match=r"jobs\.json: expected logs below logs/, found ") as told:
        made.seen()
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "link", ["logs/encode", "logs/encode/train", "logs/encode/train/.0.log.json"]
)
def test_watch__shows_nothing_behind_a_link(link, tmp_path):
    made = Made(tmp_path / "run")
    listed(made, encode=["logs/encode/train/0.log"])
    for inner in ("train/0.log", "0.log"):
        secret = tmp_path / "outside" / inner
        secret.parent.mkdir(parents=True, exist_ok=True)
        save_state(secret, failed("TOP SECRET"))
    path = made.path / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(tmp_path / "outside" / (".0.log.json" if link.endswith(".json") else ""))
    assert "SECRET" not in as_json(made.path)
    assert made.seen()["rules"]["encode"]["waiting"] == 1


def test_watch__follows_a_folder_of_logs_on_another_disk(tmp_path):
    made = Made(tmp_path / "run")
    (tmp_path / "disk").mkdir()
    made.path.mkdir()
    (made.path / "logs").symlink_to(tmp_path / "disk")
    listed(made, sign=["logs/sign/00000.log"])
    made.job("sign/00000", finished(1, 100))
    assert made.seen()["finished"] == 1


@pytest.mark.whole
@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"a": [f"logs/{n}/x.log" for n in range(200_000)]}, "at most 1,000 folders of logs"),
        ({"a": ["logs/a/x.log"] * 1_000_001}, "at most 1,000,000 jobs, found 1,000,001"),
        ({f"a{n}": ["logs/a/x.log"] for n in range(1001)}, "at most 1,000 rules, found 1,001"),
    ],
)
def test_watch__of_more_jobs_than_a_run_has_is_refused_at_once(rules, expected, made):
    listed(made, **rules)
    began = time.process_time()
    with pytest.raises(ValueError, match=expected):
        made.seen()
    assert time.process_time() - began < 5


@pytest.mark.parametrize("rules", [5, {"a": 5}, {"a": {"mem_mb": "x", "logs": []}},
                                   {"a": {"mem_mb": 1, "logs": [5]}}])  # fmt: skip
def test_watch__of_a_list_of_other_things_is_refused(rules, made):
    path = listed(made)
    path.write_text(json.dumps({"corpusmill.jobs": 1, "run": "", "rules": rules}))
    with pytest.raises(ValueError, match=r"jobs\.json: malformed list of jobs"):
        made.seen()


@pytest.mark.parametrize(
    "told",
    ["x", "[]", "[" * 100_000, '{"state": 5}', '{"state": "running", "process": "7"}',
     '{"state": "running", "memory_mb": 1e400}', '{"state": "' + "x" * (1 << 20) + '"}'],
)  # fmt: skip
def test_watch__of_a_state_that_no_job_wrote_names_the_file(told, made):
    made.begin(sign=["00000"])
    state_file(made.job("sign/00000", finished(1, 1))).write_text(told)
    with pytest.raises(ValueError, match=r"logs/sign/\.00000\.log\.json: "):
        made.seen()


def test_killed__is_known_of_any_number_of_a_process(made):
    made.begin(sign=["00000", "00001", "00002"])
    for job, pid in (("00000", dead_process()), ("00001", 1 << 62), ("00002", -1)):
        made.run(f"sign/{job}", pid=pid)
    assert made.seen()["killed"] == ["sign 00000", "sign 00001", "sign 00002"]


def test_disk__is_counted_up_to_a_bound(made, monkeypatch):
    made.begin(sign=["00000"])
    (made.path / "results").symlink_to("/")
    monkeypatch.setattr("corpusmill.cli.watching.MOST_FILES", 1000)
    began = time.process_time()
    disk = made.seen()["disk"]
    assert time.process_time() - began < 5
    assert (disk["counted_all"], disk["results_bytes"] > 0) == (False, True)
    assert "disk: results take at least " in made.notes()
