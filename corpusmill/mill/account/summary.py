"""The summary of a run: its funnel, cuts and languages, as JSON and as text."""

import importlib.metadata
import platform
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import corpusmill
from corpusmill.mill.account.accounts import added, funnel, losses_in_words, table, whole
from corpusmill.mill.account.mixture_account import Account, mixture_table
from corpusmill.mill.decide.fates import DUPLICATE, dropping_fates
from corpusmill.mill.dedup.policy_names import NEAR
from corpusmill.mill.storage.files import load_json

PACKAGES = ["snakemake", "numpy", "numba", "pyarrow", "zstandard", "msgspec", "datasketch",
            "transformers", "tokenizers", "gigatoken"]  # fmt: skip

TOKENIZER = ["source", "end_of_text", "end_of_text_id", "vocabulary"]
"""Facts about the tokenizer in the summary."""


PACKED = ["rows", "documents", "cut_documents", "fill_rate"]
"""Facts about packed rows in the summary."""


class Told(NamedTuple):
    """The parts of the configuration in the summary."""

    config_digest: str
    configuration: dict
    filters: list[str]
    span_unit: str
    splits: list[str]
    """Those that may have shards."""


class Found(NamedTuple):
    """Reports of steps beside the account."""

    duplicates: Path
    edits: list[Path]
    languages: list[Path]
    recall: list[Path]
    packs: list[Path]
    tokenizer: Path
    arrangement: list[Path]


def summary_of(
    account: dict[str, Counter],
    manifest: dict,
    config: Told,
    found: Found,
    mixture: dict[str, Account],
) -> dict:
    """Return the summary as JSON, without the times of rules.

    account: of every source. mixture: the accounts of train or each stage.
    """
    total, fates = whole(account), dropping_fates(config.filters)
    edits, languages = edits_of(found.edits), languages_of(found.languages)
    ends = load_json(found.tokenizer / "corpusmill.json")
    planted = load_json(found.recall[0]) if found.recall else None
    spans = spans_of(total, edits, config.span_unit) if config.span_unit != "none" else None
    guarded = load_json(found.duplicates)
    return {
        "corpusmill.summary": 1,
        **funnel(total, fates, config.splits),
        "sources": {
            name: funnel(figures, fates, config.splits)
            | duplicates_of(guarded["sources"].get(name))
            for name, figures in account.items()
        },
        **({"spans": spans} if spans else {}),
        **({"edits": edits} if edits else {}),
        **({"languages": languages} if languages else {}),
        "balanced": True,
        "duplicates": guarded["dropped"],
        **({"planted": planted} if planted else {}),
        **({"mixture": mixture} if mixture else {}),
        **({"order": order} if (order := order_of(found.arrangement)) else {}),
        **({"packed": packed} if (packed := packed_of(found.packs)) else {}),
        "config_digest": config.config_digest,
        "configuration": config.configuration,
        "tokenizer": {name: ends[name] for name in TOKENIZER},
        "manifest": manifest["sha256"],
        "versions": {"corpusmill": corpusmill.__version__, "python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in PACKAGES},
    }


def duplicates_of(source: dict | None) -> dict:
    """Return the policy of a source, and its duplicates by stage; {} without documents.

    source: of duplicates.json.
    """
    return {"duplicates": {"policy": source["policy"], **source["stages"]}} if source else {}


def edits_of(parts: list[Path]) -> dict[str, Counter]:
    """Return what filters cut in all parts: `filter.rule` -> spans and bytes."""
    by_rule = [load_json(part)["by_rule"] for part in parts]
    return added([{rule: whole(by_source) for rule, by_source in one.items()} for one in by_rule])


def order_of(arrangement: list[Path]) -> dict[str, dict]:
    """Return the bands of each split in the order of a value. arrangement: from `arrange`."""
    splits = load_json(arrangement[0])["splits"] if arrangement else {}
    return {
        split: {name: told[name] for name in ("value", "bands")}
        for split, told in splits.items()
        if "bands" in told
    }


def packed_of(packs: list[Path]) -> dict[str, dict[str, dict]]:
    """Return rows, cut documents and fill rate by split and length. packs: from `pack`."""
    packed: dict[str, dict[str, dict]] = {}
    for pack in packs:
        facts = load_json(pack)
        figures = {name: facts[name] for name in PACKED}
        packed.setdefault(pack.parent.name, {})[str(facts["length"])] = figures
    return packed


def spans_of(total: Counter, edits: dict[str, Counter], unit: str) -> dict:
    """Return the cuts of repeated spans: all cuts except those of filters."""
    by_filters = whole(edits)
    return {
        "unit": unit,
        "cut": total["cut_spans"] - by_filters["spans"],
        "cut_bytes": total["cut_bytes"] - by_filters["bytes"],
    }


def languages_of(blocks: list[Path]) -> dict[str, dict]:
    """Return documents and bytes per language, read and kept, and drops by fate; most frequent
    languages first."""
    counted = [load_json(file) for file in blocks]
    dropped = added([{one: of.pop("dropped") for one, of in block.items()} for block in counted])
    found = added(counted)
    ranked = sorted(found, key=lambda one: (-found[one]["read"], one))
    return {one: {**found[one], "dropped": dict(sorted(dropped[one].items()))} for one in ranked}


def in_words(account: dict[str, Counter], summary: dict, config: Told, found: Found) -> str:
    """Return the summary as text: the funnel as a table, and remarks."""
    ends = load_json(found.tokenizer / "corpusmill.json")
    fates = dropping_fates(config.filters)
    return "\n".join([table(account, fates), *remarks(account, summary, ends)])


def remarks(account: dict[str, Counter], summary: dict, tokenizer: dict) -> Iterator[str]:
    """Yield remarks for users beside the table. tokenizer: corpusmill.json."""
    if not summary["documents"]["written"]:
        yield "WARNING: no document is left"
    if spans := summary.get("spans"):
        yield (
            f"repeated spans ({spans['unit']}): {spans['cut']:,} cut, "
            f"{spans['cut_bytes'] / 1e6:,.2f} MB"
        )
    for name, source in summary["sources"].items():
        policy = source.get("duplicates", {}).get("policy", NEAR)
        if policy != NEAR:
            dropped = source["documents"]["dropped"][DUPLICATE]
            yield f"source {name} has duplicates: {policy}; {dropped:,} dropped"
    for rule, figures in summary.get("edits", {}).items():
        if figures["spans"]:
            yield f"cut by {rule}: {figures['spans']:,}, {figures['bytes'] / 1e6:,.2f} MB"
    yield from losses_in_words(account)
    yield f"documents end with {tokenizer['end_of_text']}, id {tokenizer['end_of_text_id']}"
    if steps := tokenizer["normalizer"]:
        yield f"the tokenizer's own normalizer changes texts: {', '.join(steps)}"
    for split, mixture in summary.get("mixture", {}).items():
        yield from mixture_table(mixture, split)
    for split, order in summary.get("order", {}).items():
        without = sum(band["documents"] for band in order["bands"][-1:])
        if without:
            yield f"{split}: {without:,} documents have no {order['value']}, so they come last"
    yield from packed_in_words(summary.get("packed", {}))
    for kind, figures in summary.get("planted", {}).items():
        yield f"planted {kind}: {figures['found']} of {figures['planted']} found"


def packed_in_words(packed: dict[str, dict[str, dict]]) -> Iterator[str]:
    """Yield a line for each split and length that has rows."""
    for split, lengths in packed.items():
        for length, figures in lengths.items():
            if figures["rows"]:
                yield (
                    f"{split} packed to {int(length):,} tokens: {figures['rows']:,} rows, "
                    f"{100 * figures['fill_rate']:.2f} % full, {figures['cut_documents']:,} of "
                    f"{figures['documents']:,} documents cut"
                )
