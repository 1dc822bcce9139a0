"""Compare counts that two steps made independently, before a run counts as successful.

`ledger` and `verify` check counts within a single part or shard.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from corpusmill.mill.account.accounts import balanced_account, by_split, whole
from corpusmill.mill.account.mixture_account import Mixed, copies_in
from corpusmill.mill.decide.fates import (
    DUPLICATE,
    LEFT_OVER,
    MALFORMED,
    dropping_fates,
    uncompared_fates,
)
from corpusmill.mill.dedup.policy_names import against_policy
from corpusmill.mill.storage.files import load_json, load_listing
from corpusmill.mill.storage.plain_pickles import plain_values
from corpusmill.mill.storage.sums import checked_bytes

Told = Iterator[tuple[str, int, int]]
"""Yields the name of a count, and its values from two steps."""


def source_numbers(
    account: dict[str, Counter], admitted: dict, duplicates: dict, filters: list[str]
) -> Told:
    """Yield counts per source, of the ledger and of earlier steps."""
    for source in sorted(set(account) | set(admitted) | set(duplicates["sources"])):
        figures = account.get(source, Counter())
        read = Counter(admitted.get(source, {}))
        seen = Counter(duplicates["sources"].get(source, {}))
        rejected = sum(figures[fate] for fate in uncompared_fates(filters))
        yield f"records of {source}", figures["documents"], read["records"]
        yield f"malformed records of {source}", figures[MALFORMED], read[MALFORMED]
        yield f"text bytes of {source}", figures["text_bytes"], read["text_bytes"]
        yield (
            f"documents of {source} to compare",
            (figures["documents"] - rejected),
            seen["documents"],
        )
        yield f"duplicates of {source}", figures[DUPLICATE], seen["duplicates"]
        if guarded := duplicates["sources"].get(source):
            refused = against_policy(guarded["policy"], guarded["stages"])
            yield f"duplicates of {source} against its policy", 0, refused


def filtered_numbers(account: dict[str, Counter], allowed: dict, filters: list[str]) -> Told:
    """Yield counts per source, of the ledger and of the filters."""
    for source in sorted(set(account) | set(allowed)):
        figures = account.get(source, Counter())
        seen = allowed.get(source, {"documents": 0, "dropped": {}})
        documents = figures["documents"] - figures[MALFORMED]
        yield f"documents of {source} to filter", documents, seen["documents"]
        for fate in sorted({*filters, *seen["dropped"]}):
            yield f"{fate} of {source}", figures[fate], seen["dropped"].get(fate, 0)


def shard_numbers(shards: list[Path], totals: dict[str, int]) -> Told:
    """Yield counts of token shards. shards: their facts; totals: tokens per split in meta.pkl."""
    found = dict.fromkeys(totals, 0)
    for file in shards:
        facts = load_json(file)
        for figure in ("documents", "tokens"):
            by_source = sum(count[figure] for count in facts["by_source"].values())
            yield f"{figure} of {file}", facts[figure], by_source
        found[file.parent.name] = found.get(file.parent.name, 0) + facts["tokens"]
    for split, total in found.items():
        yield f"tokens of {split}", totals.get(split, 0), total


def whole_numbers(account: dict[str, Counter], duplicates: dict, scattered: list[dict]) -> Told:
    total = whole(account)
    yield "duplicates by stage", total[DUPLICATE], sum(duplicates["dropped"].values())
    copies = sum(part["documents"] for part in scattered)
    yield "copies that were scattered", total["copies"], copies
    yield "copies of all splits", total["copies"], sum(by_split(total, "copies").values())


def mixture_numbers(account: dict[str, Counter], mixed: Mixed, tokens: dict[str, int]) -> Told:
    """Yield counts of the mixture, of the ledger and of the shards. tokens: by split."""
    total = whole(account)
    if mixed.accounts:
        yield "documents left over by the mixture", total[LEFT_OVER], mixed.left_over
    for split, mixture in mixed.accounts.items():
        cells, unit = mixture["cells"], mixture["unit"]
        for cell in cells:
            name = f"the cell {':'.join(cell['cell'])} of {split}"
            yield f"{unit} of {name}", cell["reached"], cell["counted"]
            used = sum(cell["documents_by_copies"].values())
            yield f"documents of {name}", cell["documents"], used
        copies, size = sum(map(copies_in, cells)), sum(cell["reached"] for cell in cells)
        yield f"copies of the mixture in {split}", total[f"{split}_copies"], copies
        of_shards = {"tokens": tokens.get(split, 0), "documents": total[f"{split}_copies"]}
        if unit in of_shards:
            yield f"{unit} of the mixture in {split}", size, of_shards[unit]


class Facts(NamedTuple):
    """The files with counts of the run."""

    accounts: list[Path]
    text_facts: list[Path]
    facts: list[Path]
    admitted: Path
    allowed: Path
    duplicates: Path
    scattered: list[Path]
    meta: Path


def contradictions(
    account: dict[str, Counter], numbers: Facts, filters: list[str], mixed: Mixed
) -> list[str]:
    """Return one line per pair of counts that disagree; none in a good run.

    account: of every source. filters: their fates. mixed: from `mixture_accounts`.
    """
    guarded = load_json(numbers.duplicates)
    totals = plain_values(checked_bytes(numbers.meta), numbers.meta)["total_tokens"]
    told = [
        *source_numbers(account, load_json(numbers.admitted), guarded, filters),
        *filtered_numbers(account, load_json(numbers.allowed), filters),
        *shard_numbers(numbers.facts, totals),
        *whole_numbers(account, guarded, load_listing(numbers.scattered)),
        *mixture_numbers(account, mixed, totals),
    ]
    return [f"{what}: {one} and {other}" for what, one, other in told if one != other]


def checked_account(numbers: Facts, filters: list[str], mixed: Mixed) -> dict[str, Counter]:
    """Return the account of every source; raise ValueError if counts disagree."""
    account = balanced_account(
        numbers.accounts, numbers.text_facts, numbers.facts, dropping_fates(filters)
    )
    if faults := contradictions(account, numbers, filters, mixed):
        raise ValueError("counts disagree:\n" + "\n".join(faults))
    return account
