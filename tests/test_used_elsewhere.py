"""The workflow as a module of another one, and from an installed wheel."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from warm import warm_python
from workflow import ROOT, document, jobs, mill, write_jsonl

EXTENDING = (ROOT / "docs/how-to/extend.md").read_text("utf-8")
AS_WRITTEN = re.findall(r"^```python\n(module mill:.*?)^```", EXTENDING, re.MULTILINE | re.DOTALL)[
    0
]
OTHER_WORKFLOW = f"""
configfile: "mine.yaml"

{AS_WRITTEN.replace("/path/to/corpusmill", str(ROOT))}

rule answer:
    input:
        "milled/results/summary.json",
    output:
        "answer.txt",
    default_target: True
    shell:
        "cp {{input}} {{output}}"
"""
TIMED = {"summary.json", "report.html", "report/times.html", "report/times.csv", "plan/recipes"}


def corpus(folder: Path) -> dict:
    path = folder / "raw/a.jsonl"
    write_jsonl(path, [{"text": document(n % 70)} for n in range(80)])
    os.utime(path, (10**9, 10**9))  # the plan has it
    return {
        "sources": [{"name": "web", "files": ["raw/*.jsonl"]}],
        "tokenizer": {"source": "train", "train_vocabulary": 300},
    }


def results_of(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of the results."""
    results = folder / "results"
    return {
        str(path.relative_to(results)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(results.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("plain")
    mill(folder, corpus(folder))
    return folder


@pytest.fixture
def other(tmp_path) -> Path:
    """A workflow of somebody else's that has ours as a module."""
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"mill": corpus(tmp_path)}))
    (tmp_path / "Snakefile").write_text(OTHER_WORKFLOW)
    return tmp_path


def other_snakemake(
    folder: Path, *arguments: str, python: str | None = None
) -> subprocess.CompletedProcess:
    return subprocess.run(
        [python or warm_python(), "-m", "snakemake", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def test_module__makes_the_same_bytes_below_its_prefix(other, plain):
    asked = ("answer", "mill_all", "--cores", "2")
    done = other_snakemake(other, *asked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (other / "answer.txt").exists()
    assert not (other / "results").exists()
    mine, theirs = (results_of(folder) for folder in (other / "milled", plain))
    named = TIMED | {"manifest.json", "plan/record.json"}  # have paths or times in them
    named |= {"DATASET_CARD.md", "training_content.md"}  # have the digest of the manifest
    named |= {name for name in theirs if name.split("/")[0] in ("bands", "pairs", "extracts",
              "resolved", "assign", "scatter") and name.endswith(".json")}  # fmt: skip
    assert mine.keys() == theirs.keys()
    assert {name for name in theirs if mine[name] != theirs[name]} <= named
    again = other_snakemake(other, *asked)
    assert "Nothing to be done" in again.stdout + again.stderr
    done = other_snakemake(other, "mill_all", "--report", "report.html")
    assert "Adding funnel.html" in done.stdout + done.stderr
    (other / "milled/results/clusters/00001.parquet").write_text("mine")
    (other / "milled/results/manifest.json").unlink()
    done = other_snakemake(other, "--cores", "2", "mill_all")
    assert (
        "1 files in the folders of this run do not belong to the run" in done.stdout + done.stderr
    )


def test_module__says_what_is_wrong_with_its_config(other):
    config = yaml.safe_load((other / "mine.yaml").read_text())
    config["mill"]["dedup"] = {"bandz": 3}
    (other / "mine.yaml").write_text(yaml.safe_dump(config))
    done = other_snakemake(other, "-n")
    assert done.returncode == 1
    assert "dedup: unknown key bandz" in done.stdout + done.stderr
    (other / "mine.yaml").write_text(yaml.safe_dump({"mill": {"shuffle": {"seed": 1}}}))
    done = other_snakemake(other, "-n")
    assert "the module's config: no sources" in done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder with what `pip install .` puts into site-packages; the checkout is not near."""
    folder = tmp_path_factory.mktemp("installed")
    ignored = shutil.ignore_patterns(".*", "results", "logs", "tests", "benchmarks")
    checkout = shutil.copytree(ROOT, folder / "checkout", ignore=ignored)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    site = folder / "site-packages"
    subprocess.run(
        [*pip, "--no-deps", "--no-build-isolation", "--target", str(site), str(checkout)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    shutil.rmtree(checkout)
    return site


def test_wheel__runs_from_any_folder_and_makes_the_same_bytes(installed, plain, tmp_path):
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(corpus(tmp_path)))
    snakefile = installed / "corpusmill/workflow/Snakefile"
    arguments = ["-s", str(snakefile), "--configfile", "mine.yaml", "--cores", "2"]
    done = other_snakemake(tmp_path, *arguments, python=sys.executable)
    assert done.returncode == 0, done.stdout + done.stderr
    mine, theirs = results_of(tmp_path), results_of(plain)
    assert {name for name in theirs if mine[name] != theirs[name]} <= TIMED
    again = other_snakemake(tmp_path, *arguments, python=sys.executable)
    assert "Nothing to be done" in again.stderr
    done = other_snakemake(tmp_path, *arguments, "--report", "report.html", python=sys.executable)
    assert done.returncode == 0, done.stdout + done.stderr


def test_wheel__has_the_templates_of_pages(installed):
    folder = "corpusmill/mill/report/templates"
    names = {path.name for path in (ROOT / folder).iterdir()}
    assert {"base.html", "style.css"} <= names == {p.name for p in (installed / folder).iterdir()}


def test_wheel__has_the_designer_with_its_configuration(installed, tmp_path):
    corpus(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "corpusmill.designer", "raw/a.jsonl"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "80 documents" in done.stdout


def test_dry_run__of_a_module_lists_the_steps_by_their_names(other):
    listed = jobs(other_snakemake(other, "-n", "--quiet", "rules"))
    assert listed["mill_measure"] == 1
