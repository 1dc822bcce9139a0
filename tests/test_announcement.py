"""A run announces itself, and a dead one does not stand in the way."""

import contextlib
import os
import subprocess
import sys

import msgspec
import pytest
from workflow import ROOT

from corpusmill.run.announcement import (
    ANNOUNCEMENT,
    FAILED,
    FINISHED,
    LOCKS,
    NOTHING,
    announce,
    announced,
    end,
    go_on,
    load_announcement,
    this_process,
    withdraw,
)
from corpusmill.run.job_list import JOB_LIST, save_job_list


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def announced_by_dead_process() -> str:
    code = "from corpusmill.run.announcement import announce; print(announce())"
    command, apart = [sys.executable, "-c", code], os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=apart, capture_output=True, text=True).stdout[:-1]


def found():
    return load_announcement(ANNOUNCEMENT)


def test_announce__leaves_a_living_run_and_a_locked_folder_alone():
    name = announce()
    assert (announce(), found().run) == ("", name)
    end(ANNOUNCEMENT, name, FAILED)
    LOCKS.mkdir(parents=True)
    (LOCKS / "0.input.lock").touch()
    assert (announce(), found().run) == ("", name)


def test_announce__replaces_a_dead_run():
    dead = announced_by_dead_process()
    assert (found().run, found().is_alive) == (dead, False)
    name = announce()
    assert name
    assert (found().run, found().before.run) == (name, dead)


def test_announce__replaces_what_it_cannot_read():
    announce()
    ANNOUNCEMENT.write_text('{"lives": 3}')
    with pytest.raises(
        ValueError, match=r"announced\.json: expected the announcement of a run by this"
    ):
        found()
    assert announce() == found().run


def test_life__of_another_machine_is_not_known():
    name = announce()
    other = msgspec.structs.replace(this_process(), host="elsewhere")
    mine = found()
    ANNOUNCEMENT.write_bytes(msgspec.json.encode(msgspec.structs.replace(mine, lives=[other])))
    assert found().is_alive is None
    go_on(ANNOUNCEMENT, name)
    assert (found().is_alive, len(found().lives)) == (True, 2)


def test_end__is_said_once_and_of_the_own_run_alone():
    name = announce()
    end(ANNOUNCEMENT, "another", FAILED)
    end(ANNOUNCEMENT, name, FINISHED)
    end(ANNOUNCEMENT, name, FAILED, "later")
    assert (found().outcome, found().reason, found().ended >= found().began) == (FINISHED, "", True)


@pytest.mark.parametrize(("first", "kept"), [(FINISHED, FINISHED), (FAILED, NOTHING)])
def test_nothing_to_do__lets_a_run_that_ended_well_stand(first, kept):
    name = announce()
    end(ANNOUNCEMENT, name, first)
    end(ANNOUNCEMENT, announce(), NOTHING)
    assert (found().outcome, found().run == name) == (kept, kept == first)


def test_withdraw__is_as_if_there_had_been_none():
    withdraw(ANNOUNCEMENT, announce())
    assert not ANNOUNCEMENT.exists()
    name = announce()
    end(ANNOUNCEMENT, name, FINISHED)
    before = ANNOUNCEMENT.read_bytes()
    withdraw(ANNOUNCEMENT, announce())
    assert ANNOUNCEMENT.read_bytes() == before


def left(code: int, options: list[str], listed: bool) -> str | None:
    """How a run is announced after `corpusmill run` was left so; None: it is not."""
    with contextlib.suppress(SystemExit), announced(options) as told:
        if listed:
            save_job_list({}, JOB_LIST, told.name)
        told.reason = "why"
        sys.exit(code)
    return found() and found().outcome


def test_announced__says_how_the_block_was_left():
    assert left(1, [], listed=False) == FAILED
    assert found().reason == "why"
    assert left(0, ["--cores", "2"], listed=True) == FINISHED


@pytest.mark.parametrize("options", [["-n"], ["-qn"], ["--dry-run"], ["--dryrun"]])
def test_announced__is_no_dry_run(options):
    assert left(0, options, listed=False) is None


def test_announced__is_nothing_that_ran_nothing():
    assert left(0, ["--version"], listed=False) is None


@pytest.mark.parametrize("written", ["{}", "[]", "[" * 100_000, '{"began": 1}', ""])
def test_announced__of_a_damaged_list_of_jobs_ran_nothing(written):
    JOB_LIST.parent.mkdir()
    JOB_LIST.write_text(written)
    assert left(0, [], listed=False) is None
