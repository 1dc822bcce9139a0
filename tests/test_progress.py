"""What a job says of itself: how much of how much, how fast, how long."""

import time

import pytest

from corpusmill.messages.progress import awaiting
from corpusmill.run import job_progress as progress
from corpusmill.run.job_progress import Heartbeat, Phase, phase


@pytest.mark.parametrize(
    ("name", "total", "unit", "done", "seconds", "expected"),
    [
        ("encoding", 256e6, "MB", 120e6, 2,
         "encoding: 120 of 256 MB, 47 %, 60.0 MB/s, 2 s left (2 s)"),
        ("electing", 2000, "parts", 1500, 10,
         "electing: 1,500 of 2,000 parts, 75 %, 150.0 parts/s, 3 s left (10 s)"),
        ("signing", 0, "documents", 1234567, 10,
         "signing: 1,234,567 documents, 123,456.7 documents/s (10 s)"),
        ("reading", 10, "files", 0, 3, "reading: 0 of 10 files, 0 % (3 s)"),
        ("reading", 10, "files", 10, 5, "reading: 10 of 10 files, 100 %, 2.0 files/s (5 s)"),
        ("reading", 10, "files", 400, 5, "reading: 400 files, 80.0 files/s (5 s)"),
        ("working", 0, "MB", 0, 0, "working (0 s)"),
    ],
)  # fmt: skip
def test_phase__line_says_how_far(monkeypatch, name, total, unit, done, seconds, expected):
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    one = Phase(name, int(total), unit)
    one.advance(int(done) // 2)
    one.advance(int(done) - int(done) // 2)
    now += seconds
    assert one.line() == expected


def test_phase__of_no_time_does_not_divide_by_zero(monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
    one = Phase("x", 0, "MB")
    one.advance(5)
    assert one.line().startswith("x: 0 MB, ")


def test_phase__gives_way_to_the_outer_one():
    with phase("outer") as outer:
        with phase("inner") as inner:
            assert progress._current is inner
        assert progress._current is outer
    assert progress._current is None


def test_heartbeat__says_the_phase_until_stopped(monkeypatch):
    monkeypatch.setattr("corpusmill.messages.progress.SAY_EVERY_SECONDS", 0.01)
    said = []
    heartbeat = Heartbeat(said.append)
    heartbeat.start()
    time.sleep(0.1)
    with phase("counting", unit="documents"):
        time.sleep(0.1)
    heartbeat.stop()
    assert said[0] == "working (0 s)"
    assert "counting (0 s)" in said
    assert not heartbeat.is_alive()


def test_heartbeat__says_what_is_waited_for_where_the_phase_does_not_go_on(monkeypatch):
    monkeypatch.setattr("corpusmill.messages.progress.SAY_EVERY_SECONDS", 0)
    heartbeat = Heartbeat(print)
    with phase("sending", 10, "files") as one, awaiting("PUT s3://a/b"):
        time.sleep(0.01)
        first = heartbeat._line(1)
        waits = heartbeat._line(2)
        one.advance(1)
        goes_on = heartbeat._line(3)
    assert first == "sending: 0 of 10 files, 0 % (0 s)"
    assert goes_on.startswith("sending: 1 of 10 files, ")
    assert waits == "waiting for PUT s3://a/b (0 s)"
