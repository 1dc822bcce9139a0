"""How jobs on SLURM end, and what is said and done about it; no plug-in is needed."""

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
import slurm_stand_in
from test_layout import memory

from corpusmill.run.job_state import FAILED, FINISHED, RUNNING, JobState, load_state, save_state
from corpusmill.run.slurm import (
    GOOD,
    LOST,
    Queue,
    Spared,
    has_finished,
    squeue,
    states_of,
    watched,
    why,
)

MEMORY = "slurmstepd-vm: error: StepId=9.0 exceeded memory limit (1146 > 1006), being killed\n"
TIME = "slurmstepd-n7: error: *** STEP 9.0 ON n7 CANCELLED AT 2026-11-22 DUE TO TIME LIMIT ***\n"
OOM = "slurmstepd: error: Detected 1 oom_kill event in StepId=9.0. Some have been OOM Killed.\n"
DONE, GOES_ON = JobState(FINISHED, seconds=0.12), JobState(RUNNING, "signing")


class Step:
    """A job as Snakemake has it."""

    def __init__(self, folder: Path, rule: str = "sign", part: str = "00001") -> None:
        self.name, self.rule = rule, SimpleNamespace(name=rule)
        self.wildcards, self.log = [part], [str(folder / f"logs/{rule}/{part}.log")]

    def is_group(self) -> bool:
        return False

    def says(self, state: JobState | None) -> "Step":
        if state:
            Path(self.log[0]).parent.mkdir(parents=True, exist_ok=True)
            Path(self.log[0]).write_text("10:00:00 begun\n")
            save_state(Path(self.log[0]), state)
        return self


class Group:
    name = "part_band_sign"

    def __init__(self, *jobs: Step) -> None:
        self.jobs = jobs

    def is_group(self) -> bool:
        return True


class Plugin:
    """What the executor of the plug-in has, as far as it is used."""

    def __init__(self, run: str) -> None:
        settings = SimpleNamespace(init_seconds_before_status_checks=10, keep_successful_logs=False)
        self.workflow = SimpleNamespace(executor_settings=settings)
        self.run_uuid, self.next_seconds_between_status_checks = run, 10
        self.logger = SimpleNamespace(warning=lambda text: self.said.append(text))
        self.said, self.ended = [], {}
        self.__post_init__()

    def __post_init__(self) -> None:
        pass

    def report_job_success(self, submitted) -> None:
        self.ended[submitted.external_jobid] = GOOD

    def report_job_error(self, submitted, msg, aux_logs) -> None:
        self.ended[submitted.external_jobid] = msg


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A run's executor before stand-ins for SLURM, with a clock that is set by hand."""

    class Run:
        def __init__(self, **faults) -> None:
            self.folder, self.heard, self.now = tmp_path / "stand-in", [], 0.0
            for name, value in slurm_stand_in.commands(self.folder, **faults).items():
                monkeypatch.setenv(name, value)
            monkeypatch.setattr("corpusmill.run.slurm.time.monotonic", lambda: self.now)
            self.spared = Spared(tmp_path / "logs/spared.json")
            self.executor = watched(Plugin, self.heard.append, self.spared)("a run")
            self.jobs = []

        def submit(self, job, state: str, says: str = "") -> None:
            number = len(self.jobs) + 1
            cluster = slurm_stand_in.Cluster(self.folder)
            cluster.change(number, state)
            told = f'{{"number": {number}, "job_name": "a run", "fault": null, "at": 0}}'
            (self.folder / f"{number}.job").write_text(told)
            log = self.folder / f"{number}.log"
            log.write_text(says)
            self.jobs.append(
                SimpleNamespace(external_jobid=str(number), job=job, aux={"slurm_logfile": log})
            )

        def look(self) -> list[str]:
            """The numbers of the jobs that are still waited for."""

            async def looked():
                return [one async for one in self.executor.check_active_jobs(self.jobs)]

            self.jobs = asyncio.run(looked())
            return [one.external_jobid for one in self.jobs]

    return Run


def test_states__are_one_word_each():
    answer = "17|CANCELLED by 0\n18_3|RUNNING\n\nno job\n19|\n"
    assert states_of(answer) == {"17": "CANCELLED", "18_3": "RUNNING"}


@pytest.mark.parametrize(
    ("slurm", "step", "expected"),
    [
        (MEMORY, None, "StepId=9.0 exceeded memory limit (1146 > 1006), being killed"),
        (MEMORY + TIME, None, "StepId=9.0 exceeded memory limit (1146 > 1006), being killed"),
        (TIME, JobState(FAILED, "stopped"),
         "STEP 9.0 ON n7 CANCELLED AT 2026-11-22 DUE TO TIME LIMIT"),
        (OOM, None, "Detected 1 oom_kill event in StepId=9.0. Some have been OOM Killed."),
        ("x", JobState(FAILED, "killed (signal 9), most"), "killed (signal 9), most"),
        ("x", JobState(FAILED, "a.jsonl:3: bad"), "a.jsonl:3: bad"),
        ("x", JobState(FAILED, "KeyError: 1", is_fault=True), "KeyError: 1"),
        ("x", GOES_ON, ""),
    ],
)  # fmt: skip
def test_why__is_what_slurm_says_or_else_the_step(tmp_path, slurm, step, expected):
    log = tmp_path / "9.log"
    log.write_text(f"some line\n{slurm}")
    reason, explained = why(Step(tmp_path).says(step), log)
    assert reason == expected
    assert explained == (expected != "" and not (step and step.is_fault))


def test_finished__is_what_all_steps_of_a_job_say(tmp_path):
    one, other = Step(tmp_path).says(DONE), Step(tmp_path, "band")
    assert has_finished(one)
    assert not has_finished(Group(one, other))
    assert has_finished(Group(one, other.says(DONE)))
    assert not has_finished(other.says(JobState(FAILED, "stopped")))


def test_queue__believes_what_may_pass_only_after_a_while():
    queue = Queue()

    def look(state, now, finished=False):
        return queue.end_of("7", state, lambda: finished, now, 60)

    assert [look("PENDING", 0), look(None, 10), look(None, 69), look(None, 70)] == [
        None, None, None, LOST,
    ]  # fmt: skip
    assert [look("RUNNING", 80), look("PREEMPTED", 90), look("PENDING", 155)] == [None] * 3
    assert [look("NODE_FAIL", 160), look("NODE_FAIL", 220)] == [None, "NODE_FAIL"]
    assert [look(None, 230, finished=True), look("COMPLETED", 230)] == [GOOD, GOOD]
    assert look("A_STATE_OF_LATER_VERSIONS", 300) is None


def test_job__that_squeue_has_forgotten_has_ended_if_it_says_so(cluster, tmp_path):
    run = cluster(hides=True)
    run.submit(Step(tmp_path).says(DONE), "COMPLETED")
    run.submit(Step(tmp_path, part="00002").says(GOES_ON), "COMPLETED")
    run.submit(Step(tmp_path, part="00003"), "RUNNING")
    assert run.look() == ["2", "3"]
    assert run.executor.ended == {"1": GOOD}
    assert not (run.folder / "1.log").exists()
    run.now = 59
    assert run.look() == ["2", "3"]
    run.now = 61
    assert run.look() == ["3"]
    assert run.executor.ended["2"].startswith("SLURM job 2 LOST: no reason found")
    assert run.heard == ["sign: " + run.executor.ended["2"].removesuffix(". ")]


@pytest.mark.parametrize(
    ("slurm", "step"),
    [
        (TIME, None),
        ("", JobState(FAILED, "stopped by signal 15: cancelled")),
        ("", JobState(FAILED, "a.jsonl.zst is cut off at byte 7.")),
    ],
)
def test_job__with_a_reason_of_its_own_is_spared_though_it_is_forgotten(
    cluster, tmp_path, slurm, step
):
    run = cluster(hides=True)
    run.submit(Step(tmp_path).says(step), "COMPLETED", slurm)
    run.look()
    run.now = 61
    assert run.look() == []
    assert " LOST: " in run.executor.ended["1"]
    assert run.spared.of("sign", ["00001"]) == 1


def test_job__that_is_cancelled_is_spared_more_memory_and_says_so_in_its_log(cluster, tmp_path):
    run, step = cluster(), Step(tmp_path)
    run.submit(step, "CANCELLED")
    assert run.look() == []
    assert "error: SLURM job 1 CANCELLED\n" in Path(step.log[0]).read_text()
    assert run.spared.of("sign", ["00001"]) == 1
    assert run.spared.of("sign", ["00002"]) == run.spared.of("band", ["00001"]) == 0


@pytest.mark.parametrize(
    ("state", "says"),
    [("FAILED", MEMORY), ("CANCELLED", MEMORY), ("FAILED", ""), ("OUT_OF_MEMORY", OOM)],
)  # fmt: skip
def test_job__that_may_have_lacked_memory_is_not_spared(cluster, tmp_path, state, says):
    run, step = cluster(), Step(tmp_path).says(GOES_ON)
    run.submit(step, state, says)
    assert run.look() == []
    assert run.spared.of("sign", ["00001"]) == 0
    why_it_ended = says.partition("error: ")[2].strip() or "no reason found"
    assert f"error: SLURM job 1 {state}: {why_it_ended}" in Path(step.log[0]).read_text()


def test_steps_of_a_group__are_told_apart(cluster, tmp_path):
    run = cluster()
    whole = Step(tmp_path).says(DONE)
    cut, unbegun = Step(tmp_path, "band").says(GOES_ON), Step(tmp_path, "pair")
    run.submit(Group(whole, cut, unbegun), "TIMEOUT", TIME)
    assert run.look() == []
    assert Path(whole.log[0]).read_text() == "10:00:00 begun\n"
    assert load_state(Path(cut.log[0])).state == FAILED
    assert "SLURM job 1 TIMEOUT: STEP 9.0 ON n7" in Path(cut.log[0]).read_text()
    assert not Path(unbegun.log[0]).exists()
    assert [run.spared.of(rule, ["00001"]) for rule in ("sign", "band", "pair")] == [1, 1, 1]


def test_jobs__are_waited_for_while_squeue_does_not_answer(cluster, tmp_path):
    run = cluster(silent=7)
    run.submit(Step(tmp_path), "COMPLETED")
    assert [run.look() for _ in range(8)] == [["1"]] * 7 + [[]]
    (said,) = run.executor.said
    assert said.startswith("squeue does not answer (slurm_load_jobs error: Unable to contact")


def test_looks__come_less_often_while_nothing_ends_but_every_minute(cluster, tmp_path):
    run = cluster()
    run.submit(Step(tmp_path), "RUNNING")
    seconds = [run.look() and run.executor.next_seconds_between_status_checks for _ in range(7)]
    assert seconds == [20, 30, 40, 50, 60, 60, 60]
    slurm_stand_in.Cluster(run.folder).change(1, "COMPLETED")
    run.look()
    assert run.executor.next_seconds_between_status_checks == 10


def test_squeue__that_hangs_is_ended(tmp_path, monkeypatch):
    (tmp_path / "squeue").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "squeue").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr("corpusmill.run.slurm.ANSWER_SECONDS", 0.2)
    with pytest.raises(ValueError, match="no answer within"):
        asyncio.run(squeue("a run"))


def test_memory__grows_only_with_attempts_that_more_of_it_would_have_helped(tmp_path):
    spared = Spared(tmp_path / "spared.json")
    mem_mb = memory(spared=spared.of).flat(500)

    def asked(attempt):
        return mem_mb(["00001"], attempt, rulename="sign")

    assert [asked(1), asked(2), asked(3)] == [500, 750, 1125]
    spared.add(Step(tmp_path, "sign", "00001"))
    assert [asked(1), asked(2), asked(3)] == [500, 500, 750]
    spared.clear()
    assert asked(2) == 750
