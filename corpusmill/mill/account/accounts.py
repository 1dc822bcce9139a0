"""The account of a run: documents read, dropped by fate, and kept."""

from collections import Counter
from pathlib import Path

from corpusmill.messages.text_tables import aligned
from corpusmill.mill.decide.fates import KEPT, MALFORMED, SPLITS
from corpusmill.mill.storage.files import load_json

LOSS_SUMS = ("characters", "lost_characters", "unknown_tokens", "documents_without_token")
"""Figures of each token shard per source, in addition to documents and tokens; see losses.py."""


FIGURES = {
    "documents", "text_bytes", "copies", "cut_spans", "written", "source", "tokens", *LOSS_SUMS,
}  # fmt: skip
"""Names in an account or its table that are figures, not fates."""


def is_figure(name: str) -> bool:
    """Say whether a name is a figure of accounts, and so cannot be a fate."""
    return name in FIGURES or name.endswith(("_bytes", "_copies", "_tokens")) or name in SPLITS


def added(accounts: list[dict]) -> dict[str, Counter]:
    """Sum accounts {source: {figure: number}} by source."""
    total: dict[str, Counter] = {}
    for account in accounts:
        for source, figures in account.items():
            total.setdefault(source, Counter()).update(figures)
    return total


def by_split(figures: Counter, what: str) -> dict[str, int]:
    """Return the copies or tokens of each split. what: `copies` or `tokens`."""
    ending = f"_{what}"
    return {
        name.removesuffix(ending): number
        for name, number in figures.items()
        if name.endswith(ending) and name not in LOSS_SUMS
    }


def whole(account: dict[str, Counter]) -> Counter:
    """Return the account of all sources together."""
    total: Counter = Counter()
    for figures in account.values():
        total.update(figures)
    return total


def imbalances(account: dict[str, Counter], name: str, fates: list[str]) -> list[str]:
    """Return a fault where documents in != kept + dropped, or bytes in != kept + dropped + cut.

    fates: all that drop a document, here and below.
    """
    faults = []
    for source, figures in account.items():
        out = figures[KEPT] + sum(figures[reason] for reason in fates)
        if figures["documents"] != out:
            faults.append(
                f"{name}, source {source}: {figures['documents']} documents in, "
                f"{figures[KEPT]} kept + {out - figures[KEPT]} dropped"
            )
        dropped = sum(figures[f"{reason}_bytes"] for reason in fates)
        if figures["text_bytes"] != figures[f"{KEPT}_bytes"] + dropped + figures["cut_bytes"]:
            faults.append(
                f"{name}, source {source}: {figures['text_bytes']} bytes in, "
                f"{figures[f'{KEPT}_bytes']} kept + {dropped} dropped + {figures['cut_bytes']} cut"
            )
    return faults


def shard_imbalances(account: dict[str, Counter], shards: list[Path], what: str) -> list[str]:
    """Return a fault where shards do not hold exactly the copies that were decided.

    shards: the facts of every shard; the folder is its split.
    """
    found: Counter = Counter()
    for file in shards:
        for source, figures in load_json(file)["by_source"].items():
            found[source, file.parent.name] += figures["documents"]
    expected = {
        (source, split): copies
        for source, figures in account.items()
        for split, copies in by_split(figures, "copies").items()
    }
    return [
        f"{what}, source {source}, {split}: {found[source, split]} documents, "
        f"expected {expected.get((source, split), 0)}"
        for source, split in sorted(set(found) | set(expected))
        if found[source, split] != expected.get((source, split), 0)
    ]


def balanced_account(
    parts: list[Path], texts: list[Path], tokens: list[Path], fates: list[str]
) -> dict[str, Counter]:
    """Return the account of every source; raise ValueError if it does not balance.

    parts: accounts of the ledger; texts, tokens: the facts of every shard.
    """
    account = added([load_json(file) for file in parts])
    faults = [
        *imbalances(account, "all parts", fates),
        *imbalances({"all": whole(account)}, "all sources", fates),
        *shard_imbalances(account, texts, "text shards"),
        *shard_imbalances(account, tokens, "token shards"),
    ]
    if faults:
        raise ValueError("the account does not balance:\n" + "\n".join(faults))
    for file in texts:
        for source, figures in load_json(file)["by_source"].items():
            account[source]["written_bytes"] += figures["text_bytes"]
    for file in tokens:
        for source, figures in load_json(file)["by_source"].items():
            account[source][f"{file.parent.name}_tokens"] += figures["tokens"]
            account[source].update({name: figures[name] for name in LOSS_SUMS})
    return account


def funnel(account: Counter, fates: list[str], splits: list[str]) -> dict:
    """Return an account in the form of summary.json. splits: those that may have shards."""
    return {
        "documents": {
            "in": account["documents"],
            KEPT: account[KEPT],
            "dropped": {fate: account[fate] for fate in fates},
            "written": account["copies"],
        },
        "bytes": {
            "in": account["text_bytes"],
            KEPT: account[f"{KEPT}_bytes"],
            "dropped": {fate: account[f"{fate}_bytes"] for fate in fates if fate != MALFORMED},
            **({"cut": account["cut_bytes"]} if "cut_bytes" in account else {}),
            "written": account["written_bytes"],
        },
        "tokens": {split: account[f"{split}_tokens"] for split in splits},
        "tokenization": tokenization(account),
    }


def tokenization(account: Counter) -> dict:
    """Return a source's losses in tokens; end-of-text tokens do not count."""
    of_text = sum(by_split(account, "tokens").values()) - account["copies"]
    lost = account["lost_characters"] / max(account["characters"], 1)
    return {name: account[name] for name in LOSS_SUMS} | {
        "lost_fraction": round(lost, 6),
        "unknown_fraction": round(account["unknown_tokens"] / max(of_text, 1), 6),
    }


def losses_in_words(by_source: dict[str, Counter]) -> list[str]:
    """Return one line per source that lost something in its tokens."""
    return [
        f"WARNING: source {name}: {figures['lost_characters']:,} of {figures['characters']:,} "
        f"characters are lost in tokenization ({tokenization(figures)['lost_fraction']:.4%}), "
        f"{figures['unknown_tokens']:,} tokens are unknown, "
        f"{figures['documents_without_token']:,} documents have no tokens"
        for name, figures in by_source.items()
        if any(figures[figure] for figure in LOSS_SUMS[1:])
    ]


def table(by_source: dict[str, Counter], fates: list[str]) -> str:
    """Format the funnel: one line per source, one column per stage.

    To fit most terminals, fates without documents are listed below, and `written` appears only if
    it differs from `kept`.
    """
    total = whole(by_source)
    met = [fate for fate in fates if total[fate]]
    copied = any(account["copies"] != account[KEPT] for account in by_source.values())
    written = ["written"] if copied else []
    columns = ["source", "documents", *met, KEPT, *written, "MB in", "MB out", "tokens"]
    rows = [columns]
    for name, account in [*by_source.items(), ("total", total)]:
        tokens = sum(by_split(account, "tokens").values())
        rows.append(
            [name, f"{account['documents']:,}"]
            + [f"{account[fate]:,}" for fate in met]
            + [f"{account[KEPT]:,}", *(f"{account['copies']:,}" for _ in written)]
            + [f"{account['text_bytes'] / 1e6:,.2f}", f"{account['written_bytes'] / 1e6:,.2f}"]
            + [f"{tokens:,}"]
        )
    lines = aligned(rows).splitlines()
    rule = "-" * len(lines[0])
    absent = (
        [f"none {', '.join(fate for fate in fates if not total[fate])}"] if met != fates else []
    )
    return "\n".join([lines[0], rule, *lines[1:-1], rule, lines[-1], *absent])
