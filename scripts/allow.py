"""Stop the run if filters drop too much of a source, with some of what they drop."""

import logging
from collections import Counter
from pathlib import Path

from corpusmill.messages.plain_text import shown as shown_plainly
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.storage.files import load_json, save_json
from corpusmill.mill.storage.tables import load_column
from corpusmill.run.job import run

LEAST_DOCUMENTS = 100
"""Of a source: of fewer filters may well drop all."""
SHOWN = 3
"""Filters, those that drop most, and documents of each."""
SHOWN_CHARS = 160


def allow(
    texts: list[Path],
    verdicts: list[Path],
    counts: list[Path],
    max_dropped_fraction: dict[str, float],
    report: Path,
) -> None:
    """Every list has a file of every part. max_dropped_fraction: of every source."""
    parts = [load_json(file)["by_source"] for file in counts]
    documents, dropped = Counter(), {}
    for part in parts:
        for source, figures in part.items():
            documents[source] += figures["documents"]
            dropped.setdefault(source, Counter()).update(figures["dropped"])
    faults = []
    for source, by_filter in sorted(dropped.items()):
        most, count = max_dropped_fraction[source], by_filter.total()
        if count > most * documents[source] and documents[source] >= LEAST_DOCUMENTS:
            ranked = [(name, its) for name, its in by_filter.most_common() if its]
            faults.append(
                f"source {source}: filters drop {count} of {documents[source]} documents "
                f"({', '.join(f'{name} {its}' for name, its in ranked)}), max_dropped_fraction "
                f"allows {most} of them. Raise it at the source if that is right, or change the "
                "filters; some of these:"
            )
            for name, _ in ranked[:SHOWN]:
                faults += examples(source, name, parts, texts, verdicts)
    if faults:
        raise ValueError("\n".join(faults))
    save_json(
        report,
        {
            source: {"documents": documents[source], "dropped": dict(by_filter)}
            for source, by_filter in sorted(dropped.items())
        },
    )
    logging.info("dropped by filters: %s", {name: dict(by) for name, by in dropped.items()})


def examples(
    source: str, name: str, parts: list[dict], texts: list[Path], verdicts: list[Path]
) -> list[str]:
    """Place, reason and beginning of the first documents of a source that a filter drops."""
    shown = []
    for part, text, verdict in zip(parts, texts, verdicts, strict=True):
        rows = part.get(source, {}).get("first", {}).get(name, [])
        if rows and len(shown) < SHOWN:
            reasons = load_column(verdict, "reason")
            shown += [
                f"  {place}: {shown_plainly(reasons[row].as_py() or name)}: {beginning!r}"
                for row, place, beginning in beginnings(text, rows)
            ]
    return shown[:SHOWN]


def beginnings(text: Path, rows: list[int]) -> list[tuple[int, str, str]]:
    """Row, `file:line` and first characters of some documents of a part."""
    found, first, part = [], 0, TextPart(text, ["text", "file", "line"])
    for batch in part.batches():
        for row in rows:
            if first <= row < first + batch.num_rows:
                file, line = (batch.column(one)[row - first].as_py() for one in ("file", "line"))
                begun = batch.column("text")[row - first].as_py()[:SHOWN_CHARS]
                found.append((row, f"{part.files[file]['path']}:{line}", begun))
        first += batch.num_rows
    return found


if __name__ == "__main__":
    run(allow)
