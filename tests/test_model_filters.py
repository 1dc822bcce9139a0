"""The filters `fasttext` and `quality_model`: in a whole run, and what they refuse before it."""

import re
from pathlib import Path

import naive_models as naive
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from workflow import document, jobs, mill, snakemake, write_jsonl
from yaml import safe_dump

from corpusmill.mill.filters.configured import configured
from corpusmill.mill.filters.known.fasttext import FastText
from corpusmill.mill.filters.models.quality_model import (
    Definition,
    QualityModel,
    load_quality_model,
    save_quality_model,
)
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.run.filter_faults import filter_faults

WORDS = ["mill", "grain", "sack", "book"]
TEXTS = [document(n) for n in range(40)]


def fasttext_model(labels: int = 3) -> naive.Model:
    chance = np.random.default_rng(3)
    words = [b"</s>", *(word.encode() for word in WORDS)]
    rows, output = chance.normal(size=(len(words) + 99, 4)), chance.normal(size=(labels, 4))
    return naive.Model(
        words, [f"__label__l{n}".encode() for n in range(labels)], [*range(labels, 0, -1)],
        30 * rows.astype(np.float32), output.astype(np.float32), buckets=99, least=2, most=3,
    )  # fmt: skip


def write_models(folder: Path) -> None:
    (folder / "f.bin").write_bytes(naive.model_bytes(fasttext_model()))
    weights = np.random.default_rng(4).normal(size=1 << 10).astype(np.float32) * 9
    save_quality_model(folder / "q.model", QualityModel(Definition(2, 10), 0.1, weights))


def config(folder: Path, *filters: dict) -> dict:
    write_jsonl(folder / "raw.jsonl", [{"text": text} for text in TEXTS])
    return {
        "sources": [{"name": "web", "files": ["raw.jsonl"]}],
        "filters": list(filters),
        "tokenizer": {"source": "train", "train_vocabulary": 300},
    }


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_models(tmp_path)
    return tmp_path


QUALITY = {"name": "quality_model", "model": "q.model", "min_score": 0.5}
FASTTEXT = {"name": "fasttext", "model": "f.bin", "label": "l1", "min_probability": 0.1}


def test_model_filters__drop_by_what_the_models_say(folder):
    column = TextColumn.of(pa.array(TEXTS, pa.large_string()))
    scores = load_quality_model(folder / "q.model").score(column)
    shares = [naive.fasttext_shares(fasttext_model(), text)[1] for text in TEXTS]
    least_score, least_share = float(np.quantile(scores, 0.3)), float(np.quantile(shares, 0.4))
    expected = [
        "quality_model" if score < least_score else "fasttext" if share < least_share else "kept"
        for score, share in zip(scores, shares, strict=True)
    ]
    assert len(set(expected)) == 3
    mine = config(
        folder, QUALITY | {"min_score": least_score}, FASTTEXT | {"min_probability": least_share}
    )
    mill(folder, mine)
    rows = pq.read_table(folder / "results/ledger/00000.parquet").to_pylist()
    assert [row["fate"] for row in rows] == expected
    for row, score, share in zip(rows, scores, shares, strict=True):
        if row["fate"] == "quality_model":
            assert row["reason"] == f"quality_score {score:.6g} below min_score {least_score:.6g}"
        if row["fate"] == "fasttext":
            assert row["label_probability"] == pytest.approx(share, abs=1e-5)

    # A limit is decided anew; another model is measured anew.
    mine["filters"][0] = QUALITY | {"min_score": 0.9}
    dry_run = "-n", "--quiet", "rules", "--configfile", "mine.yaml"
    (folder / "mine.yaml").write_text(safe_dump(mine))
    assert not {"measure", "normalize"} & set(jobs(snakemake(folder, *dry_run)))
    (folder / "f.bin").write_bytes(naive.model_bytes(fasttext_model(4)))
    planned = jobs(snakemake(folder, *dry_run))
    assert planned["measure"] == 1
    assert "normalize" not in planned


def test_fasttext__without_a_label_measures_the_best(folder):
    texts = ["mill grain", "", "sack"]
    column = TextColumn.of(pa.array(texts, pa.large_string()))
    found = FastText(model="f.bin", label="").measure(column)
    for text, label, share in zip(texts, *reversed(found.values()), strict=True):
        shares = naive.fasttext_shares(fasttext_model(), text)
        assert label == f"l{np.argmax(shares)}"
        assert share == pytest.approx(min(max(shares), 1), abs=1e-5)


def test_fasttext__of_a_text_that_the_model_knows_nothing_of(folder):
    model = fasttext_model().like(words=[b"mill"], most=0, buckets=0)
    model.input = model.input[:1]
    (folder / "f.bin").write_bytes(naive.model_bytes(model))
    column = TextColumn.of(pa.array(["unseen", "mill"], pa.large_string()))
    found = FastText(model="f.bin", label="__label__l2").measure(column)
    assert found["best_label"][0] is None
    assert found["best_label"][1] is not None
    assert found["label_probability"][0] == 0 < found["label_probability"][1]


@pytest.mark.parametrize(
    ("label", "fault"),
    [
        (
            "l7",
            r"f\.bin: expected one of its 3 labels, found label: l7\. Did you mean l2\? Known",
        ),
        ("french", r"found label: french\. Known names: l0, l1, l2\."),
    ],
)
def test_fasttext__names_labels_near_an_unknown_one(label, fault, folder):
    (found,) = filter_faults(configured([FASTTEXT | {"label": label}]), ["web"])
    assert re.search(fault, found), found


@pytest.mark.parametrize("entry", [QUALITY, FASTTEXT])
def test_model_filters__refuse_a_file_of_another_kind_before_any_job(entry, folder):
    Path(entry["model"]).write_bytes(b"PK\3\4 something")
    (folder / "mine.yaml").write_text(safe_dump(config(folder, entry)))
    done = snakemake(folder, "-n", "--configfile", "mine.yaml")
    assert done.returncode != 0
    assert f"filters[0]: {entry['model']}: expected a " in done.stdout + done.stderr


def test_model_filters__find_nothing_wrong_with_good_files(folder):
    assert list(filter_faults(configured([QUALITY]), ["web"])) == []
    for label in ("", "l0", "__label__l0"):
        assert list(filter_faults(configured([FASTTEXT | {"label": label}]), ["web"])) == []
