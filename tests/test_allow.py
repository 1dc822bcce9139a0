"""A filter that drops too much of a source stops the run, and shows what it drops."""

import json

import pytest
import yaml
from workflow import document, mill, snakemake, write_jsonl


@pytest.fixture
def config(tmp_path):
    """120 documents of which a filter drops all but two, and 90 of which it drops all."""
    texts = [document(n) for n in range(2)] + [f"short {n}" for n in range(118)]
    write_jsonl(tmp_path / "web.jsonl", [{"text": text} for text in texts])
    write_jsonl(tmp_path / "notes.jsonl", [{"text": f"note {n}"} for n in range(90)])
    return {
        "sources": [
            {"name": one, "files": [f"{one}.jsonl"], "max_duplicate_fraction": 1}
            for one in ("web", "notes")
        ],
        "tokenizer": {"source": "train", "train_vocabulary": 300},
    }


def test_filter__that_drops_too_much_stops_the_run_with_examples(tmp_path, config):
    config["sources"][0]["max_dropped_fraction"] = 0.9
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
    done = snakemake(tmp_path, "--cores", "2", "--configfile", "mine.yaml")
    assert done.returncode == 1
    said = (tmp_path / "logs/allow/allow.log").read_text()
    assert (
        "error: source web: the filter too_short drops 118 of 120 documents, max_dropped_fraction "
        "allows 0.9 of them."
    ) in said
    assert "  web.jsonl:3: chars 7 below min_chars 200: 'short 0'" in said
    assert "source notes" not in said
    assert not (tmp_path / "results/bands/complete.json").exists()


@pytest.mark.whole
def test_filter__may_drop_all_of_few_and_what_is_allowed(tmp_path, config):
    mill(tmp_path, config)
    assert json.loads((tmp_path / "results/allowed.json").read_text()) == {
        "notes": {"documents": 90, "dropped": {"empty": 0, "too_short": 90}},
        "web": {"documents": 120, "dropped": {"empty": 0, "too_short": 118}},
    }
