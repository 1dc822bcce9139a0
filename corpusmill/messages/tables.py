"""Tables of Markdown pages that are generated from declarations."""

from collections.abc import Iterable


def with_rows(page: str, heading: str, rows: Iterable[str]) -> str:
    """Return a page with other rows in its table that has this heading."""
    before, found, table_and_rest = page.partition(heading)
    if not found:
        raise ValueError(f"the page has no table with the heading {heading.splitlines()[0]}")
    return "".join([before, heading, *rows, "\n", table_and_rest.partition("\n\n")[2]])
