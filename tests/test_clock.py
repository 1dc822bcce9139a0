"""Files whose time is still to come are told before any job, with what sets it right."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from corpusmill.run.clock import TOLERATED_NS, clock_faults
from corpusmill.run.plan import InputFile

DAY = 86400 * 10**9


def input_file(path: str, mtime_ns: int | None) -> InputFile:
    return InputFile("s", path, 1, 1, mtime_ns)


@pytest.mark.parametrize("later", [-DAY, 0, TOLERATED_NS])
def test_clock_faults__are_none_up_to_a_minute_ahead(tmp_path, later):
    (tmp_path / "text").mkdir()
    now = time.time_ns()
    os.utime(tmp_path / "text", ns=(now + later, now + later))
    files = [input_file("a", now + later), input_file("b", None)]
    assert clock_faults(files, tmp_path, now) == []


def test_clock_faults__name_an_input_and_how_many_more():
    files = [input_file("a", 5 * DAY), input_file("b", 9 * DAY), input_file("c", DAY)]
    assert clock_faults(files, Path("none"), 2 * DAY) == [
        "a and 1 more: expected a time no later than now (1970-01-03T00:00:00Z), found "
        "1970-01-06T00:00:00Z. Correct the clock, or the modification time: "
        "touch -d '1970-01-03T00:00:00Z' a"
    ]


def test_clock_faults__what_they_say_of_results_mends_them(tmp_path):
    results, now = tmp_path / "results", time.time_ns()
    (results / "text").mkdir(parents=True)
    (results / "text/a").touch()
    for path in (results / "text/a", results / "text"):
        os.utime(path, ns=(now + DAY, now + DAY))
    (told,) = clock_faults([], results, now)
    assert told.startswith(f"{results}/text: expected a time no later than now (")
    subprocess.run(told.partition("or the modification time: ")[2], shell=True, check=True)
    assert clock_faults([], results, now) == []
    assert (results / "text/a").stat().st_mtime_ns <= now
