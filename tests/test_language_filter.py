"""The filter `language`: what it measures, whom it drops, what it refuses before any job."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from workflow import mill, snakemake, summary, write_jsonl

from corpusmill.mill.filters.configured import ConfiguredFilter, configured
from corpusmill.mill.filters.measuring import Decision, decided
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.run.filter_faults import filter_faults

GERMAN = "Der Müller öffnete das Wehr vor Sonnenaufgang, und das Rad begann sich zu drehen."
ENGLISH = "The miller opened the sluice before sunrise, and the wheel began to turn."
RUSSIAN = "Мельник открыл шлюз до рассвета, и колесо начало вращаться."
DIGEST = "d41d8cd98f00b204e9800998ecf8427e"
ENTRY = {"name": "language"}


def measured(texts: list[str], **settings) -> dict:
    return (
        ConfiguredFilter(ENTRY | settings)
        .decider()
        .measure(TextColumn.of(pa.array(texts, pa.large_string())))
    )


def decision(settings: dict, values: list[tuple[str, float]]) -> Decision:
    table = pa.table(
        {
            "language": [code for code, _ in values],
            "language_score": pa.array([score for _, score in values], pa.float32()),
            "script": ["Latn"] * len(values),
            "text_bytes": [100] * len(values),
            "source": pa.array(["web"] * len(values)).dictionary_encode(),
        }
    )
    return decided(configured([ENTRY | settings]), table)


def dropped(settings: dict, values: list[tuple[str, float]]) -> list[bool]:
    fates = decision(settings, values).fates.array().to_pylist()
    return [fate == "language" for fate in fates]


def test_measure__says_language_score_and_script():
    got = measured([GERMAN, ENGLISH, RUSSIAN, DIGEST, ""])
    assert got["language"] == ["de", "en", "ru", "zxx", "und"]
    assert got["script"] == ["Latn", "Latn", "Cyrl", "Latn", "Zyyy"]
    assert got["language_score"].dtype == np.float32
    assert (got["language_score"][:3] > 0.98).all()
    assert got["language_score"][4] == 0


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [False, False, False, False]),
        ({"languages": ["de", "und"]}, [False, True, True, False]),
        ({"min_score": 0.5}, [False, False, True, True]),
        ({"languages": ["en", "fr"], "min_score": 0.5}, [True, False, True, True]),
        ({"min_score": None}, [False, False, False, False]),
        ({"sources": {"web": {"languages": ["en"]}}}, [True, False, True, True]),
    ],
)
def test_drops__follow_from_the_values(settings, expected):
    values = [("de", 0.75), ("en", 0.5), ("fr", 0.25), ("und", 0.0)]
    assert dropped(settings, values) == expected


def test_reasons__name_what_is_kept():
    values = [("de", 0.75), ("en", 0.5), ("fr", 0.25)]
    got = decision({"languages": ["en", "fr"], "min_score": 0.4}, values)
    assert got.reasons == [
        "language de not in languages en, fr", None, "language_score 0.25 below min_score 0.4",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"languages": ["en", "ger"]}, "languages: unknown language ger. Did you mean "),
        (
            {"languages": ["EN"]},
            "languages: unknown language EN. Did you mean en or ",
        ),
        ({"among": ["und"]}, "among: unknown language und. "),
        ({"languages": ["fr"], "among": ["de"]}, "has fr, but the setting among does not."),
        ({"languages": "en"}, "languages"),
        ({"languages": []}, "filters[0].languages: expected a list of at least 1 entry, got []."),
        ({"min_score": 1.5}, "min_score"),
    ],
)
def test_faults__are_said_before_any_job(settings, said):
    (fault,) = filter_faults(configured([ENTRY | settings]), ["web"])
    assert said in fault


@pytest.mark.parametrize(
    "settings",
    [{}, {"languages": ["en", "und", "zxx"]}, {"languages": ["de"], "among": ["de", "en"]}],
)
def test_faults__of_settings_that_are_right_are_none(settings):
    assert list(filter_faults(configured([ENTRY | settings]), ["web"])) == []


def test_measuring__depends_on_among_alone():
    entry = ENTRY | {"languages": ["en"], "min_score": 0.5, "among": ["en", "de"]}
    assert ConfiguredFilter(entry).measuring == {"name": "language", "among": ["en", "de"]}


def test_run__keeps_a_language_and_decides_anew_without_measuring(tmp_path):
    texts = [f"{text} {n}" for n in range(8) for text in (GERMAN, ENGLISH, RUSSIAN)]
    write_jsonl(tmp_path / "raw.jsonl", [{"text": text} for text in texts])
    config = {
        "sources": [{"name": "web", "files": ["raw.jsonl"], "max_duplicate_fraction": 1}],
        "filters": [{"name": "language", "languages": ["de"], "min_score": 0.9}],
        "tokenizer": {"source": "train", "train_vocabulary": 300},
    }
    mill(tmp_path, config)
    rows = pq.read_table(tmp_path / "results/ledger/00000.parquet").to_pylist()
    gone = [row for row in rows if row["fate"] == "language"]
    assert len(gone) == 16
    assert {(row["language"], row["script"]) for row in gone} == {("en", "Latn"), ("ru", "Cyrl")}
    languages = summary(tmp_path)["languages"]
    assert languages["en"]["dropped"] == languages["ru"]["dropped"] == {"language": 8}
    assert all(one["read"] == one["kept"] + sum(one["dropped"].values())
               for one in languages.values())  # fmt: skip
    assert "<td>ru</td>" in (tmp_path / "results/report.html").read_text()
    config["filters"][0]["languages"] = ["de", "ru"]
    mill(tmp_path, config, "results/filter/00000.arrow")
    assert "measure" not in snakemake(tmp_path, "-n", "--quiet", "rules").stdout.split()
