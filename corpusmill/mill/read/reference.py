"""Write the table of input formats in docs/reference/formats.md from what the formats declare.

Run `python -m corpusmill.mill.read.reference`.
"""

from pathlib import Path

from corpusmill.messages.tables import with_rows
from corpusmill.mill.read.readers import formats

HEADING = "| ending | content | expected bytes of text per byte of the file |\n|---|---|---|\n"
PAGE = Path(__file__).parents[3] / "docs/reference/formats.md"


def page(written: str) -> str:
    """Return the page with the table of the formats as they are declared now."""
    rows = [
        f"| `{one.ending}` | {one.content} | {one.text_per_byte:g} |\n"
        for one in formats().values()
    ]
    return with_rows(written, HEADING, rows)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
