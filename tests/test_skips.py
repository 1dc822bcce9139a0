"""What CI says of skipped tests, and when it fails for them."""

import importlib.util
import subprocess
import sys

import pytest
from workflow import ROOT

spec = importlib.util.spec_from_file_location("skips", ROOT / ".ci/skips.py")
skips = importlib.util.module_from_spec(spec)
spec.loader.exec_module(skips)

TESTS = """
import os
import pytest

def test_a():
    pass

@pytest.mark.parametrize("case", ["x [y]", "third"])
def test_b(case):
    if "HAS_B" not in os.environ:
        pytest.skip("no b here")
"""
WHOLE = 'import pytest\n\npytest.skip("no such system", allow_module_level=True)\n'


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Two parts of a CI: the first has no b, the second runs one case of test_b alone."""
    folder = tmp_path_factory.mktemp("parts")
    (folder / "tests").mkdir()
    (folder / "tests/test_one.py").write_text(TESTS)
    (folder / "tests/test_whole.py").write_text(WHOLE)
    for part, options in {"main": [], "other": ["-k", "third", "tests/test_one.py"]}.items():
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", "."]
        subprocess.run(
            [*command, f"--junitxml={part}.xml", *(options or ["tests"])], cwd=folder, check=True,
            env={"PATH": "/usr/bin:/bin", **({"HAS_B": "1"} if part == "other" else {})},
            capture_output=True,
        )  # fmt: skip
    return folder


def told(reports, excuses, *parts):
    (reports / "excuses.txt").write_text(excuses)
    return subprocess.run(
        [sys.executable, str(ROOT / ".ci/skips.py"), "excuses.txt", *parts], cwd=reports,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_skips__are_printed_and_fail_unless_they_ran_elsewhere_or_are_excused(reports):
    got = told(reports, "", "main.xml", "other.xml")
    assert got.returncode == 1
    assert got.stdout.splitlines() == [
        "tests/test_whole.py: skipped in main (no such system); NOT EXCUSED",
        "tests/test_one.py::test_b[x [y]]: skipped in main (no b here); NOT EXCUSED",
        "tests/test_one.py::test_b[third]: skipped in main (no b here); ran in other",
    ]
    assert got.stderr == "skipped, ran in no part, and not in excuses.txt: 2 tests\n"


def test_skips__that_are_excused_fail_nothing(reports):
    excuses = (
        "tests/test_one.py::test_b[x [y]]  # no b is made\n\ntests/test_w*  # no such system\n"
    )
    got = told(reports, excuses, "main.xml", "other.xml")
    assert got.returncode == 0, got.stderr
    assert got.stdout.count("excused: no ") == 2
    assert got.stdout.count("NOT EXCUSED") == 0


def test_part__in_which_no_test_ran_fails(reports):
    empty = '<testsuites><testsuite name="pytest"></testsuite></testsuites>'
    (reports / "slurm.xml").write_text(empty)
    got = told(reports, "", "main.xml", "slurm.xml")
    assert (got.returncode, got.stderr) == (1, "no test ran in slurm\n")


def test_excuse__without_a_reason_is_refused():
    with pytest.raises(ValueError, match="expected a test, two blanks, # and the reason"):
        skips.excuses("tests/test_one.py::test_b\n")


def test_excuses__of_the_checkout_name_tests_that_exist():
    for pattern in skips.excuses((ROOT / ".ci/skips.txt").read_text("utf-8")):
        file, _, name = pattern.partition("::")
        assert f"def {name.split('[')[0].rstrip('*')}" in (ROOT / file).read_text("utf-8")
