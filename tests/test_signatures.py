"""Rules held against the steps that they run: names too few, too many, misspelt."""

import shutil
from pathlib import Path

import pytest
from workflow import ROOT, snakemake

from corpusmill.run.signatures import mismatches, parameters

TAKES = {"text": [], "made": ["data", "index"], "seed": []}
GIVEN = ["text", "data", "index", "seed"]


def test_parameters__of_a_step_with_objects_of_this_script_and_of_the_package():
    found = parameters(ROOT / "scripts/extract.py", ROOT)
    assert found["pairs"] == found["first_part"] == []
    assert found["groups"] == ["labels", "starts"]
    assert found["made"] == ["data", "index", "edges", "edge_starts", "counts"]


def test_parameters__of_every_step_are_eight_at_most():
    for script in sorted((ROOT / "scripts").glob("*.py")):
        assert 1 <= len(parameters(script, ROOT)) <= 8, script


def test_mismatches__of_a_rule_that_fits_are_none():
    assert mismatches("scatter", GIVEN, {"part"}, TAKES) == []
    assert mismatches("scatter", ["text", "made", "seed"], set(), TAKES) == []
    assert mismatches("scatter", GIVEN[:-1], {"seed"}, TAKES) == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([*GIVEN, "seeds"], "passes seeds, which its step does not accept"),
        (["txet", *GIVEN[1:]], "passes txet, which its step does not accept; did you mean text?"),
        (GIVEN[1:], "does not pass text, which its step needs"),
        (["text", "data", "seed"], "does not pass index, which its step needs"),
        ([*GIVEN, "text"], "uses the name text twice"),
        ([*GIVEN, "part"], "uses the name part twice"),
    ],
)
def test_mismatches__are_told(given, says):
    assert any(says in fault for fault in mismatches("scatter", given, {"part"}, TAKES))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "hasher=",
            "hashr=",
            "rule sign passes hashr, which its step does not accept; did you mean hasher?",
        ),
        (
            '        digests="results/digests/{part}.npy",\n',
            "",
            "rule sign does not pass digests, which its step needs",
        ),
    ],
)
def test_a_rule_that_does_not_fit__stops_before_any_job(tmp_path, old, new, says):
    checkout = tmp_path / "checkout"
    ignored = shutil.ignore_patterns(".*", "results", "logs", "tests", "docs", "benchmarks")
    shutil.copytree(ROOT, checkout, ignore=ignored)
    rule = Path(checkout / "rules/dedup.smk")
    assert old in rule.read_text()
    rule.write_text(rule.read_text().replace(old, new, 1))
    done = snakemake(tmp_path, "-n", checkout=checkout)
    assert done.returncode == 1
    assert says in done.stdout + done.stderr
