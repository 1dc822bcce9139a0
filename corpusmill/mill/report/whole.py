"""The whole run on one page: input, outcome, cost and configuration."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from corpusmill.mill.report import duplicates, funnel, statistics, times
from corpusmill.mill.report.pages import Row, page, percent

TEXT_BYTES = "text_bytes"
SHOWN_RECORDS = 20
DRAWN_SOURCES = 12
MOST_COLUMNS = 8
"""Maximum number of sources shown side by side. If there are more, only the largest are shown."""
SHOWN_GROUPS, SHOWN_CHARS = 10, 600
SHOWN_LANGUAGES, SHOWN_FATES = 15, 12
OTHER_LANGUAGES, OTHER_FATES = "other languages", "other reasons"
DARKEST = 65
"""Background opacity, in percent, of a cell whose share is 1. The number in the cell stays
readable."""


class Finished(NamedTuple):
    """The data of a run's page."""

    summary: dict[str, Any]
    duplicates: dict[str, Any]
    """Content of results/duplicates.json."""
    removed: duplicates.Removed
    threshold: float
    statistics: Sequence[dict[str, Any]]
    bins: pa.Table
    quarantine: Sequence[bytes]
    """The first malformed records as lines of JSON, only as many as the page shows."""
    config: dict[str, Any]


def whole_page(found: Finished) -> str:
    summary, sources = found.summary, found.summary["sources"]
    largest = sorted(sources, key=lambda name: -sources[name]["documents"]["in"])
    drawn = {name: sources[name] for name in largest[:DRAWN_SOURCES]}
    compared = {funnel.ALL: summary} | {name: sources[name] for name in largest[:MOST_COLUMNS]}
    spread = [row for row in statistics.over_all(found.bins) if row["value"] == TEXT_BYTES]
    took, clusters = times.times(summary), found.duplicates["clusters"]
    groups = [group for group in found.duplicates["largest_groups"] if group["sample"]]
    groups = groups[:SHOWN_GROUPS]
    malformed = map(msgspec.json.decode, found.quarantine)
    return page(
        "whole.html",
        summary=summary,
        funnel=funnel.picture(summary | {"sources": drawn}),
        drawn_sources=DRAWN_SOURCES,
        accounts=[
            account_row(name, one) for name, one in {funnel.ALL: summary, **sources}.items()
        ],
        compared=list(compared),
        reasons=[
            [fate, *(share(one["documents"], fate) for one in compared.values())]
            for fate, number in summary["documents"]["dropped"].items()
            if number
        ],
        by_language=by_language(summary.get("languages", {})),
        figures=statistics.FIGURES,
        lengths=statistics.picture(spread) if spread else "",
        lengths_rows=statistics.rows_of(TEXT_BYTES, found.statistics),
        removed=duplicates.facts(found.removed, found.threshold),
        clusters=duplicates.clusters_picture(clusters) if clusters else "",
        groups=groups,
        group_rows=[
            [place, *map(group.get, ("documents", "texts", "kept", "pairs"))]
            for place, group in enumerate(groups, 1)
        ],
        shown_chars=SHOWN_CHARS,
        quarantine=[
            [line["source"], f"{line['file']}:{line['line']}", line["reason"]] for line in malformed
        ],
        times_picture=times.picture(took),
        times=[
            [*time[:-1], time.mem_mb or None,
             f"{100 * time.peak_memory_mb / time.mem_mb:.0f} %" if time.mem_mb else ""]
            for time in took
        ],
        config=msgspec.json.format(msgspec.json.encode(found.config), indent=1).decode(),
    )  # fmt: skip


def account_row(name: str, account: dict[str, Any]) -> Row:
    documents, size = account["documents"], account["bytes"]
    tokens = sum(account["tokens"].values())
    return [
        name, documents["in"], documents["kept"], documents["written"], size["in"] / 1e6,
        size["kept"] / 1e6, tokens, size["written"] / tokens if tokens else None,
    ]  # fmt: skip


def share(documents: dict[str, Any], fate: str) -> str:
    number = documents["dropped"][fate]
    return f"{100 * number / documents['in']:.2f} %" if documents["in"] and number else ""


def by_language(languages: dict[str, dict[str, Any]]) -> dict[str, list]:
    """Return the most frequent languages and reasons, and all others together.

    languages: of the summary, the most frequent first.
    """
    read, dropped, fates = Counter[str](), dict[str, Counter[str]](), Counter[str]()
    for place, (language, figures) in enumerate(languages.items()):
        name = language if place < SHOWN_LANGUAGES else OTHER_LANGUAGES
        read[name] += figures["read"]
        dropped.setdefault(name, Counter()).update(figures["dropped"])
        fates.update(figures["dropped"])
    ranked = sorted(fates, key=lambda fate: (-fates[fate], fate))
    shown, rest = ranked[:SHOWN_FATES], ranked[SHOWN_FATES:]
    columns = {fate: [fate] for fate in shown} | ({OTHER_FATES: rest} if rest else {})
    rows = []
    for name, of_fate in dropped.items():
        numbers = [sum(of_fate[fate] for fate in fates) for fates in columns.values()]
        kept = read[name] - of_fate.total()
        shares = [
            (in_percent(n, read[name]), round(DARKEST * n / (read[name] or 1))) for n in numbers
        ]
        rows.append([name, read[name], in_percent(kept, read[name]), shares])
    return {"reasons": list(columns), "rows": rows}


def in_percent(part: int, whole: int) -> str:
    """Return a share in percent; "" if it is zero."""
    return percent(part, whole) if part else ""
