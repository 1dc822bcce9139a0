"""The account of a mixture: per cell, what was wanted and what train has."""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from corpusmill.messages.text_tables import aligned
from corpusmill.mill.decide.fates import TRAIN
from corpusmill.mill.storage.files import load_json

MOST_SHOWN = 40
"""Maximum number of cells in the text of a summary."""


class MixtureFiles(NamedTuple):
    """Reports of the mixture; empty lists without one."""

    compositions: list[Path]
    """One file for train, or one per stage, with its name."""
    mixed_counts: list[Path]
    """Counts of every block of parts."""


Account = dict[str, Any]
"""The account of a mixture, with a row per cell."""


class Mixed(NamedTuple):
    """The accounts of train or each stage; empty without a mixture."""

    accounts: dict[str, Account]
    left_over: int
    """Documents without a copy in any."""


def mixture_accounts(files: MixtureFiles) -> Mixed:
    blocks = [load_json(file) for file in files.mixed_counts]
    accounts = {
        path.stem: account_of_composition(
            load_json(path), [block["splits"][path.stem] for block in blocks]
        )
        for path in files.compositions
    }
    return Mixed(accounts, sum(block["left_over"] for block in blocks))


def account_of_composition(told: dict[str, Any], blocks: list[list[dict]]) -> Account:
    """Return the account. told: from `Composition.told`. blocks: counts of cells, per block."""
    rows = []
    for place, cell in enumerate(told["cells"]):
        documents: Counter = Counter()
        for block in blocks:
            documents.update(block[place]["documents"])
        rows.append(
            {
                "cell": cell["cell"],
                "documents": cell["documents"],
                "size": cell["size"],
                "share": cell["share"],
                "wanted": cell["wanted"],
                "reached": cell["reached"],
                "counted": sum(block[place]["size"] for block in blocks),
                "epochs": round(cell["reached"] / cell["size"], 4) if cell["size"] else 0,
                "documents_by_copies": dict(sorted(documents.items(), key=lambda one: int(one[0]))),
            }
        )
    return {name: told[name] for name in ("unit", "budget", "by")} | {"cells": rows}


def copies_in(cell: dict) -> int:
    """Return the number of copies in a row of the account."""
    return sum(int(n) * documents for n, documents in cell["documents_by_copies"].items())


def mixture_table(account: Account, split: str = TRAIN) -> list[str]:
    """Return lines about the cells, those with most of the split first."""
    unit, cells = account["unit"], account["cells"]
    total = sum(cell["reached"] for cell in cells) or 1
    head = [*account["by"], "documents", unit, "wanted", "share", "reached", "epochs", "unused"]
    rows = [head]
    shown = sorted(cells, key=lambda cell: -cell["reached"])[:MOST_SHOWN]
    for cell in shown:
        wanted = "" if cell["wanted"] is None else f"{cell['wanted']:,.0f}"
        rows.append(
            [*cell["cell"], f"{cell['documents']:,}", f"{cell['size']:,}", wanted,
             f"{cell['reached'] / total:.2%}", f"{cell['reached']:,}", f"{cell['epochs']:.2f}",
             f"{cell['documents_by_copies'].get('0', 0):,}"]
        )  # fmt: skip
    budget = f" of a budget of {account['budget']:,}" if account["budget"] else ""
    more = [f"and {len(cells) - len(shown):,} more cells"] * (len(cells) > len(shown))
    return [f"mixture: {total:,} {unit} in {split}{budget}", *aligned(rows).splitlines(), *more]
