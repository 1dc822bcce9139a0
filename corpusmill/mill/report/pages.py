"""HTML pages that stand alone, and tables in them and as CSV.

Pages, because Snakemake's report shows neither CSV nor text, and of a tall picture not the top.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
body { font: 14px sans-serif; color: #222; background: #fff; margin: 24px }
p { max-width: 900px }
svg { max-width: 100%; height: auto }
pre { font-size: 12px; overflow-x: auto }
table { border-collapse: collapse; margin: 20px 0 }
th, td { padding: 3px 18px 3px 0; border-bottom: 1px solid #e4e4e4; text-align: left }
td:first-child { overflow-wrap: anywhere; min-width: 6em }
.number { text-align: right }
"""

NUMBER = re.compile(r"(-?[\d,]+(\.\d+)?(e[-+]?\d+)?( %)?)?|nan|-?inf")

Row = Sequence[str | int | float | None]


def page(title: str, *pieces: str, head: str = "") -> str:
    """pieces: HTML; `paragraph` and `table` make it of text. head: more of it for the head."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n{head}</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{''.join(pieces)}</body>\n</html>\n"
    )


def paragraph(words: str) -> str:
    return f"<p>{escape(words)}</p>\n"


def scrolling(html: str) -> str:
    """What is too wide for a phone moves by itself."""
    return f'<div class="wide" tabindex="0">{html}</div>\n' if html else ""


def table(heading: Sequence[str], rows: Sequence[Row]) -> str:
    """Nothing if it has no rows. Names of columns may be those of code, `text_bytes`: they are
    looked for as they are."""
    if not rows:
        return ""
    texts = [any(is_words(row[place]) for row in rows) for place in range(len(heading))]
    lines = [_line("th", heading, texts), *(_line("td", row, texts) for row in rows)]
    return f"<table>\n{''.join(lines)}</table>\n"


def is_words(value: str | int | float | None) -> bool:
    """Whether it is a text that is no number: `1,300` and `4.56 %` are such."""
    return isinstance(value, str) and not NUMBER.fullmatch(value)


def _line(kind: str, row: Row, texts: list[bool]) -> str:
    """texts: of every column, whether it has texts; others are numbers."""
    classes = ["" if is_text else ' class="number"' for is_text in texts]
    cells = [
        f"<{kind}{its}>{escape(_words(value))}</{kind}>"
        for value, its in zip(row, classes, strict=True)
    ]
    return f"<tr>{''.join(cells)}</tr>\n"


def _words(value: str | int | float | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def as_csv(heading: Sequence[str], rows: Iterable[Row]) -> str:
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(rows)
    return lines.getvalue()


def shortened(name: str, longest: int) -> str:
    """Names of so many characters at most; of a longer one its beginning and its end."""
    if len(name) <= longest:
        return name
    end = longest // 2
    return f"{name[: longest - end - 1]}…{name[-end:]}"
