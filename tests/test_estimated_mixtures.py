"""What `corpusmill estimate` says of mixtures."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml
from click.testing import CliRunner
from warm import warm_python
from workflow import ROOT, document, write_jsonl

from corpusmill.cli.main import main
from corpusmill.mill.decide.mixture import Axis, MaxEpochs, Mixture, Stage
from corpusmill.run.config import Config
from corpusmill.tools.tune.estimate.mixing import (
    ALL_DOCUMENTS,
    FirstCells,
    Sampled,
    expected_mixtures,
    told_of_mixtures,
)
from corpusmill.tools.tune.estimate.trial import scaled_mixtures

WEIGHTS = {"a": 1.0, "b": 2.0}
SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))


def mixture(**others) -> Mixture:
    settings = {
        "unit": "bytes", "budget": 400, "axes": [Axis("source")], "factors": [],
        "weights": WEIGHTS, "shares": "proportional", "most": 8,
        "max_epochs": MaxEpochs(4, None, {}), "on_shortage": "fail", "seed": 1, "purpose": "sample",
    }  # fmt: skip
    return Mixture(**settings | others)


def first_cells(axis: Axis, sources: str, **columns) -> tuple[FirstCells, np.ndarray]:
    first = FirstCells(axis, WEIGHTS)
    table = pa.table({"text_bytes": pa.array([10] * len(sources)), **columns})
    return first, first.places(table, list(sources))


def expected(stages, cells, stays=(1, 1, 1, 1), epochs=None):
    sizes = np.array([10.0, 20, 30, 40])
    sampled = Sampled(np.array(stays, float), np.array([1.0, 1, 2, 2]), sizes, sizes / 5)
    return expected_mixtures(stages, cells, sampled, epochs or {})


def of_train(stays=(1, 1, 1, 1), **settings):
    cells = [first_cells(Axis("source"), "aabb")]
    return expected([Stage("train", [], mixture(**settings))], cells, stays)["train"]


@pytest.mark.parametrize(
    ("axis", "columns", "names"),
    [
        (Axis("source"), {}, ["a", "a", "b", "b"]),
        (Axis("group", groups={"a": "web", "b": "web"}), {}, ["web"] * 4),
        (Axis("language", column="lang"), {"lang": ["deu", None, "eng", "deu"]},
         ["deu", "none", "eng", "deu"]),
        (Axis("is_old", column="old"), {"old": [True, False, None, True]},
         ["true", "false", "none", "true"]),
        (Axis("score", column="score", edges=[1.0, 2.0]), {"score": [0.5, 1.0, 9.0, None]},
         ["<1", "1-2", ">=2", "none"]),
        (Axis("topic", column="member:topic"), {}, [ALL_DOCUMENTS] * 4),
        (Axis("text_bytes", column="text_bytes", quantiles=4), {}, [ALL_DOCUMENTS] * 4),
    ],
)  # fmt: skip
def test_first_cells__have_the_names_of_a_run(axis, columns, names):
    first, places = first_cells(axis, "aabb", **columns)
    assert [first.names[place] for place in places] == names
    assert first.is_known == (ALL_DOCUMENTS not in names)


def test_first_cells__learn_names_batch_by_batch():
    first = FirstCells(Axis("language", column="lang"), WEIGHTS)
    places = [
        first.places(pa.table({"lang": pa.chunked_array([some])}), ["a"] * len(some)).tolist()
        for some in (["eng", "deu"], ["fra", "eng"])
    ]
    assert first.names == ["deu", "eng", "fra"]
    assert places == [[1, 0], [2, 1]]


def test_expected_mixtures__epochs_of_each_cell():
    found = of_train(shares={"a": 0.25, "b": 0.75}, max_epochs=MaxEpochs(5, None, {}))
    assert [(cell.cell, cell.documents, cell.available, cell.wanted) for cell in found.cells] == [
        ("a", 2, 30, 100), ("b", 2, 70, 300)
    ]  # fmt: skip
    assert found.cells[0].epochs == pytest.approx(100 / 30)
    assert found.shortages == found.unknown == []
    assert (found.bytes, found.tokens) == pytest.approx((400, 80))
    weighted = of_train()
    assert [cell.wanted for cell in weighted.cells] == pytest.approx(
        [400 * 30 / 170, 400 * 140 / 170]
    )


def test_expected_mixtures__tell_each_shortage():
    found = of_train(shares={"a": 0.5, "b": 0.5})
    assert found.shortages == [
        "mixture: the budget wants about 200 bytes of source a, but only about 30 bytes x "
        "max_epochs 4 = 120 bytes are expected. Lower its share or the budget, or raise max_epochs."
    ]
    own = MaxEpochs(4, None, {"a": 100})
    (of_max,) = of_train(shares={"a": 0.9, "b": 0.1}, max_epochs=own).shortages
    assert "30 bytes x max 8 = 240 bytes are expected" in of_max
    (of_all,) = of_train(max_epochs=MaxEpochs(None, 2, {})).shortages
    assert "only about 100 bytes x max_epochs.all 2 = 200 bytes are expected" in of_all
    assert of_train(shares={"a": 0.5, "b": 0.5}, on_shortage="repeat").shortages == []


def test_expected_mixtures__rescale():
    found = of_train(shares={"a": 0.5, "b": 0.5}, on_shortage="rescale")
    assert [cell.wanted for cell in found.cells] == [120, 280]
    assert not found.shortages
    short = of_train(budget=401, on_shortage="rescale").shortages
    assert short
    assert all("are expected" in one for one in short)


def test_expected_mixtures__a_cell_without_documents_is_short():
    found = of_train((0, -1, 1, 1), shares={"a": 0.1, "b": 0.9})
    assert found.cells[0].available == 0
    assert "about 0 bytes x max_epochs 4" in found.shortages[0]


def test_expected_mixtures__stages_leave_less_to_those_that_exclude_them():
    cells = [first_cells(Axis("source"), "aabb")] * 3
    half = mixture(budget=50, shares={"a": 0.3, "b": 0.7})
    stages = [Stage("s", [], half), Stage("t", ["s"], half), Stage("u", ["s", "t"], half)]
    found = expected(stages, cells)
    assert [cell.available for cell in found["t"].cells] == [15, 35]
    assert [round(cell.available) for cell in found["u"].cells] == [0, 0]
    assert found["u"].shortages[0].startswith("stage u: mixture: ")


def test_expected_mixtures__say_what_only_the_run_knows():
    axis = Axis("duplicates", column="duplicates", edges=[2.0])
    settings = mixture(axes=[axis, Axis("source")], budget=401, shares={"temperature": 0.5})
    found = expected([Stage("train", [], settings)], [first_cells(axis, "aabb")])["train"]
    (cell,) = found.cells
    assert (cell.cell, cell.available) == (ALL_DOCUMENTS, 100)
    assert (
        "the budget wants about 401 bytes, but only about 100 bytes x max_epochs 4"
        in (found.shortages[0])
    )
    assert "by duplicates are known only in the run" in found.unknown[0]
    lines = "\n".join(told_of_mixtures({"train": found}))
    assert "Shortage: mixture: the budget" in lines
    assert found.unknown[0] in lines


def test_expected_mixtures__without_a_budget_are_as_in_the_trial():
    cells = [first_cells(Axis("source"), "aabb")]
    found = expected([Stage("train", [], mixture(budget=None))], cells, epochs={"train": 1.5})
    assert found["train"].bytes == 150
    assert found["train"].cells[0].wanted is None


def test_scaled_mixtures__are_those_that_a_sample_can_have(tmp_path):
    sample = {"a": [tmp_path / "a.jsonl"], "b": []}
    sample["a"][0].write_text('{"text": "some"}\n' * 100)  # 1700 bytes
    given = SHIPPED | {
        "sources": [{"name": name, "files": [name], "text_field": "text"} for name in "ab"],
        "mixture": SHIPPED["mixture"] | {
            "budget": {"bytes": 10**6}, "max_epochs": {"all": 3},
            "by": [{"groups": {"web": ["a"], "rest": ["b"]}}], "shares": {"web": 0.5, "rest": 0.5},
        },
        "stages": [
            {"name": "s", "max_epochs": 2, "shares": {"web": 1, "rest": 0}},
            {"name": "t", "exclude": ["s"], "budget": {"bytes": 10**12}, "max": 2},
        ],
    }  # fmt: skip
    found = scaled_mixtures(Config.checked(given), sample, 17_000)
    s, t = found.mixtures.values()
    assert s.budget.entry == {"bytes": 6800}  # a tenth would be more than four epochs
    assert t.budget.entry == {"bytes": 6800}
    assert {s.shares, t.shares} == {"proportional"}
    assert s.max_epochs.entry is None
    assert {s.max, t.max} == {1000}
    assert s.by[0].entry == {"groups": {"web": ["a"]}}
    assert not any(stage.exclude for stage in found.stages)
    smaller = scaled_mixtures(Config.checked(given), sample, 1_700_000)
    assert smaller.mixtures["s"].budget.entry == {"bytes": 1000}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("estimated")
    texts = [document(k, words=150) for k in range(400)]
    for name, some in (("books", texts[:100] + texts[:50]), ("web", texts[100:])):
        write_jsonl(folder / f"raw/{name}.jsonl", [{"text": text} for text in some])
    config = {
        "sources": [{"name": name, "files": [f"raw/{name}.jsonl"]} for name in ("books", "web")],
        "tokenizer": {"source": "train", "train_vocabulary": 512},
        "splits": {"validation": 0.1, "test": 0.1},
    }
    (folder / "mine.yaml").write_text(yaml.safe_dump(config))
    return folder


def test_estimate__tells_the_shortages_of_a_mixture(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "executable", warm_python())
    size = {
        name: sum(len(document(k, words=150)) for k in some)
        for name, some in (("books", range(100)), ("web", range(100, 400)))
    }
    budget = 2 * sum(size.values())
    mixture = {"budget": {"bytes": budget}, "shares": {"books": 0.5, "web": 0.5}, "max_epochs": 3}
    stages = [{"name": "s"}, {"name": "t", "by": [{"value": "chars", "bins": [10]}, "source"],
                              "shares": "proportional"}]  # fmt: skip
    (folder / "mixed.yaml").write_text(json.dumps({"mixture": mixture, "stages": stages}))
    got = CliRunner().invoke(
        main, ["estimate", "mine.yaml", "mixed.yaml", "--cores", "1", "--json"]
    )
    assert got.exit_code == 0, got.output
    told = json.loads(got.stdout)
    found = told["mixture"]["s"]
    books, web = found["cells"]
    # A tenth each is for validation and test; duplicates do not count.
    assert books["available"] == pytest.approx(0.8 * size["books"])
    assert web["available"] == pytest.approx(0.8 * size["web"])
    assert books["wanted"] == web["wanted"] == budget / 2
    (shortage,) = found["shortages"]
    assert shortage.startswith("stage s: mixture: the budget wants about")
    assert "of source books, but only about" in shortage
    by_chars = told["mixture"]["t"]
    assert {cell["cell"]: round(cell["epochs"], 2) for cell in by_chars["cells"]} == {
        "<10": 0, ">=10": 2.5, "none": 0
    }  # fmt: skip
    assert "one of them may be too small" in by_chars["unknown"][0]
    assert told["kept_bytes"] == pytest.approx(2 * budget + 0.2 * sum(size.values()))


def test_estimate__refuses_at_once_what_cannot_be(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "large.yaml").write_text("mixture: {budget: {bytes: 1000000000}}")
    got = CliRunner().invoke(main, ["estimate", "mine.yaml", "large.yaml", "--cores", "1"])
    assert got.exit_code == 1
    assert "the budget wants 1,000,000,000 bytes, but the files can have at most" in got.stderr
