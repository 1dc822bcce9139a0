"""Self-contained HTML pages, from the templates beside this module, and tables as CSV.

Pages, because Snakemake's report shows neither CSV nor text, and hides the top of a tall picture.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

NUMBER = re.compile(r"(-?[\d,]+(\.\d+)?(e[-+]?\d+)?( %)?)?|nan|-?inf")

Row = Sequence[str | int | float | None]

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True,
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
)  # fmt: skip


def page(template: str, **facts: Any) -> str:
    """Fill a template with facts. It escapes all except pictures, which are SVG."""
    return TEMPLATES.get_template(template).render(facts) + "\n"


def texts_of(rows: Sequence[Row]) -> list[bool]:
    """Say for each column whether it has text other than numbers like `1,300` or `4.56 %`."""
    return [
        any(isinstance(value, str) and not NUMBER.fullmatch(value) for value in column)
        for column in zip(*rows, strict=True)
    ]


def cell(value: str | int | float | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


TEMPLATES.filters.update(
    cell=cell, texts=texts_of, thousands="{:,}".format,
    megabytes=lambda number: f"{number / 1e6:,.1f}",
)  # fmt: skip


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def as_csv(heading: Sequence[str], rows: Iterable[Row]) -> str:
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(rows)
    return lines.getvalue()


def shortened(name: str, longest: int) -> str:
    """Return a name of at most so many characters; of a longer one the start and the end."""
    if len(name) <= longest:
        return name
    end = longest // 2
    return f"{name[: longest - end - 1]}…{name[-end:]}"
