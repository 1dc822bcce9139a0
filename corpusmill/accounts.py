"""The account of every document: what came in, what was dropped for which reason, what is left."""

from collections import Counter

from corpusmill.fates import DROPPED, SPLITS


def added(accounts: list[dict]) -> dict[str, Counter]:
    """Accounts {source: {figure: number}} summed source by source."""
    total: dict[str, Counter] = {}
    for account in accounts:
        for source, figures in account.items():
            total.setdefault(source, Counter()).update(figures)
    return total


def imbalances(account: dict[str, Counter], name: str) -> list[str]:
    """Where documents in are not kept + dropped, in words."""
    faults = []
    for source, figures in account.items():
        out = figures["kept"] + sum(figures[reason] for reason in DROPPED)
        if figures["documents"] != out:
            faults.append(
                f"{name}, source {source}: {figures['documents']} documents in, "
                f"{figures['kept']} kept + {out - figures['kept']} dropped"
            )
    return faults


def shard_imbalances(account: dict[str, Counter], shards: dict[str, Counter], what: str):
    """Where the shards do not hold just the copies that were decided on, in words."""
    faults = []
    for source in sorted(set(account) | set(shards)):
        expected = account.get(source, Counter())["copies"]
        found = shards.get(source, Counter())["documents"]
        if expected != found:
            faults.append(f"{what}, source {source}: {found} documents, expected {expected}")
    return faults


def funnel(account: Counter) -> dict:
    """One source's account as summary.json shows it."""
    return {
        "documents": {
            "in": account["documents"],
            "kept": account["kept"],
            "dropped": {reason: account[reason] for reason in DROPPED},
            "written": account["copies"],
        },
        "bytes": {
            "in": account["text_bytes"],
            "kept": account["kept_bytes"],
            "dropped": {
                reason: account[f"{reason}_bytes"] for reason in DROPPED if reason != "malformed"
            },
            "written": account["written_bytes"],
        },
        "tokens": {split: account[f"{split}_tokens"] for split in SPLITS},
    }


def table(by_source: dict[str, Counter]) -> str:
    """The funnel for a person: one line per source, one column per stage."""
    columns = ["source", "documents", *DROPPED, "kept", "written", "MB in", "MB out", "tokens"]
    total: Counter = Counter()
    for account in by_source.values():
        total.update(account)
    rows = [columns]
    for name, account in [*by_source.items(), ("total", total)]:
        tokens = sum(account[f"{split}_tokens"] for split in SPLITS)
        rows.append(
            [name, f"{account['documents']:,}"]
            + [f"{account[reason]:,}" for reason in DROPPED]
            + [f"{account['kept']:,}", f"{account['copies']:,}"]
            + [f"{account['text_bytes'] / 1e6:,.2f}", f"{account['written_bytes'] / 1e6:,.2f}"]
            + [f"{tokens:,}"]
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(columns))]
    lines = [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    rule = "-" * len(lines[0])
    return "\n".join([lines[0], rule, *lines[1:-1], rule, lines[-1]])
