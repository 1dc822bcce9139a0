"""One page on a run: what came in, what became of it, what it took, what it was made with."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from corpusmill.report import funnel, similarities, statistics, times
from corpusmill.report.pages import Row, page, paragraph, table

TEXT_BYTES = "text_bytes"
SHOWN_RECORDS, SHOWN_GROUPS, SHOWN_CHARS = 20, 10, 600
MOST_COLUMNS = 8
"""Sources beside one another; of more only the largest are shown."""

HEAD = """<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
body { max-width: 960px; margin: 0 auto; padding: 16px; line-height: 1.45 }
h2 { margin-top: 40px; border-top: 2px solid #ddd; padding-top: 14px; scroll-margin-top: 8px }
nav { display: flex; flex-wrap: wrap; gap: 4px 18px }
a { color: #0057a3 }
.wide { overflow-x: auto }
.wide svg { min-width: 560px }
table { font-variant-numeric: tabular-nums }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f6f6f4; padding: 8px }
summary { cursor: pointer; padding: 4px 0 }
@media (prefers-color-scheme: dark) {
  body { background: #17181a; color: #e8e8e8 } a { color: #8ec5ff }
  th, td, h2 { border-color: #3c3e42 } pre { background: #222427 }
  svg { filter: invert(0.9) hue-rotate(180deg) } }
@media (max-width: 640px) { body { padding: 10px } th, td { padding-right: 10px } }
@media print {
  nav { display: none } h2 { break-after: avoid } tr, svg, article { break-inside: avoid }
  .wide { overflow: visible } .wide svg { min-width: 0 } body { max-width: none; font-size: 11px }
  rect { print-color-adjust: exact; -webkit-print-color-adjust: exact } }
</style>
"""


class Finished(NamedTuple):
    """What there is to tell of a run."""

    summary: dict[str, Any]
    duplicates: dict[str, Any]
    """What the guard has said of them."""
    removed: similarities.Removed
    threshold: float
    statistics: Sequence[dict[str, Any]]
    bins: pa.Table
    quarantine: Sequence[bytes]
    """Lines of JSON; as many as are shown."""
    bounds: Mapping[str, int]
    """Of rules the memory that a job may hold, MB; as far as the last run did them."""
    config: dict[str, Any]


def whole_page(found: Finished) -> str:
    sections = {
        "What became of every record": what_became(found.summary),
        "What filters dropped": what_filters_dropped(found.summary),
        "Lengths, read and kept": lengths(found.statistics, found.bins),
        "Duplicates": duplicates(found),
        "Malformed records": malformed(found),
        "Time and memory": time_and_memory(found),
        "Made with": made_with(found),
    }
    names = {title: f"s{number}" for number, title in enumerate(sections)}
    links = "".join(f'<a href="#{name}">{escape(title)}</a>' for title, name in names.items())
    return page(
        "A run of corpusmill",
        paragraph(in_short(found.summary)),
        f"<nav>{links}</nav>\n",
        *(
            f'<h2 id="{names[title]}">{escape(title)}</h2>\n{"".join(pieces)}'
            for title, pieces in sections.items()
        ),
        head=HEAD,
    )


def in_short(summary: dict[str, Any]) -> str:
    documents, size, tokens = summary["documents"], summary["bytes"], summary["tokens"]
    splits = ", ".join(f"{number:,} {split}" for split, number in tokens.items())
    return (
        f"{documents['in']:,} records of {len(summary['sources'])} sources, "
        f"{size['in'] / 1e6:,.1f} MB of text, came in. {documents['kept']:,} documents, "
        f"{size['kept'] / 1e6:,.1f} MB, were kept, and {documents['written']:,} written: "
        f"{sum(tokens.values()):,} tokens ({splits}). Everything that came in is kept or "
        "dropped for one reason; the account balances."
    )


def scrolling(html: str) -> str:
    """What is too wide for a phone moves by itself."""
    return f'<div class="wide" tabindex="0">{html}</div>\n' if html else ""


def what_became(summary: dict[str, Any]) -> Iterator[str]:
    yield scrolling(funnel.picture(summary))
    rows: list[Row] = []
    for name, source in {funnel.ALL: summary, **summary["sources"]}.items():
        tokens, size = sum(source["tokens"].values()), source["bytes"]
        rows.append([
            name, source["documents"]["in"], source["documents"]["kept"],
            source["documents"]["written"], size["in"] / 1e6, size["kept"] / 1e6, tokens,
            size["written"] / tokens if tokens else None,
        ])  # fmt: skip
    heading = ["source", "records in", "kept", "written", "MB in", "MB kept", "tokens",
               "bytes a token"]  # fmt: skip
    yield scrolling(table(heading, rows))


def what_filters_dropped(summary: dict[str, Any]) -> Iterator[str]:
    """A share of every source, the largest sources beside one another."""
    sources = sorted(
        summary["sources"], key=lambda name: -summary["sources"][name]["documents"]["in"]
    )
    accounts = {funnel.ALL: summary} | {
        name: summary["sources"][name] for name in sources[:MOST_COLUMNS]
    }
    fates = [fate for fate, number in summary["documents"]["dropped"].items() if number]
    rows: list[Row] = [
        [fate, *(share(one["documents"], fate) for one in accounts.values())] for fate in fates
    ]
    yield paragraph("Of the records of a source, how many were dropped for which reason.")
    yield scrolling(table(["reason", *accounts], rows))
    if len(sources) > MOST_COLUMNS:
        yield paragraph(
            f"The {MOST_COLUMNS} largest of {len(sources)} sources; all are in "
            "results/report/funnel.csv."
        )
    yield statistics.of_languages(summary.get("languages", {}))


def share(documents: dict[str, Any], fate: str) -> str:
    number = documents["dropped"][fate]
    return f"{100 * number / documents['in']:.2f} %" if documents["in"] and number else ""


def lengths(rows: Sequence[dict[str, Any]], bins: pa.Table) -> Iterator[str]:
    of_text = [row for row in statistics.over_all(bins).to_pylist() if row["value"] == TEXT_BYTES]
    yield paragraph(
        "Bytes of a text: of those that were read light, of those that were kept dark. Bins are "
        "numbers of two digits, so they are ten times as wide from each power of ten on. All "
        "that was measured is in results/report/statistics.html."
    )
    if of_text:
        yield scrolling(statistics.picture(of_text))
        yield scrolling(statistics.rows_of(TEXT_BYTES, rows))


def duplicates(found: Finished) -> Iterator[str]:
    yield from similarities.what_was_removed(found.removed, found.threshold)
    groups = found.duplicates["largest_groups"][:SHOWN_GROUPS]
    rows: list[Row] = [
        [place, group["documents"], group.get("kept"), group.get("pairs")]
        for place, group in enumerate(groups, 1)
    ]
    if rows:
        yield paragraph("The largest groups of documents that are alike, and what they share:")
        yield scrolling(table(["group", "documents", "kept", "pairs"], rows))
    for place, group in enumerate(groups, 1):
        if shared := group.get("shared"):
            yield f"<article><details><summary>group {place} shares</summary>\n"
            yield f"<pre>{escape(shared[:SHOWN_CHARS])}</pre></details></article>\n"


def malformed(found: Finished) -> Iterator[str]:
    number = found.summary["documents"]["dropped"]["malformed"]
    if not number:
        yield paragraph("Every record could be read.")
        return
    lines = [msgspec.json.decode(line) for line in found.quarantine]
    which = "They" if number == len(lines) else f"The first {len(lines)} are here; all"
    yield paragraph(f"{number:,} records could not be read. {which} are in results/quarantine/.")
    rows: list[Row] = [
        [line["source"], f"{line['file']}:{line['line']}", line["reason"]] for line in lines
    ]
    yield scrolling(table(["source", "record", "reason"], rows))


def time_and_memory(found: Finished) -> Iterator[str]:
    took = times.times(found.summary)
    yield scrolling(times.picture(took))
    rows: list[Row] = []
    for time in took:
        bound = found.bounds.get(time.rule) or None
        rows.append([
            time.rule, time.jobs, time.wall_seconds, time.cpu_seconds, time.peak_memory_mb, bound,
            f"{100 * time.peak_memory_mb / bound:.0f} %" if bound else "",
        ])  # fmt: skip
    heading = ["rule", "jobs", "seconds", "seconds of CPU", "most memory MB", "bound MB", "of it"]
    yield scrolling(table(heading, rows))


def made_with(found: Finished) -> Iterator[str]:
    summary = found.summary
    yield paragraph(f"Configuration {summary['config_digest']}:")
    told = msgspec.json.format(msgspec.json.encode(found.config), indent=1).decode()
    yield f"<details><summary>all of it</summary><pre>{escape(told)}</pre></details>\n"
    yield table(["package", "version"], list(summary["versions"].items()))
    yield paragraph("Every file with its size and SHA-256: results/manifest.json.")
