"""Both profiles for SLURM to their end, with stand-ins for its commands."""

import hashlib
import importlib.util
import os
import subprocess

import pytest
import slurm_stand_in
import yaml
from warm import warm_python
from workflow import ROOT, command, document, mill, write_jsonl

pytestmark = pytest.mark.skipif(
    not importlib.util.find_spec("snakemake_executor_plugin_slurm"),
    reason="the SLURM plug-in is not here: envs/requirements-slurm.txt",
)
KEPT = ["corpus", "tokens", "ledger", "placements", "clusters", "manifest.json"]


def corpus(folder):
    records = [{"text": document(i)} for i in range(160)] + [{"text": document(3)}] * 5
    for half in range(2):
        write_jsonl(folder / f"raw/{half}.jsonl", records[half::2])
    return {
        "sources": [{"name": "one", "files": ["raw/*.jsonl"]}],
        "input": {"part_bytes": 70_000},
        "splits": {"validation": 0.05, "test": 0},
        "output": {"shard_bytes": 70_000},
        "tokenizer": {"source": "train", "train_vocabulary": 300},
    }


def kept(folder):
    """SHA-256 of every file that a user keeps, by path."""
    results = folder / "results"
    files = [file for name in KEPT for file in [results / name, *(results / name).rglob("*")]]
    return {
        str(file.relative_to(results)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if file.is_file() and file.suffix != ".sums"  # whose recipe is of the times of inputs
    }


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    mill(folder, corpus(folder))
    return kept(folder)


def submitted(folder, profile, **faults):
    """A run with a profile: what Snakemake said, and the jobs that were submitted."""
    (folder / "mine.yaml").write_text(yaml.safe_dump(corpus(folder)))
    state = folder / "stand-in"
    asked = command(
        "--configfile", "mine.yaml", "--profile", str(ROOT / "profiles" / profile),
        "--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "5",
        python=warm_python(),
    )  # fmt: skip
    environment = os.environ | slurm_stand_in.commands(state, **faults)
    done = subprocess.run(asked, cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=900, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr, slurm_stand_in.submissions(state)


def test_small_profile__ends_with_the_bytes_of_a_local_run(tmp_path, local):
    _, jobs = submitted(tmp_path, "slurm-small")
    assert kept(tmp_path) == local
    assert {job["state"] for job in jobs} == {"COMPLETED"}
    assert {job["safe"] for job in jobs} == {"1"}
    assert len(jobs) < 10


def test_profile__ends_with_the_same_bytes_whatever_slurm_does(tmp_path, local):
    """SLURM answers late, fails to at first, forgets what has ended, and cuts four jobs short: each
    is tried again, with more memory unless it was cancelled or ran out of time."""
    faults = {"holdout": "CANCELLED", "group": "TIMEOUT", "pair": "FAILED", "tokenizer": "lost"}
    said, jobs = submitted(tmp_path, "slurm", rules=faults, late=0.5, hides=True, silent=7)
    assert kept(tmp_path) == local
    assert {job["safe"] for job in jobs} == {"1"}
    memory = {rule: [job["mem"] for job in jobs if job["rule"] == rule] for rule in faults}
    growth = {rule: round(again / first, 1) for rule, (first, again) in memory.items()}
    assert growth == {"holdout": 1, "group": 1, "pair": 1.5, "tokenizer": 1.5}
    for rule, (first, again) in memory.items():
        log = next((tmp_path / "logs" / rule).glob("*.log")).read_text()
        assert f" of {again:,} MB allowed\n" in log, (first, log)
    assert said.count("squeue does not answer") == 1
    number = next(job["number"] for job in jobs if job["rule"] == "pair")
    assert f"FAILED: StepId={number}.0 {slurm_stand_in.OVER_MEMORY}." in said
