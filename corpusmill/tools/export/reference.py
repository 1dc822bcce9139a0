"""Write the table of docs/how-to/export.md from what the formats declare.

Run `python -m corpusmill.tools.export.reference`.
"""

from pathlib import Path

from corpusmill.messages.tables import with_rows
from corpusmill.tools.export.exporting import format_of, known_formats

HEADING = "| format | unit | ids | files |\n|---|---|---|---|\n"
PAGE = Path(__file__).parents[3] / "docs/how-to/export.md"


def row(name: str) -> str:
    declared = format_of(name)
    unit = "samples" if declared.samples else "documents"
    package = f"; needs `pip install {declared.needs}`" if declared.needs else ""
    return f"| `{name}` | {unit} | {declared.ids} | {declared.files}{package} |\n"


def page(written: str) -> str:
    """Return the page with the table of the formats as they are declared now."""
    return with_rows(written, HEADING, map(row, known_formats()))


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
