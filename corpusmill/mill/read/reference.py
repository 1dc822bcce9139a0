"""Write the table of input formats in docs/reference/formats.md from what the formats declare.

Run `python -m corpusmill.mill.read.reference`.
"""

from pathlib import Path

from corpusmill.mill.read.readers import formats

HEADING = "| ending | content | expected bytes of text per byte of the file |\n|---|---|---|\n"
PAGE = Path(__file__).parents[3] / "docs/reference/formats.md"


def page(written: str) -> str:
    """Return the page with the table of the formats as they are declared now."""
    before, _, table_and_rest = written.partition(HEADING)
    rows = [
        f"| `{one.ending}` | {one.content} | {one.text_per_byte:g} |\n"
        for one in formats().values()
    ]
    return "".join([before, HEADING, *rows, "\n", table_and_rest.partition("\n\n")[2]])


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
