"""`corpusmill mixture`: the mixture of a finished run, or a different one on its documents."""

from pathlib import Path

from corpusmill.messages.plain_text import json_text
from corpusmill.mill.account.mixture_account import mixture_table
from corpusmill.mill.decide.shares import table_of_shares
from corpusmill.mill.storage.files import replacing
from corpusmill.tools.tune.mixture.mixtures import as_json, mixture_of, tried
from corpusmill.tools.tune.mixture.page import mixture_page


def shown(
    results: Path, in_json: bool, configs: tuple[Path, ...], ratios: Path | None, page: Path | None
) -> str:
    """Return what the command prints, and write the files that were asked for."""
    account = tried(results, configs) if configs else mixture_of(results)
    total = sum(cell["reached"] for cell in account["cells"]) or 1
    shares = {tuple(cell["cell"]): cell["reached"] / total for cell in account["cells"]}
    if ratios is not None:
        write(ratios, table_of_shares(shares, results.resolve().parent.name or "run"))
    if page is not None:
        write(page, mixture_page(account))
    return json_text(as_json(account)) if in_json else "\n".join(mixture_table(account))


def write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, "utf-8")
