"""The dataset card and the summary of training content: figures, escaping, sections."""

import csv
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import every_fate as fates
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from workflow import document, jobs, mill, snakemake, summary, write_jsonl

from corpusmill.messages.markdown import link, plain, quoted
from corpusmill.mill.report import training_content
from corpusmill.mill.report.corpus_facts import Facts, Origin, facts_of
from corpusmill.mill.report.dataset_card import dataset_card
from corpusmill.mill.report.domains import SCHEMA, Domains
from corpusmill.mill.report.front_matter import hub_licence, language_codes, size_category

EVIL = ["a|b", "x\n---\n# y", "<script>alert(1)</script>", "](http://a.b) ![z](q)", "`c`\x1b[2J",
        "'\"{}: - &x *y !z", "\u202egnp", "$x$ ~~y~~"]  # fmt: skip


def table(text: str, heading: str) -> list[list[str]]:
    """The rows of the first table whose heading begins so, without its heading."""
    found = re.search(rf"^\| {heading}.*\n\|.*\n((?:\|.*\n)*)", text, re.MULTILINE)[1]
    return [line.strip("| ").split(" | ") for line in found.splitlines()]


def whole(cell: str) -> int:
    return int(cell.replace(",", ""))


def metadata(card: str) -> dict:
    _, front, rest = card.split("---\n", 2)
    assert rest.startswith("\n# ")
    return yaml.safe_load(front)


# Words.


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_quoted__is_read_back_by_yaml_on_one_line(text):
    told = f"a: {quoted(text)}"
    assert len(told.splitlines()) == 1
    assert list(yaml.safe_load(told)) == ["a"]


@given(st.text())
def test_link__has_nothing_that_ends_it(text):
    assert re.fullmatch(r"<[^\s<>|`\"\\]*>", link(f"https://{text}"))


def test_link__leaves_an_ordinary_address():
    assert link("https://a.org/x_y?z=1#k") == "<https://a.org/x_y?z=1#k>"


@pytest.mark.parametrize(
    ("documents", "expected"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (10**6 - 1, "100K<n<1M"),
     (10**12 - 1, "100B<n<1T"), (10**12, "n>1T")],
)  # fmt: skip
def test_size_category__of_the_hub(documents, expected):
    assert size_category(documents) == expected


@pytest.mark.parametrize(
    ("licence", "expected"),
    [(None, "unknown"), ("CC BY 4.0", "cc-by-4.0"), ("odc-by", "odc-by"), ("my own", "other")],
)
def test_hub_licence__is_one_that_the_hub_knows(licence, expected):
    assert hub_licence(licence) == expected


def test_language_codes__are_iso_and_of_kept_documents():
    counts = {"en": 4, "eng_Latn": 3, "de": 0, "zxx": 2, "und": 1, "Klingon": 9, "gcf": 1}
    told = {"languages": {name: {"kept": kept} for name, kept in counts.items()}}
    assert language_codes(told) == ["en", "eng", "gcf"]
    assert language_codes({}) == []


@pytest.mark.parametrize(
    ("tokens", "begins"),
    [(0, "Less than 1 b"), (10**9 - 1, "Less than 1 b"), (10**9, "1 billion to"),
     (10**13, "1 billion to"), (10**13 + 1, "More than 10")],
)  # fmt: skip
def test_size_category__of_the_template(tokens, begins):
    assert training_content.size_category(tokens).startswith(begins)


# Facts by hand.


def figures(kept: int) -> dict:
    return {
        "documents": {"in": kept, "kept": kept, "dropped": {"empty": 0}, "written": kept},
        "bytes": {"in": kept, "kept": kept, "dropped": {}, "written": kept},
        "tokens": {"first stage": kept, "second": kept, "validation": 3, "test": 0},
    }


def by_hand(sources: dict[str, Origin], domains: list[str] | None = None, **more) -> Facts:
    """Facts of a corpus with one document per source."""
    config = {
        "sources": [{"name": name} for name in sources],
        "normalize": {"mode": "nfc"},
        "filters": more.pop("filters", []),
        "dedup": {"method": "exact", "threshold": 0.8, "resolve": "kept"},
        "splits": {"validation": 0.1, "test": 0},
        "shuffle": {"seed": 42, **more.pop("shuffle", {})},
    }
    told = figures(len(sources)) | {
        "sources": {name: figures(1) for name in sources},
        "configuration": config,
        "duplicates": {},
        "tokenization": {"lost_characters": 0},
        "tokenizer": {"source": "t", "end_of_text": "<|e|>", "end_of_text_id": 1, "vocabulary": 2},
        "manifest": "f" * 64,
        "config_digest": "d",
        "versions": {"corpusmill": "1"},
    }
    manifest = {"files": [
        {"path": f"results/{path}", "documents": 1, "tokens": 5}
        for path in ("corpus/first stage/00000.parquet", "tokens/first stage/00000.bin",
                     "tokens/first stage/00001.bin", "tokens/train.bin", "corpus/test/00000.json")
    ]}  # fmt: skip
    keys = {key: {name: getattr(one, key) for name, one in sources.items()}
            for key in Origin._fields}  # fmt: skip
    rows = [{"domain": name, "documents": 1, "text_bytes": 1} for name in domains or []]
    found = Domains(SCHEMA.empty_table().from_pylist(rows, SCHEMA), len(rows), len(rows), 1, 0)
    return facts_of(told | more, manifest, keys, None if domains is None else found)


@pytest.mark.parametrize("evil", EVIL)
def test_foreign_text__breaks_neither_markdown_nor_yaml(evil):
    address = f"https://a.org/{evil}"
    sources = {f"s{n}": Origin(evil, "crawled", address, evil) for n in range(2)}
    blocklist = {"name": "opt_outs", "use": "url_blocklist", "domains": evil}
    languages = {evil: {"read": 1, "read_bytes": 1, "kept": 1, "kept_bytes": 1}}
    facts = by_hand(sources, [evil] * 40, filters=[blocklist], languages=languages)
    card, content = dataset_card(facts), training_content.training_content(facts)
    ordinary = by_hand({f"s{n}": Origin("l", "crawled", "https://a.org", "c") for n in range(2)},
                       ["d"] * 40, filters=[blocklist | {"domains": "d"}],
                       languages={"l": languages[evil]})  # fmt: skip
    assert metadata(card)["license"] == "other"
    assert metadata(card).keys() == metadata(dataset_card(ordinary)).keys()
    for got, expected in ((card, dataset_card(ordinary)),
                          (content, training_content.training_content(ordinary))):  # fmt: skip
        assert "\x1b" not in got
        assert "\u202e" not in got
        assert len(got.splitlines()) == len(expected.splitlines())
        bars = re.compile(r"(?<!\\)\|")
        assert [len(bars.findall(line)) for line in got.splitlines()] == [
            len(bars.findall(line)) for line in expected.splitlines()
        ]
        assert not re.search(r"(?<!\\)<(?!https?://)", got.split("---\n")[-1])


def test_card__takes_splits_from_the_manifest_and_the_account():
    card = dataset_card(by_hand({"a": Origin(None, None, None, None)}))
    (config,) = metadata(card)["configs"]
    assert config["data_files"] == [
        {"split": "first_stage", "path": "corpus/first stage/*.parquet"}
    ]
    assert table(card, "split") == [["first stage", "2", "2", "10"]]
    heading = (
        "source \\| documents in \\| kept \\| written .*tokens, first stage \\| tokens, second"
    )
    assert table(card, heading)
    assert 'corpus.split("first stage")' in card


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ({}, "as text, shuffled\n"),
        ({"order": "as_found"}, "as text, in the order of the input; to keep this order, read "),
        ({"order": {"by": {"member": "s<b>"}, "bands": 4, "descending": True}},
         "as text, train in 4 bands of descending s\\<b\\>, each shuffled, validation and test "),
    ],
)  # fmt: skip
def test_card__says_the_order_of_the_documents(order, said):
    card = dataset_card(by_hand({"a": Origin(None, None, None, None)}, shuffle=order))
    assert said in card


def test_card__has_the_cells_of_a_mixture_that_reached_most_first():
    cells = [{"cell": [name], "documents": 4, "size": 10, "reached": reached, "epochs": 1.5}
             for name, reached in [("a", 1), ("b|c", 15)]]  # fmt: skip
    mixture = {"unit": "tokens", "budget": 16, "by": ["topic"], "cells": cells}
    card = dataset_card(by_hand({"a": Origin(None, None, None, None)}, mixture={"train": mixture}))
    assert "**Mixture of train.** Copies were chosen by cell. Budget: 16 tokens." in card
    assert table(card, "topic") == [
        ["b\\|c", "4", "10", "15", "1.5"], ["a", "4", "10", "1", "1.5"],
    ]  # fmt: skip


def test_card__says_what_was_not_done():
    nothing = Origin(None, None, None, None)
    told = dataset_card(by_hand({"a": nothing})).split("## Limits")[1]
    assert "Sources without a stated licence: 1." in told
    assert "No list of opted-out domains or URLs was applied" in told
    used = [{"name": "u", "use": "url_blocklist", "domains": "d"}, {"name": "bad_words"}]
    told = dataset_card(by_hand({"a": nothing}, filters=used)).split("## Limits")[1]
    assert "No list of" not in told


def test_training_content__has_tokens_of_all_stages_but_not_of_held_out_splits():
    content = training_content.training_content(by_hand({"a": Origin(None, "user", None, None)}))
    assert table(content, "Modality")[0][1] == "Less than 1 billion tokens (2)"
    assert table(content, "source")[0][-1] == "2"


def test_training_content__has_the_headings_of_the_template_in_order():
    content = training_content.training_content(by_hand({"a": Origin(None, None, None, None)}))
    numbers = re.findall(r"^#+ ([\d.]+) ", content, re.MULTILINE)
    assert numbers == ["1.", "1.1.", "1.2.", "1.3.", "2.", "2.1.", "2.2.", "2.2.1.", "2.2.2.",
                       "2.3.", "2.4.", "2.5.", "2.6.", "3.", "3.1.", "3.2.", "3.3."]  # fmt: skip


@pytest.mark.parametrize(
    ("origin", "question"),
    [("public", "Have you used publicly"), ("licensed", "Have you concluded transactional"),
     ("third_party", "Have you obtained private"), ("crawled", "Were crawlers used"),
     ("user", "Was data from user"), ("synthetic", "Was synthetic"),
     ("other", "Have data sources other")],
)  # fmt: skip
def test_training_content__answers_by_origin(origin, question):
    def answer(*origins) -> str:
        sources = {f"s{n}": Origin(None, one, None, None) for n, one in enumerate(origins)}
        content = training_content.training_content(by_hand(sources))
        return re.search(rf"\*\*{question}[^*]*\*\* (.*)", content)[1]

    another = "user" if origin == "public" else "public"
    assert answer(origin, None) == "Yes"
    assert answer(another) == "No"
    assert answer(another, None) == "*to be completed by the provider*"


def test_texts__of_an_empty_corpus_are_made():
    facts = by_hand({})._replace(splits=[], text_files=[])
    card = dataset_card(facts)
    assert metadata(card)["viewer"] is False
    assert metadata(card)["size_categories"] == ["n<1K"]
    assert "No document was kept." in card
    assert "2.6. Other" in training_content.training_content(facts)


# Runs.


def ledger_of(run: Path) -> tuple[dict[str, Counter], Counter]:
    """Per source, and of all: documents, kept ones, copies, bytes kept, tokens by split."""
    sources: dict[str, Counter] = {}
    for file in (run / "results/ledger").glob("*.parquet"):
        for row in pq.read_table(file).to_pylist():
            found = sources.setdefault(row["source"], Counter())
            found["in"] += 1
            found[row["fate"]] += 1
            if row["fate"] == "kept":
                found["written"] += row["copies"]
                found["bytes kept"] += row["text_bytes"]
    for file in (run / "results/placements").rglob("*.parquet"):
        for row in pq.read_table(file).to_pylist():
            sources[row["source"]][row["split"]] += row["token_end"] - row["token_start"]
    total: Counter = Counter()
    for found in sources.values():
        total.update(found)
    return sources, total


def test_card__has_the_sums_of_the_ledger(every_fate):
    sources, total = ledger_of(every_fate)
    card = (every_fate / "results/DATASET_CARD.md").read_text()
    splits = list(summary(every_fate)["tokens"])
    shown = {row[0]: row for row in table(card, "source \\| documents in \\| kept \\| written")}
    for name, found in [*sources.items(), ("all sources", total)]:
        row = shown.pop(name)
        assert [whole(row[n]) for n in (1, 2, 3, 5)] == [
            found[what] for what in ("in", "kept", "written", "bytes kept")
        ]
        assert list(map(whole, row[6:])) == [found[split] for split in splits]
    assert shown == {}
    heading, fates_shown = re.search(r"## Funnel\n\n\| (.*) \|", card)[1].split(" | "), {}
    for row in table(card, "source \\| documents in \\| (?!kept \\| written)"):
        fates_shown[row[0]] = dict(zip(heading[2:-2], map(whole, row[2:-2]), strict=True))
    for name, found in [*sources.items(), ("all sources", total)]:
        assert fates_shown[name] == {
            fate: found[fate.replace("\\", "")] for fate in fates_shown[name]
        }
    rows = table(card, "split")
    assert {row[0]: whole(row[3]) for row in rows} == {s: total[s] for s in splits if total[s]}
    assert sum(whole(row[2]) for row in rows) == total["written"]
    content = (every_fate / "results/training_content.md").read_text()
    assert f"({total['train']:,})" in table(content, "Modality")[0][1]
    assert "evaluation" not in metadata(card)["pretty_name"]
    assert "| evaluation |" in card


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """A finished run of which a source was crawled, and its config."""
    folder = tmp_path_factory.mktemp("crawled")
    config = fates.corpus(folder)
    urls = [f"https://www.h{n % 30}.org/{n}" if n % 7 else None for n in range(90)]
    texts = [document(7000 + n, words=140) for n in range(90)]
    records = [{"text": text, "meta": {"url": url}}
               for text, url in zip(texts, urls, strict=True)]  # fmt: skip
    write_jsonl(folder / "raw/crawl/0.jsonl", records)
    (folder / "opted_out.txt").write_text("h3.org\n")
    config["sources"].append({"name": "crawl", "files": ["raw/crawl/*"], "origin": "crawled",
                              "url_member": "meta.url", "licence": "odc-by",
                              "collected": "01/2024", "weight": 2})  # fmt: skip
    config["filters"].append({"name": "url_blocklist", "domains": "opted_out.txt",
                              "field": "meta.url"})  # fmt: skip
    mill(folder, config)
    return folder, config


def test_domains__equal_the_ledger_and_the_account(crawled):
    folder, _ = crawled
    with open(folder / "raw/crawl/0.jsonl") as file:
        urls = [json.loads(line)["meta"]["url"] for line in file]
    kept: Counter = Counter()
    sizes: Counter = Counter()
    for path in (folder / "results/ledger").glob("*.parquet"):
        for row in pq.read_table(path).to_pylist():
            if row["source"] == "crawl" and row["fate"] == "kept":
                host = (urls[row["line"] - 1] or "").removeprefix("https://www.").partition("/")[0]
                kept[host] += 1
                sizes[host] += row["text_bytes"]
    named = sorted((host for host in kept if host), key=lambda host: (-sizes[host], host))
    listed = list(csv.reader((folder / "results/domains.csv").read_text().splitlines()))
    assert listed == [["domain", "documents", "text_bytes"]] + [
        [host, str(kept[host]), str(sizes[host])] for host in named[: -(-len(named) // 10)]
    ]
    content = (folder / "results/training_content.md").read_text()
    figures = summary(folder)["sources"]["crawl"]
    assert sum(kept.values()) == figures["documents"]["kept"]
    assert sum(sizes.values()) == figures["bytes"]["kept"]
    assert f"{sum(kept.values()):,} documents ({sum(sizes.values()):,} bytes)" in content
    assert f"from {len(named)} domains; {kept['']} of these documents have no valid URL" in content
    assert "dropped 2 documents whose URL is in a list: domains opted\\_out.txt" in content
    assert "h3.org" not in kept
    assert metadata((folder / "results/DATASET_CARD.md").read_text())["license"] == [
        "unknown", "odc-by",
    ]  # fmt: skip


def test_provenance__of_a_finished_run_changes_descriptions_alone(crawled, tmp_path):
    folder, config = crawled
    copy = shutil.copytree(folder, tmp_path / "run")
    before = (copy / "results/manifest.json").read_bytes()
    changed = [one | {"licence": "mit", "origin": "public", "url_member": "url"}
               for one in config["sources"]]  # fmt: skip
    for one in changed:
        del one["url_member"]
    (copy / "mine.yaml").write_text(yaml.safe_dump(config | {"sources": changed}))
    asked = ("--configfile", "mine.yaml", "--cores", "2")
    to_do = jobs(snakemake(copy, *asked, "-n", "--quiet", "rules"))
    assert set(to_do) <= {"card", "manifest", "summarize", "report", "all", "total"}
    done = snakemake(copy, *asked)
    assert done.returncode == 0, done.stderr
    assert (copy / "results/manifest.json").read_bytes() == before
    assert metadata((copy / "results/DATASET_CARD.md").read_text())["license"] == "mit"
    assert not (copy / "results/domains.csv").exists()


def test_plain__is_one_line():
    assert all(len(plain(evil).splitlines()) == 1 for evil in EVIL)
