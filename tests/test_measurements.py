"""Time and memory per rule, from the states of jobs; a malformed state is named."""

import pytest

from corpusmill.run.job_state import FAILED, FINISHED, JobState, save_state, state_file
from corpusmill.run.measurements import measured


def save_job(logs, name: str, **state) -> None:
    log = logs / name
    log.parent.mkdir(exist_ok=True)
    log.touch()
    save_state(log, JobState(**state))


def test_measured__counts_finished_jobs(tmp_path):
    ended = {"state": FINISHED, "allowed_mb": 500}
    save_job(tmp_path, "sign/00000.log", seconds=1.5, cpu_seconds=1, memory_mb=80, **ended)
    save_job(tmp_path, "sign/00001.log", seconds=2.25, cpu_seconds=2, memory_mb=70, **ended)
    save_job(tmp_path, "sign/00002.log", state=FAILED, seconds=9)
    save_job(tmp_path, "plan/plan.log", state=FAILED)
    assert measured(tmp_path) == {
        "sign": {
            "jobs": 2, "wall_seconds": 3.75, "cpu_seconds": 3, "peak_memory_mb": 80, "mem_mb": 500,
        }
    }  # fmt: skip


def test_measured__names_a_malformed_state(tmp_path):
    save_job(tmp_path, "sign/00000.log", state=FINISHED)
    state_file(tmp_path / "sign/00000.log").write_text('{"state": 1}')
    with pytest.raises(ValueError, match=r"sign/\.00000\.log\.json: expected the state of a job"):
        measured(tmp_path)
