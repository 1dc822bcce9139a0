"""What a person sees while a run goes on."""

import io
import re
from collections import Counter

import pytest
from rich.console import Console
from workflow import ROOT

from corpusmill.cli.run_progress import Job, Run
from corpusmill.cli.screen import Lines, picture
from corpusmill.run.job_state import FINISHED, RUNNING, JobState, save_state
from corpusmill.run.steps import STEPS

RULES = [
    name
    for path in (ROOT / "rules").glob("*.smk")
    for name in re.findall(r"^rule (\w+):", path.read_text("utf-8"), re.MULTILINE)
]


def test_steps__all_say_what_they_do_in_a_few_words():
    assert sorted(STEPS) == sorted(RULES)
    said = [step.does for step in STEPS.values()]
    assert all(3 < len(does) <= 44 for does in said)
    assert len(set(said)) == len(said)


@pytest.fixture
def run(tmp_path) -> Run:
    log = tmp_path / "logs/guard/guard.log"
    log.parent.mkdir(parents=True)
    log.touch()
    save_state(log, JobState(RUNNING, "guarding: 3 parts", memory_mb=316, allowed_mb=2000))
    found = Run()
    found.counts = Counter(complete=6, guard=1)
    found.done = Counter(complete=4)
    found.jobs = {1: Job("guard", log, 0.0), 2: Job("guard", log, 0.0), 3: Job("theirs", log, 0.0)}
    return found


def test_picture__explains_rules_counts_and_memory(run):
    console = Console(file=io.StringIO(), width=120)
    console.print(picture(run))
    shown = console.file.getvalue()
    assert re.search(r"complete .* 4 of 6 jobs +confirm that all parts have finished a step", shown)
    assert re.search(r"guard .* 0 of 1 job +check how much is dropped as duplicates", shown)
    assert "memory 316 of 2,000 MB allowed" in shown


def test_lines__explain_each_rule_once(run, capsys):
    lines = Lines()
    lines._last = -1e9
    lines.show(run)
    said = capsys.readouterr().err
    assert said.rstrip().endswith(
        ": guard (check how much is dropped as duplicates), guard, theirs"
    )


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (JobState(RUNNING, "signing", memory_mb=316, allowed_mb=2000),
         "signing, memory 316 of 2,000 MB allowed"),
        (JobState(RUNNING, "signing", memory_mb=1316), "signing, memory 1,316 MB"),
        (JobState(FINISHED, memory_mb=1316), ""),
        (None, ""),
    ],
)  # fmt: skip
def test_doing__is_what_a_job_said_last(tmp_path, state, expected):
    if state:
        (tmp_path / "a.log").touch()
        save_state(tmp_path / "a.log", state)
    assert Job("sign", tmp_path / "a.log", 0.0).doing() == expected
