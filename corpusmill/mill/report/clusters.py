"""Clusters of duplicates: how large they are, and what the largest look like."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from corpusmill.mill.report import svg
from corpusmill.mill.report.pages import Row, paragraph, scrolling, table

SHOWN_GROUPS, SHOWN_CHARS = 10, 600
WIDTH, LEFT, MIDDLE = 900, 230, 575
LONGEST = 190
TOP, STEP, BAR = 34, 24, 16


def of_clusters(duplicates: dict[str, Any]) -> Iterator[str]:
    """duplicates: what the guard has said of them."""
    if bins := duplicates["clusters"]:
        yield paragraph(
            "Clusters by their size: a cluster is a document that was kept and all that were "
            "dropped for it."
        )
        yield scrolling(picture(bins))
    groups = duplicates["largest_groups"][:SHOWN_GROUPS]
    rows: list[Row] = [
        [place, group["documents"], group["texts"], group.get("kept"), group.get("pairs")]
        for place, group in enumerate(groups, 1)
    ]
    if rows:
        yield paragraph(
            "The largest groups, all that hangs together by pairs that may be alike: in a group "
            "several documents may stay, each with a cluster of its own."
        )
        yield scrolling(table(["group", "documents", "different texts", "kept", "pairs"], rows))
    yield from (article(place, group) for place, group in enumerate(groups, 1))


def size_in_words(bin: dict[str, int]) -> str:
    least, most = f"{bin['least']:,}", f"{bin['most']:,}"
    return least if least == most else f"{least} to {most}"


def picture(bins: Sequence[dict[str, int]]) -> str:
    """A line for every size, with a bar of clusters and one of documents."""
    pieces = [
        svg.text(LEFT - 10, TOP - 14, "documents each", "end", 'class="small"'),
        svg.text(LEFT, TOP - 14, "clusters", "start", 'class="small"'),
        svg.text(MIDDLE, TOP - 14, "documents in them", "start", 'class="small"'),
    ]
    for what, left, colour in (("clusters", LEFT, svg.DARK), ("documents", MIDDLE, "#c9a66b")):
        most = max(bin[what] for bin in bins)
        for place, bin in enumerate(bins):
            y, wide = TOP + place * STEP, LONGEST * bin[what] / most
            pieces.append(svg.rectangle(left, y, wide, BAR, f'class="{what}" fill="{colour}"'))
            pieces.append(svg.text(left + wide + 6, y + 13, f"{bin[what]:,}", "start"))
    for place, bin in enumerate(bins):
        pieces.append(svg.text(LEFT - 10, TOP + place * STEP + 13, size_in_words(bin), "end"))
    return svg.image(WIDTH, TOP + len(bins) * STEP + 10, pieces)


def article(place: int, group: dict[str, Any]) -> str:
    """How a pair of the group begins, and what both have; as far as the run has kept it."""
    first = group["sample"][0]
    alike = "" if first["similarity"] is None else f", similarity {first['similarity']:g}"
    said = (
        f"Group {place}: {first['id']} was dropped for {first['winner']} ({first['stage']}{alike})"
    )
    if any(group["starts"]):
        pair = zip((first["id"], first["winner"]), group["starts"], strict=True)
        texts = [quoted(f"Document {id} begins", text) for id, text in pair]
        texts.append(quoted("Both have", group["shared"][:SHOWN_CHARS]))
    else:
        texts = [paragraph("Their texts are equal, and so none is kept here.")]
    texts.append(paragraph(f"More: corpusmill why {first['id']}"))
    told = f"<details><summary>{escape(said)}</summary>\n{''.join(texts)}</details>"
    return f"<article>{told}</article>\n"


def quoted(name: str, text: str) -> str:
    return f"<h3>{escape(name)}</h3>\n<pre>{escape(text)}</pre>\n" if text else ""
