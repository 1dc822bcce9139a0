"""The account: sums that balance, and words for sums that do not."""

import re
from collections import Counter
from pathlib import Path

import pytest

from corpusmill.mill.account.accounts import (
    funnel,
    imbalances,
    losses_in_words,
    shard_imbalances,
    table,
    tokenization,
)
from corpusmill.mill.decide.fates import SPLITS, dropping_fates
from corpusmill.mill.storage.files import save_json

FATES = dropping_fates(["empty", "too_short"])
BALANCED = Counter(
    documents=20, kept=9, malformed=1, empty=2, too_short=3, duplicate=4, contaminated=1,
    copies=12, text_bytes=1350, kept_bytes=900, written_bytes=1200, duplicate_bytes=400,
    too_short_bytes=50, train_tokens=300, test_tokens=7,
)  # fmt: skip


@pytest.mark.parametrize("figure", ["documents", "kept", *FATES])
@pytest.mark.parametrize("change", [-1, 1])
def test_imbalances__find_one_document_more_or_less(figure, change):
    account = {"web": BALANCED + Counter(), "books": BALANCED.copy()}
    account["books"][figure] += change
    (fault,) = imbalances(account, "part 00001", FATES)
    assert fault.startswith("part 00001, source books: ")
    assert f"{account['books']['documents']} documents in, {account['books']['kept']} kept" in fault


@pytest.mark.parametrize("figure", ["text_bytes", "kept_bytes", "duplicate_bytes", "cut_bytes"])
def test_imbalances__find_one_byte_more(figure):
    account = {"web": BALANCED + Counter(text_bytes=7, cut_bytes=7)}
    assert imbalances(account, "part 00001", FATES) == []
    account["web"][figure] += 1
    (fault,) = imbalances(account, "part 00001", FATES)
    assert re.match(r"part 00001, source web: 135[78] bytes in, .* kept .* dropped .* cut", fault)


def shard_facts(folder: Path, **documents: int) -> list[Path]:
    """One shard of train with so many documents of each source."""
    by_source = {source: {"documents": n} for source, n in documents.items()}
    save_json(folder / "train/00000.json", {"by_source": by_source})
    return [folder / "train/00000.json"]


@pytest.mark.parametrize(
    ("shards", "faults"),
    [
        ({"web": 12}, []),
        ({"web": 11}, ["text shards, source web, train: 11 documents, expected 12"]),
        ({}, ["text shards, source web, train: 0 documents, expected 12"]),
        ({"web": 12, "odd": 1}, ["text shards, source odd, train: 1 documents, expected 0"]),
    ],
)
def test_shard_imbalances__find_documents_lost_or_added(shards, faults, tmp_path):
    account = {"web": Counter(train_copies=12)}
    assert shard_imbalances(account, shard_facts(tmp_path, **shards), "text shards") == faults


def test_shard_imbalances__find_documents_in_another_split(tmp_path):
    account = {"web": Counter(train_copies=11, test_copies=1)}
    faults = shard_imbalances(account, shard_facts(tmp_path, web=12), "text shards")
    assert [fault.split(": ")[0][-5:] for fault in faults] == [" test", "train"]


def test_funnel__shows_every_reason():
    got = funnel(BALANCED, FATES, SPLITS)
    assert got["documents"]["in"] == 20
    assert got["documents"]["in"] == got["documents"]["kept"] + sum(
        got["documents"]["dropped"].values()
    )
    assert list(got["documents"]["dropped"]) == FATES
    assert got["bytes"]["dropped"]["duplicate"] == 400
    assert got["tokens"] == {"train": 300, "validation": 0, "test": 7}


def test_funnel__shows_cut_bytes_only_where_spans_are_cut():
    assert "cut" not in funnel(BALANCED, FATES, SPLITS)["bytes"]
    assert funnel(Counter(cut_bytes=0), FATES, SPLITS)["bytes"]["cut"] == 0


def test_tokenization__divides_without_end_of_text_tokens():
    account = Counter(characters=3_000_000, lost_characters=1, unknown_tokens=59, copies=12,
                      documents_without_token=2, train_tokens=300, test_tokens=7)  # fmt: skip
    assert tokenization(account) == {
        "characters": 3_000_000, "lost_characters": 1, "unknown_tokens": 59,
        "documents_without_token": 2, "lost_fraction": 0.0, "unknown_fraction": 0.2,
    }  # fmt: skip
    assert tokenization(Counter())["lost_fraction"] == 0
    assert tokenization(Counter(train_tokens=4, copies=4))["unknown_fraction"] == 0


def test_losses_in_words__has_a_line_only_where_something_was_lost():
    whole = Counter(characters=5000, train_tokens=9, copies=1)
    account = {"a": whole, "b": whole + Counter(lost_characters=1234), "c": Counter(copies=1)}
    assert losses_in_words(account) == [
        "WARNING: source b: 1,234 of 5,000 characters are lost in tokenization (24.6800%), "
        "0 tokens are unknown, 0 documents have no tokens"
    ]


def test_table__has_no_column_for_what_nothing_met():
    account = Counter({**BALANCED, "copies": 9, "too_short": 0, "malformed": 0})
    lines = table({"web": account}, FATES).splitlines()
    assert lines[0].split() == [
        "source", "documents", "empty", "duplicate", "contaminated", "kept", "MB", "in", "MB",
        "out", "tokens",
    ]  # fmt: skip
    assert lines[2].split() == ["web", "20", "2", "4", "1", "9", "0.00", "0.00", "307"]
    assert lines[-1] == "none " + ", ".join(
        fate for fate in FATES if fate not in ("empty", "duplicate", "contaminated")
    )
