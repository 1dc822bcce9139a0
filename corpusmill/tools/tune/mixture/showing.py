"""`corpusmill mixture`: the mixture of a finished run, or a different one on its documents."""

from pathlib import Path

from corpusmill.messages.plain_text import json_text
from corpusmill.mill.account.mixture_account import Account, mixture_table
from corpusmill.mill.decide.shares import Names, table_of_shares
from corpusmill.mill.storage.files import replacing
from corpusmill.tools.tune.mixture.mixtures import as_json, mixtures_of, tried
from corpusmill.tools.tune.mixture.page import mixture_page


def shown(
    results: Path, in_json: bool, configs: tuple[Path, ...], ratios: Path | None, page: Path | None
) -> str:
    """Return what the command prints, and write the files that were asked for."""
    accounts = tried(results, configs) if configs else mixtures_of(results)
    if ratios is not None:
        write(ratios, table_of_shares({split: shares(one) for split, one in accounts.items()}))
    if page is not None:
        write(page, mixture_page(accounts))
    if in_json:
        return json_text(as_json(accounts))
    tables = ("\n".join(mixture_table(one, split)) for split, one in accounts.items())
    return "\n\n".join(tables)


def shares(account: Account) -> dict[Names, float]:
    """Return the reached share of each cell."""
    total = sum(cell["reached"] for cell in account["cells"]) or 1
    return {tuple(cell["cell"]): cell["reached"] / total for cell in account["cells"]}


def write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, "utf-8")
