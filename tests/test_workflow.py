"""The workflow as its users run it: dry runs, changes, failures, kills, and the same bytes."""

import glob
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from workflow import (
    ROOT,
    document,
    jobs,
    mill,
    small_corpus,
    snakemake,
    summary,
    write_jsonl,
)

from corpusmill.mill.storage.streams import read_lines
from corpusmill.run.job_progress import Phase


@pytest.fixture(scope="module")
def milled(tmp_path_factory):
    """A finished run of the small corpus, and its config."""
    folder = tmp_path_factory.mktemp("milled")
    config = small_corpus(folder)
    mill(folder, config)
    return folder, config


def records_of(folder: Path) -> list[dict]:
    return [
        json.loads(line)
        for path in sorted(glob.glob(f"{folder}/results/corpus/*/*.jsonl.zst"))
        for line in read_lines(path, Phase("", 0, "MB"))
    ]


def dry(folder: Path, *arguments: str, checkout: Path = ROOT) -> dict[str, int]:
    asked = ("--configfile", "mine.yaml", "-n", "--quiet", "rules", *arguments)
    return jobs(snakemake(folder, *asked, checkout=checkout))


def test_dry_run__lists_every_stage_on_an_untouched_checkout(tmp_path):
    listed = jobs(snakemake(tmp_path, "-n", "--quiet", "rules"))
    assert set(listed) >= {
        "demo", "plan", "normalize", "filter", "sign", "band", "pair", "group", "assign",
        "holdout", "decontaminate", "scatter", "gather", "tokenizer", "encode", "verify",
        "manifest", "ledger", "summarize",
    }  # fmt: skip
    assert not list(tmp_path.glob("results/*"))


def test_run__keeps_each_document_once_and_its_fields(milled):
    folder, _ = milled
    records = records_of(folder)
    assert len(records) == summary(folder)["documents"]["kept"] == 540
    assert len({record["text"] for record in records}) == 540
    assert len({record["corpusmill"]["id"] for record in records}) == 540
    first = next(r for r in records if r.get("where") == {"source": "two", "row": 3})
    assert first["text"] == document(1003)
    assert first["corpusmill"]["source"] == "two"
    assert first["n"] == 1.5


def test_run__accounts_for_every_record(milled):
    folder, _ = milled
    dropped = summary(folder)["documents"]["dropped"]
    assert summary(folder)["balanced"] is True
    assert summary(folder)["documents"]["in"] == 600
    assert (dropped["duplicate"], dropped["too_short"], dropped["empty"]) == (45, 12, 3)
    ledger = [row for path in glob.glob(f"{folder}/results/ledger/*.parquet")
              for row in pq.read_table(path).to_pylist()]  # fmt: skip
    places = [(row["file"], row["line"]) for row in ledger]
    assert len(places) == len(set(places)) == 600
    assert all(row["winner"] is not None for row in ledger if row["fate"] == "duplicate")


def test_second_run__has_nothing_to_do(milled):
    folder, config = milled
    assert "Nothing to be done" in mill(folder, config).stderr


@pytest.mark.parametrize("lost", ["tokens/train/00000.bin", "ledger/00000.parquet"])
def test_a_lost_final_file__is_made_again(milled, lost, tmp_path):
    folder, _ = milled
    path = folder / "results" / lost
    path.rename(tmp_path / "lost")  # and back, with its time
    try:
        assert {"encode" if "tokens" in lost else "ledger"} <= set(dry(folder))
    finally:
        (tmp_path / "lost").rename(path)


def test_first_jobs_on_a_machine__do_not_hinder_one_another(tmp_path):
    code = "from corpusmill.mill.read.unicode_tables import character_table; character_table()"
    fresh = os.environ | {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path)}
    jobs = [subprocess.Popen([sys.executable, "-c", code], env=fresh) for _ in range(6)]
    assert [job.wait() for job in jobs] == [0] * 6


@pytest.mark.parametrize(
    ("change", "reruns", "stays"),
    [
        ({"dedup": {"bands": 8}}, {"band", "pair", "group"}, {"normalize", "filter", "sign"}),
        (
            {"filters": [{"name": "too_short", "min_chars": 150}]},
            {"filter", "band", "assign"},
            {"normalize", "measure", "sign"},
        ),
        ({"shuffle": {"seed": 7}}, {"assign", "scatter", "gather"}, {"sign", "pair", "group"}),
        ({"output": {"pack": [64, 32]}}, {"pack", "manifest", "summarize"}, {"encode", "verify"}),
        ({"tokenizer": {"train_vocabulary": 600}}, {"tokenizer", "encode"}, {"gather", "scatter"}),
    ],
)
def test_config_change__reruns_what_depends_on_it(milled, change, reruns, stays):
    folder, _ = milled
    (folder / "change.yaml").write_text(yaml.safe_dump(change))
    listed = dry(folder, "--configfile", "mine.yaml", "change.yaml")
    assert reruns <= set(listed)
    assert not stays & set(listed)


def copied_to(checkout: Path) -> Path:
    """A checkout of one's own."""
    names = ["Snakefile", "config.yaml", "rules", "scripts", "corpusmill",
             "envs", "profiles"]  # fmt: skip
    checkout.mkdir()
    subprocess.run(["cp", "-r", "--preserve=timestamps", *(str(ROOT / n) for n in names),
                    str(checkout)], check=True)  # fmt: skip
    return checkout


def test_source_change__reruns_what_is_told_of_it(milled):
    folder, config = milled
    sources = [source | {"weight": 2} for source in config["sources"]]
    (folder / "change.yaml").write_text(yaml.safe_dump({"sources": sources}))
    listed = dry(folder, "--configfile", "mine.yaml", "change.yaml")
    assert {"pair", "assign", "scatter"} <= set(listed)
    assert not {"normalize", "filter", "sign", "band"} & set(listed)
    sources = [source | {"text_field": "name"} for source in config["sources"]]
    (folder / "change.yaml").write_text(yaml.safe_dump({"sources": sources}))
    assert {"normalize", "sign"} <= set(dry(folder, "--configfile", "mine.yaml", "change.yaml"))
    sources = [source | {"text_field": "content"} for source in config["sources"]]
    (folder / "change.yaml").write_text(yaml.safe_dump({"sources": sources}))
    refused = snakemake(folder, "-n", "--configfile", "mine.yaml", "change.yaml")
    assert refused.returncode == 1
    told = 'reads the field "content", but none of the first records (20) has this field'
    assert told in refused.stderr


def test_failed_job__is_all_that_is_told(tmp_path):
    records = [{"text": document(n), "n": str(n) if n > 30 else n} for n in range(40)]
    write_jsonl(tmp_path / "raw/0.jsonl", records)
    config = {
        "sources": [{"name": "one", "files": ["raw/*.jsonl"]}],
        "dedup": {"prefer": {"field": "n", "order": "highest"}},
        "tokenizer": {"source": "train", "train_vocabulary": 512},
    }
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
    failed = snakemake(tmp_path, "--configfile", "mine.yaml", "--cores", "1")
    assert failed.returncode == 1
    assert "error: dedup.prefer.field is a number in 31 documents" in failed.stderr
    assert "Error in rule measure:" in failed.stderr
    assert ".smk" not in re.sub('in file ".*filter.smk"', "", failed.stderr)


def test_script_change__reruns_its_rule(milled, tmp_path):
    folder, _ = milled
    script = copied_to(tmp_path / "checkout") / "scripts/group.py"
    script.write_text(script.read_text() + "# no code\n")
    assert "group" not in dry(folder, checkout=script.parents[1])
    script.write_text(script.read_text() + "group\n")
    listed = set(dry(folder, checkout=script.parents[1]))
    assert {"group", "assign"} <= listed
    assert not {"normalize", "filter", "sign", "pair"} & listed


def test_odd_names__of_files_and_of_the_checkout(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    checkout = copied_to(tmp_path / "check  out $HOME")
    folder = tmp_path / "run"
    for n in range(700):  # a command longer than Linux takes as one argument
        name = f'it\'s $y `z` "ü" {n} that has a very long name indeed, as some have.jsonl'
        write_jsonl(folder / "raw" / name, [{"text": document(n)}])
    config = {
        "sources": [{"name": "odd", "files": ["raw/*.jsonl"]}],
        "tokenizer": {"source": "train", "train_vocabulary": 512},
    }
    mill(folder, config, checkout=checkout)
    assert summary(folder)["documents"]["kept"] == 700


def test_code_change__reruns_the_rules_that_import_it(milled, tmp_path):
    folder, _ = milled
    checkout = copied_to(tmp_path / "checkout")
    kernel = checkout / "corpusmill/kernels/components.py"
    kernel.write_text(kernel.read_text().replace('"""Connected', '"""All connected'))
    assert "group" not in dry(folder, checkout=checkout)
    kernel.write_text(kernel.read_text().replace("if above == x:", "if x == above:"))
    listed = set(dry(folder, checkout=checkout))
    assert {"group", "assign"} <= listed
    assert not {"normalize", "filter", "sign", "pair"} & listed


def test_every_log__says_how_its_job_ended(milled):
    folder, _ = milled
    logs = glob.glob(f"{folder}/logs/**/*.log", recursive=True)
    assert len(logs) > 40
    for log in logs:
        assert re.search(r"finished: [\d.]+ s, .* memory \d+ of", Path(log).read_text()), log
