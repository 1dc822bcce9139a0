"""Facts about a finished corpus for its dataset card and its summary of training content."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from corpusmill.mill.report.domains import Domains

SHARD = re.compile(r"(?:.*/)?tokens/([^/]+)/\d{5}\.bin")
TEXT_SHARD = re.compile(r"(?:.*/)?corpus/([^/]+)/\d{5}\.(jsonl\.zst|parquet)")
EVALUATED = ("validation", "test")
"""Splits that models are not trained on."""


class Split(NamedTuple):
    name: str
    shards: int
    documents: int
    tokens: int


class Origin(NamedTuple):
    """Facts about a source from the configuration; None if not stated."""

    licence: str | None
    origin: str | None
    homepage: str | None
    collected: str | None


NOT_STATED = Origin(None, None, None, None)


class Facts(NamedTuple):
    """summary: results/summary.json. text_files: split and ending of the text shards."""

    summary: dict[str, Any]
    splits: list[Split]
    text_files: list[tuple[str, str]]
    origins: dict[str, Origin]
    """Facts about each source of the corpus, by its name."""
    held_out: dict[str, Origin]
    """Of each evaluation set."""
    domains: Domains | None
    """None: no source was crawled."""

    @property
    def configuration(self) -> dict[str, Any]:
        return dict(self.summary["configuration"])

    def sources_of(self, origin: str | None) -> list[str]:
        return [name for name, one in self.origins.items() if one.origin == origin]

    def train_tokens(self, figures: dict[str, Any]) -> int:
        """Return the tokens to train on. figures: the summary, or its part about a source."""
        tokens = figures["tokens"]
        return sum(number for split, number in tokens.items() if split not in EVALUATED)


def facts_of(
    summary: dict[str, Any],
    manifest: dict[str, Any],
    provenance: dict[str, dict[str, Any]],
    domains: Domains | None,
) -> Facts:
    """provenance: key of the configuration -> source -> value."""
    names = [file["path"] for file in manifest["files"]]
    sources = {
        source: Origin(*(provenance[key].get(source) for key in Origin._fields))
        for source in next(iter(provenance.values()), {})
    }
    return Facts(
        summary,
        splits_of(manifest["files"]),
        text_files_of(names),
        {name: sources.get(name, NOT_STATED) for name in summary["sources"]},
        {name: sources[name] for name in held_out_of(summary["configuration"])},
        domains,
    )


def held_out_of(configuration: dict[str, Any]) -> list[str]:
    return [one["name"] for one in configuration["sources"] if one.get("held_out")]


def splits_of(files: list[dict[str, Any]]) -> list[Split]:
    """Return the splits that have shards, in the order of the manifest."""
    found: dict[str, Split] = {}
    for file in files:
        if shard := SHARD.fullmatch(file["path"]):
            was = found.get(shard[1], Split(shard[1], 0, 0, 0))
            found[shard[1]] = Split(
                shard[1], was.shards + 1, was.documents + file["documents"],
                was.tokens + file["tokens"],
            )  # fmt: skip
    return list(found.values())


def text_files_of(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the distinct splits and endings of text shards, in order."""
    found = filter(None, map(TEXT_SHARD.fullmatch, names))
    return list(dict.fromkeys((shard[1], shard[2]) for shard in found))
