"""One page on a run: what came in, what became of it, what it took, what it was made with."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from corpusmill.mill.report import clusters, funnel, languages, similarities, statistics, times
from corpusmill.mill.report.pages import Row, page, paragraph, scrolling, table

TEXT_BYTES = "text_bytes"
SHOWN_RECORDS = 20
DRAWN_SOURCES = 12
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
.wide td:first-child { overflow-wrap: break-word; max-width: 16em }
table { font-variant-numeric: tabular-nums } td.number { white-space: nowrap }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f6f6f4; padding: 8px }
summary { cursor: pointer; padding: 4px 0 }
h3 { font-size: 14px; margin: 12px 0 4px }
@media screen and (prefers-color-scheme: dark) {
  body { background: #17181a; color: #e8e8e8 } a { color: #8ec5ff }
  th, td, h2 { border-color: #3c3e42 } pre { background: #222427 }
  svg { filter: invert(0.9) hue-rotate(180deg) } }
@media (max-width: 640px) { body { padding: 10px } th, td { padding-right: 10px } }
@media print {
  :root { color-scheme: light } nav { display: none }
  h2, h3, summary { break-after: avoid } tr, svg, h3, summary { break-inside: avoid }
  .wide { overflow: visible } .wide svg { min-width: 0; max-height: 85vh }
  body { max-width: none; font-size: 11px; padding: 0 } pre { font-size: 9px }
  table { font-size: 9px; width: 100% }
  th, td { padding-right: 5px; overflow-wrap: anywhere }
  h3 { font-size: 11px }
  article details::details-content { content-visibility: visible; block-size: auto }
  rect, td { print-color-adjust: exact; -webkit-print-color-adjust: exact } }
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


def what_became(summary: dict[str, Any]) -> Iterator[str]:
    largest = largest_sources(summary)[:DRAWN_SOURCES]
    yield scrolling(
        funnel.picture(summary | {"sources": {n: summary["sources"][n] for n in largest}})
    )
    if len(largest) < len(summary["sources"]):
        yield paragraph(
            f"The {DRAWN_SOURCES} largest of {len(summary['sources'])} sources; all are in "
            "results/report/funnel.html, and in this table:"
        )
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


def largest_sources(summary: dict[str, Any]) -> list[str]:
    sources = summary["sources"]
    return sorted(sources, key=lambda name: -sources[name]["documents"]["in"])


def what_filters_dropped(summary: dict[str, Any]) -> Iterator[str]:
    """A share of every source, the largest sources beside one another."""
    sources = largest_sources(summary)
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
    yield from languages.of_languages(summary.get("languages", {}))


def share(documents: dict[str, Any], fate: str) -> str:
    number = documents["dropped"][fate]
    return f"{100 * number / documents['in']:.2f} %" if documents["in"] and number else ""


def lengths(rows: Sequence[dict[str, Any]], bins: pa.Table) -> Iterator[str]:
    of_text = [row for row in statistics.over_all(bins).to_pylist() if row["value"] == TEXT_BYTES]
    yield paragraph(
        "Bytes of a text: of those that were read light, of those that were kept dark. Bars are "
        "even on a logarithmic scale. All that was measured is in results/report/statistics.html."
    )
    if of_text:
        yield scrolling(statistics.picture(of_text))
        yield scrolling(statistics.rows_of(TEXT_BYTES, rows))


def duplicates(found: Finished) -> Iterator[str]:
    yield from similarities.what_was_removed(found.removed, found.threshold)
    yield from clusters.of_clusters(found.duplicates)


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
        rows.append([
            *time[:-1], time.mem_mb or None,
            f"{100 * time.peak_memory_mb / time.mem_mb:.0f} %" if time.mem_mb else "",
        ])  # fmt: skip
    heading = ["rule", "jobs", "seconds", "seconds of CPU", "most memory MB", "bound MB", "of it"]
    yield scrolling(table(heading, rows))


def made_with(found: Finished) -> Iterator[str]:
    summary = found.summary
    rows: list[Row] = [
        ["configuration", summary["config_digest"]],
        ["manifest (SHA-256)", summary["manifest"]],
    ]
    yield scrolling(table(["made with", "digest"], rows))
    yield paragraph("The configuration:")
    told = msgspec.json.format(msgspec.json.encode(found.config), indent=1).decode()
    yield f"<details><summary>all of it</summary><pre>{escape(told)}</pre></details>\n"
    yield table(["package", "version"], list(summary["versions"].items()))
    yield paragraph("Every file with its size and SHA-256: results/manifest.json.")
