"""What `make test` leaves out: tests that start processes."""

import subprocess
from types import SimpleNamespace

import pytest
from effort import THE_RUN, starts_processes
from hypothesis import given
from hypothesis import strategies as st
from workflow import mill


def item(test, **fixtures):
    """A test as pytest has it, with fixtures that it or they use."""
    found = {name: [SimpleNamespace(func=function)] for name, function in fixtures.items()}
    return SimpleNamespace(obj=test, _fixtureinfo=SimpleNamespace(name2fixturedefs=found))


def computes():
    return sum(range(3))


def starts():
    return subprocess.run


def calls_a_run():
    return [mill(folder, {}) for folder in ()]


class Started:
    def ended(self):
        return subprocess.run


def makes_one_that_starts():
    return Started()


@given(st.integers())
def law_that_starts(number):
    assert calls_a_run


@pytest.mark.parametrize(
    ("test", "fixtures", "expected"),
    [
        (computes, {}, False),
        (starts, {}, True),
        (calls_a_run, {}, True),
        (makes_one_that_starts, {}, True),
        (law_that_starts, {}, True),
        (computes, {"number": computes}, False),
        (computes, {"number": starts}, True),
        (computes, {THE_RUN: calls_a_run}, False),
    ],
)
def test_starts_processes__through_any_function_of_the_tests(test, fixtures, expected):
    assert starts_processes(item(test, **fixtures)) == expected
