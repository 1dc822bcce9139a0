"""The mixture as an HTML page."""

from typing import Any

from corpusmill.mill.account.mixture_account import Account, copies_in
from corpusmill.mill.report.pages import page

MOST_ROWS = 1000


def mixture_page(accounts: dict[str, Account]) -> str:
    """Return the page of train or all stages."""
    return page("mixture.html", stages=[facts_of(*one) for one in accounts.items()])


def facts_of(split: str, account: Account) -> dict[str, Any]:
    """Return what the page shows of a split; the cells with most of it come first."""
    cells = sorted(account["cells"], key=lambda cell: -cell["reached"])
    total = sum(cell["reached"] for cell in cells) or 1
    most_copies = max((int(n) for cell in cells for n in cell["documents_by_copies"]), default=0)
    rows = [
        {
            "names": cell["cell"],
            "documents": cell["documents"],
            "size": cell["size"],
            "wanted": cell["wanted"],
            "reached": cell["reached"],
            "share": cell["reached"] / total,
            "of_candidates": cell["size"] / (sum(one["size"] for one in cells) or 1),
            "epochs": cell["epochs"],
            "by_copies": [
                cell["documents_by_copies"].get(str(n), 0) for n in range(most_copies + 1)
            ],
            "copies": copies_in(cell),
        }
        for cell in cells[:MOST_ROWS]
    ]
    return {
        "split": split, "account": account, "rows": rows, "total": total,
        "most_copies": most_copies, "left_out": len(cells) - len(rows),
    }  # fmt: skip
