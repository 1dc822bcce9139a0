"""Stop the run if it would remove too much as duplicates; show the evidence."""

import logging
from pathlib import Path
from typing import Any

from corpusmill.mill.account.accounts import added
from corpusmill.mill.dedup.guard import duplicates_of, refuse_too_many, refuse_unequal
from corpusmill.mill.storage.files import load_listing, save_json
from corpusmill.run.job import run


def guard(
    assigned: list[Path],
    resolved: list[Path],
    limits: dict[str, Any],
    policies: dict[str, str],
    report: Path,
) -> None:
    """assigned, resolved: the counts of all parts and the reports of all bins.

    limits: keyword arguments of `refuse_too_many`. policies: `duplicates` of each source.
    """
    parts, bins = load_listing(assigned), load_listing(resolved)
    refuse_unequal(parts, bins)
    sources = added([part["by_source"] for part in parts])
    found = duplicates_of(parts, bins, sources, policies)
    refuse_too_many(bins, sources, **limits)
    save_json(report, found)
    logging.info("duplicates by stage: %s", found["dropped"])


if __name__ == "__main__":
    run(guard)
