"""Report sources that lose more documents to filters than allowed, with examples."""

from collections import Counter
from pathlib import Path

from corpusmill.messages.plain_text import shown as shown_plainly
from corpusmill.mill.account.accounts import added
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.storage.tables import load_column

LEAST_DOCUMENTS = 100
"""Minimum number of documents in a source to check: filters may well drop all of a smaller one."""
SHOWN = 3
"""Number of filters to show, starting with those that drop most, and of documents to show per
filter."""
SHOWN_CHARS = 160


def too_much_dropped(
    counts: list[dict],
    texts: list[Path],
    verdicts: list[Path],
    max_dropped_fraction: dict[str, float],
) -> list[str]:
    """Describe every source that loses too much.

    counts: of every part, as `filter` writes them. max_dropped_fraction: by source.
    """
    faults = []
    for source, (documents, by_filter) in sorted(dropped_by_source(counts).items()):
        count = by_filter.total()
        if count > max_dropped_fraction[source] * documents and documents >= LEAST_DOCUMENTS:
            ranked = [(name, its) for name, its in by_filter.most_common() if its]
            faults.append(
                f"source {source}: filters drop {count} of {documents} documents "
                f"({', '.join(f'{name} {its}' for name, its in ranked)}), but max_dropped_fraction "
                f"is {max_dropped_fraction[source]}. Raise it for the source if that is intended, "
                "or change the filters. Examples:"
            )
            for name, _ in ranked[:SHOWN]:
                faults += examples(source, name, counts, texts, verdicts)
    return faults


def dropped_by_source(counts: list[dict]) -> dict[str, tuple[int, Counter]]:
    """Return each source's number of documents and how many of them each filter drops."""
    dropped = added([{name: of["dropped"] for name, of in part.items()} for part in counts])
    return {
        source: (sum(part[source]["documents"] for part in counts if source in part), by_filter)
        for source, by_filter in dropped.items()
    }


def examples(
    source: str, name: str, counts: list[dict], texts: list[Path], verdicts: list[Path]
) -> list[str]:
    """Return place, reason and beginning of the first documents that a filter drops from a
    source."""
    shown: list[str] = []
    for part, text, verdict in zip(counts, texts, verdicts, strict=True):
        rows = part.get(source, {}).get("first", {}).get(name, [])
        if rows and len(shown) < SHOWN:
            reasons = load_column(verdict, "reason")
            shown += [
                f"  {place}: {shown_plainly(reasons[row].as_py() or name)}: {beginning!r}"
                for row, place, beginning in beginnings(text, rows)
            ]
    return shown[:SHOWN]


def beginnings(text: Path, rows: list[int]) -> list[tuple[int, str, str]]:
    """Return row, `file:line` and first characters of some documents of a part."""
    found, first, part = [], 0, TextPart(text, ["text", "file", "line"])
    for batch in part.batches():
        for row in rows:
            if first <= row < first + batch.num_rows:
                file, line = (batch.column(one)[row - first].as_py() for one in ("file", "line"))
                begun = batch.column("text")[row - first].as_py()[:SHOWN_CHARS]
                found.append((row, f"{part.files[file]['path']}:{line}", begun))
        first += batch.num_rows
    return found
