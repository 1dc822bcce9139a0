"""Which filter dropped how much of which language."""

from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import Any

from corpusmill.mill.report.pages import paragraph, scrolling

SHOWN_LANGUAGES, SHOWN_FATES = 15, 12
OTHER_LANGUAGES, OTHER_FATES = "other languages", "other reasons"
DARKEST = 0.65
"""Of the colour behind a share of 1, so that the number on it can be read."""


def of_languages(languages: dict[str, dict[str, Any]]) -> Iterator[str]:
    """A share of every language for every reason, the larger the darker.

    languages: of the summary, the most frequent first.
    """
    if not languages:
        yield paragraph("Languages: no filter of this run tells the language of a document.")
        return
    rows = shown_rows(languages)
    fates = Counter[str]()
    for _, dropped in rows.values():
        fates.update(dropped)
    ranked = sorted(fates, key=lambda fate: (-fates[fate], fate))
    shown, rest = ranked[:SHOWN_FATES], ranked[SHOWN_FATES:]
    columns = {fate: [fate] for fate in shown} | ({OTHER_FATES: rest} if rest else {})
    heading = ["language", "documents read", "kept", *columns]
    lines = ["".join(f"<th>{escape(name)}</th>" for name in heading)]
    for language, (documents, dropped) in rows.items():
        kept = documents - dropped.total()
        cells = [f"<td>{escape(language)}</td>", f'<td class="number">{documents:,}</td>']
        cells.append(f'<td class="number">{percent(kept, documents)}</td>')
        cells += (cell(sum(dropped[one] for one in those), documents) for those in columns.values())
        lines.append("".join(cells))
    yield paragraph(
        "Of the documents of a language, how many were dropped for which reason, the more the "
        "darker."
    )
    whole = "".join(f"<tr>{line}</tr>\n" for line in lines)
    yield scrolling(f"<table>\n{whole}</table>")


def shown_rows(languages: dict[str, dict[str, Any]]) -> dict[str, tuple[int, Counter]]:
    """Documents and what dropped how many of them: of the most frequent languages, and of all
    others together."""
    rows: dict[str, tuple[int, Counter]] = {}
    for place, (language, figures) in enumerate(languages.items()):
        name = language if place < SHOWN_LANGUAGES else OTHER_LANGUAGES
        documents, dropped = rows.get(name, (0, Counter()))
        rows[name] = documents + figures["read"], dropped + Counter(figures["dropped"])
    return rows


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole and part else ""


def cell(part: int, whole: int) -> str:
    share = part / whole if whole else 0
    colour = f' style="background: rgb(213 94 0 / {100 * DARKEST * share:.0f}%)"' if share else ""
    return f'<td class="number"{colour}>{percent(part, whole)}</td>'
