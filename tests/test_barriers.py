"""Stages with many jobs: one file stands for all of them."""

import pytest
from workflow import document, mill, snakemake, write_jsonl

from corpusmill.mill.storage.files import BARRIER, load_json, load_listing, save_json
from corpusmill.run.layout import MOST_WITHOUT_BARRIER

PARTS = MOST_WITHOUT_BARRIER + 1


def test_load_listing__gives_the_same_with_a_barrier_and_without(tmp_path):
    files = [tmp_path / f"{number:05d}.json" for number in range(3)]
    for number, file in enumerate(files):
        save_json(file, {"documents": number})
    save_json(tmp_path / BARRIER, {"parts": load_listing(files)})
    assert load_listing([tmp_path / BARRIER]) == load_listing(files)
    assert [counts["documents"] for counts in load_listing(files)] == [0, 1, 2]
    assert load_listing([]) == []


@pytest.fixture(scope="module")
def milled(tmp_path_factory):
    """A run with one part more than a stage may have without a barrier."""
    folder = tmp_path_factory.mktemp("many")
    for part in range(PARTS):
        texts = [document(100 * part + n) for n in range(90)] + [document(0)]
        write_jsonl(folder / f"{part:02d}.jsonl", [{"text": text} for text in texts])
    config = {
        "sources": [{"name": "web", "files": ["*.jsonl"], "max_duplicate_fraction": 1}],
        "input": {"part_bytes": 65_536},
        "tokenizer": {"source": "train", "train_vocabulary": 300},
    }
    mill(folder, config)
    return folder


def test_barriers__are_of_stages_with_many_jobs(milled):
    results = milled / "results"
    found = {path.parent.name for path in results.glob(f"*/{BARRIER}")}
    assert found == {"bands", "assign", "scatter"}
    for stage in found:
        counts = sorted((results / stage).glob("[0-9]*.json"))
        assert len(counts) == PARTS
        assert load_json(results / stage / BARRIER)["parts"] == load_listing(counts)
    assert load_json(results / "duplicates.json")["dropped"]["identical"] == PARTS


def test_lost_file__behind_a_barrier_is_made_again(milled):
    lost = milled / "results/bands/00003.npy"
    before = lost.read_bytes()
    lost.unlink()
    asked = ("--configfile", "mine.yaml", "--cores", "2", "-R", "pair", "--until", "pair")
    done = snakemake(milled, *asked)
    assert done.returncode == 0, done.stderr
    assert "results/bands/00003.npy is missing: made again" in done.stderr
    assert lost.read_bytes() == before
