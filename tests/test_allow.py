"""Filters that drop too much of a source stop the run, and it shows what they drop."""

import json

import pyarrow as pa
import pytest
import yaml
from workflow import document, mill, snakemake, write_jsonl

from corpusmill.mill.read.parts import TextWriter
from corpusmill.mill.storage.files import load_json, save_json, writing
from corpusmill.mill.storage.tables import save_table


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
        "error: source web: filters drop 118 of 120 documents (too_short 118), "
        "but max_dropped_fraction is 0.9."
    ) in said
    assert "  web.jsonl:3: chars 7 below min_chars 200: 'short 0'" in said
    assert "source notes" not in said
    assert not (tmp_path / "results/pairs").exists()


def test_filter__may_drop_all_of_few_and_what_is_allowed(tmp_path, config):
    mill(tmp_path, config)
    assert json.loads((tmp_path / "results/allowed.json").read_text()) == {
        "notes": {"documents": 90, "dropped": {"empty": 0, "too_short": 90}},
        "web": {"documents": 120, "dropped": {"empty": 0, "too_short": 118}},
    }


def test_filter__that_drops_too_much_shows_no_text_that_would_steer_a_terminal(tmp_path, step):
    texts, verdicts, counts = counts_of(tmp_path, web={"a": 200})
    by_source = load_json(counts[0])["by_source"]
    by_source["web"]["first"]["a"] = [0]
    save_json(counts[0], {"by_source": by_source})
    save_table(verdicts[0], reason=pa.array(["score \x1b[2J\n not in one_of"]))
    with writing(texts[0]) as part:
        writer = TextWriter(part, [{"source": "web", "path": "web.jsonl"}])
        writer.add(b"text", b"", 0, 7)
        writer.close()
    with pytest.raises(ValueError, match="source web") as caught:
        step("allow").allow(
            texts,
            verdicts,
            counts,
            {"max_dropped_fraction": {"web": 0.5}},
            tmp_path / "report.json",
        )
    assert str(caught.value).splitlines()[1] == (
        r"  web.jsonl:7: score \x1b[2J\n not in one_of: 'text'"
    )


def counts_of(folder, **sources: dict[str, int]):
    """The files of one part of which filters drop so many of 200 documents, and which they are."""
    by_source = {
        name: {"documents": 200, "dropped": dropped, "first": {one: [] for one in dropped}}
        for name, dropped in sources.items()
    }
    save_json(folder / "counts.json", {"by_source": by_source})
    return [folder / "text.arrow"], [folder / "verdicts.arrow"], [folder / "counts.json"]


def test_allow__adds_up_what_the_filters_of_a_source_drop(tmp_path, step):
    allow = step("allow").allow
    files = counts_of(tmp_path, web={"a": 60, "b": 0, "c": 139}, books={"a": 0, "b": 198, "c": 0})
    most = {"web": 0.99, "books": 0.99}
    with pytest.raises(ValueError, match="source web") as caught:
        allow(*files, {"max_dropped_fraction": most}, tmp_path / "report.json")
    assert "filters drop 199 of 200 documents (c 139, a 60), but max_dropped_fraction" in str(
        caught.value
    )
    assert "books" not in str(caught.value)
    limits = {"max_dropped_fraction": most | {"web": 0.995}}
    allow(*files, limits, tmp_path / "report.json")
    assert load_json(tmp_path / "report.json")["web"]["dropped"] == {"a": 60, "b": 0, "c": 139}
