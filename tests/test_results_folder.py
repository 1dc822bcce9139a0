"""A folder of results belongs to one corpus: what lies there, what came before, what changed."""

import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from workflow import digests, document, jobs, mill, small_corpus, snakemake, summary, write_jsonl

from corpusmill.mill.storage.streams import READ_LIMITS


@pytest.fixture(scope="module")
def milled(tmp_path_factory):
    """A finished run with a held-out set and a tokenizer of a local folder; its config."""
    folder = tmp_path_factory.mktemp("milled")
    config = small_corpus(folder)
    write_jsonl(folder / "raw/held.jsonl", [{"text": document(k)} for k in range(1001, 1006)])
    config["sources"].append({"name": "held", "files": ["raw/held.jsonl"], "held_out": True})
    mill(folder, config)
    shutil.copytree(folder / "results/tokenizer", folder / "tokenizer")
    config["tokenizer"] = {"source": "tokenizer"}
    mill(folder, config)
    return folder, config


def dry(folder: Path) -> dict[str, int]:
    return jobs(snakemake(folder, "--configfile", "mine.yaml", "-n", "--quiet", "rules"))


def refused(folder: Path, *arguments: str) -> str:
    done = snakemake(folder, "--cores", "2", *arguments)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "Job stats" not in done.stdout + done.stderr
    return done.stderr


# The demo over a corpus.


def test_demo__is_not_milled_over_another_corpus(milled):
    folder, _ = milled
    before = digests(folder)
    told = refused(folder)
    assert "results/ holds a different corpus" in told
    assert "this run is the bundled demo" in told
    assert digests(folder) == before


def test_demo__is_not_milled_over_another_corpus_whose_plan_was_removed(milled, tmp_path):
    folder, _ = milled
    (folder / "results/plan").rename(tmp_path / "plan")
    try:
        assert "different corpus (sources one, two, three)" in refused(folder)
    finally:
        (tmp_path / "plan").rename(folder / "results/plan")


@pytest.mark.parametrize("dry_run", [(), ("-n",)])
def test_config_file_without_sources__is_refused(tmp_path, dry_run):
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"spans": {"min_chars": 100}}))
    told = refused(tmp_path, "--configfile", "mine.yaml", *dry_run)
    assert "mine.yaml: no sources are configured, so this would run the bundled demo" in told
    assert not (tmp_path / "results").exists()


def test_another_corpus_altogether__is_refused(milled):
    folder, config = milled
    write_jsonl(folder / "other/a.jsonl", [{"text": document(1)}])
    sources = [{"name": "other", "files": ["other/*.jsonl"]}]
    (folder / "other.yaml").write_text(yaml.safe_dump(config | {"sources": sources}))
    told = refused(folder, "--configfile", "other.yaml")
    assert "the first is raw/one/0.jsonl), and this run is for other/a.jsonl" in told


def test_file_of_others__where_a_result_would_go_is_not_replaced(tmp_path):
    config = small_corpus(tmp_path)
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
    (tmp_path / "results").mkdir()
    (tmp_path / "results/summary.json").write_text("mine")
    done = snakemake(tmp_path, "--configfile", "mine.yaml", "--cores", "2")
    assert done.returncode == 1
    assert "results/summary.json already exists" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "results/summary.json").read_text() == "mine"
    assert not (tmp_path / "results/text").exists()


# Replaced inputs.


@pytest.mark.parametrize(
    ("name", "reruns"),
    [
        ("raw/two/0.jsonl", {"normalize", "plan"}),
        ("raw/held.jsonl", {"evaluation", "decontaminate"}),
        ("tokenizer/tokenizer.json", {"tokenizer", "encode"}),
    ],
)
@pytest.mark.parametrize("other_bytes", [b"", b"\n"])
def test_replaced_file__with_an_older_time_is_noticed(milled, name, reruns, other_bytes, tmp_path):
    folder, _ = milled
    assert "Nothing to be done" in snakemake(folder, "--configfile", "mine.yaml", "-n").stdout
    path = folder / name
    shutil.copy2(path, tmp_path / "before")
    path.write_bytes(path.read_bytes() + other_bytes)
    os.utime(path, ns=(10**18, 10**18))
    try:
        assert reruns <= set(dry(folder))
    finally:
        shutil.copy2(tmp_path / "before", path)
    assert "Nothing to be done" in snakemake(folder, "--configfile", "mine.yaml", "-n").stdout


def test_file_that_changes_while_it_is_read__fails_the_step(step, tmp_path):
    path = tmp_path / "a.jsonl"
    write_jsonl(path, [{"text": "grain"}])
    known = path.stat()
    file = {"source": "s", "path": str(path), "text_field": "text"}
    out = tmp_path / "text.arrow", tmp_path / "quarantine.jsonl", tmp_path / "counts.json"
    normalize, evaluation = step("normalize").normalize, step("evaluation").evaluation
    columns = step("columns").columns
    for bytes, mtime_ns in (
        (known.st_size + 1, known.st_mtime_ns),
        (known.st_size, known.st_mtime_ns - 1),
    ):
        planned = [file | {"bytes": bytes, "mtime_ns": mtime_ns}]
        with pytest.raises(ValueError, match="The file changed while it was read"):
            normalize(planned, {"mode": "nfc"}, [], READ_LIMITS, 1 << 40, *out)
        held = tmp_path / "held.npy", tmp_path / "held.json"
        with pytest.raises(ValueError, match="The file changed while it was read"):
            evaluation(planned, {"s": 0}, {"mode": "nfc"}, [], READ_LIMITS, *held)
        with pytest.raises(ValueError, match="The file changed while it was read"):
            columns(planned, [], READ_LIMITS, tmp_path / "columns.arrow")
    assert not any(path.exists() for path in (*out, *held, tmp_path / "columns.arrow"))
    normalize(
        [file | {"bytes": known.st_size, "mtime_ns": known.st_mtime_ns}],
        {"mode": "nfc"},
        [],
        READ_LIMITS,
        1 << 40,
        *out,
    )
    assert out[0].exists()


# Files of others and of earlier runs. The last test of `milled`: it mills again.


def test_fewer_shards__remove_what_earlier_runs_made_and_nothing_else(milled):
    folder, config = milled
    foreign = ["results/mymodel/00099.pt", "logs/train/00099.log", "results/tokens/train/00099.bin",
               "results/ledger/00099.parquet", "results/corpus/train/00077.parquet"]  # fmt: skip
    for name in foreign:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine")
    assert len(list(folder.glob("results/tokens/train/*.bin"))) == 4 + 1
    done = mill(folder, config | {"output": {"shard_bytes": 10_000_000}})
    assert all((folder / name).read_text() == "mine" for name in foreign)
    kept = sorted(path.name for path in folder.glob("results/tokens/train/*.bin"))
    assert kept == ["00000.bin", "00099.bin"]
    assert not list(folder.glob("logs/encode/train/00001.*"))
    assert "WARNING: 3 files in the folders of this run do not belong to the run" in done.stderr
    assert all(name in done.stderr for name in foreign[2:])


# A run that failed.


def test_failed_first_run__does_not_make_later_files_younger(tmp_path):
    texts = [document(k) for k in range(120)]
    write_jsonl(tmp_path / "raw/books/0.jsonl", [{"text": document(5000)}])
    write_jsonl(tmp_path / "raw/web/0.jsonl", [{"text": text} for text in texts])
    good = (tmp_path / "raw/web/0.jsonl").read_text()
    (tmp_path / "raw/web/0.jsonl").write_text(good + "{broken\n")
    config = {
        "sources": [
            {"name": "books", "files": ["raw/books/*.jsonl"], "priority": 1},
            {"name": "web", "files": ["raw/web/*.jsonl"], "priority": 2},
        ],
        "dedup": {"max_group_texts": None},
        "tokenizer": {"source": "train", "train_vocabulary": 512},
    }
    config["sources"][1]["max_duplicate_fraction"] = 1
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
    assert snakemake(tmp_path, "--configfile", "mine.yaml", "--cores", "2").returncode == 1
    (tmp_path / "raw/web/0.jsonl").write_text(good)
    write_jsonl(tmp_path / "raw/books/1.jsonl", [{"text": text} for text in texts])
    mill(tmp_path, config)
    sources = summary(tmp_path)["sources"]
    assert sources["books"]["documents"]["kept"] == 121
    assert sources["web"]["documents"]["dropped"]["duplicate"] == 120
    ledger = pq.read_table(tmp_path / "results/ledger/00000.parquet").to_pylist()
    assert len(ledger) == 241  # one part, as if planned for the first time
