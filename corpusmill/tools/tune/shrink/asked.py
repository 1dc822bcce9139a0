"""The mixtures of which proxies are wanted, from config files or a table of ratios."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from corpusmill.mill.decide.mixture import Mixture
from corpusmill.mill.decide.shares import (
    nested,
    rows_of_table,
    share_faults,
    shares_of_row,
)
from corpusmill.mill.storage.untrusted import whole_file
from corpusmill.run.config import Config
from corpusmill.run.mixture_config import MOST_TABLE_BYTES
from corpusmill.tools.tune.mixture.mixtures import with_mixture_of

MOST_MIXTURES = 100_000


def mixtures_of_files(
    config: Config, files: Sequence[Path], target: int | None
) -> dict[str, Mixture]:
    """Return the mixture of each config file, by its name without ending. target: the tokens of
    those without a budget."""
    found: dict[str, Mixture] = {}
    for file in files:
        if file.stem in found:
            raise ValueError(f"{file}: expected files of different names. Rename one.")
        read = with_mixture_of(config, [file])
        found[file.stem] = single(read, str(file), target)
    return found


def mixtures_of_table(
    config: Config, files: Sequence[Path], table: Path, target: int | None
) -> dict[str, Mixture]:
    """Return a mixture per row of a table of ratios, by its run. files: at most one config file
    with all other keys of the mixtures; none: those of the run."""
    if len(files) > 1:
        raise ValueError("--ratios: expected at most one --try, with the other keys. Name one.")
    read = with_mixture_of(config, files) if files else config
    plain = dataclasses.replace(read.mixture, shares="proportional")
    given = single(dataclasses.replace(read, mixture=plain), str(table), target)
    rows = rows_of_table(whole_file(table, MOST_TABLE_BYTES).decode("utf-8", "replace"))
    if not 0 < len(rows) <= MOST_MIXTURES:
        raise ValueError(f"{table}: expected 1 to {MOST_MIXTURES:,} rows, found {len(rows):,}.")
    found: dict[str, Mixture] = {}
    for place, row in enumerate(rows):
        name = row.get("run") or row.get("run_id") or row.get("name") or str(place)
        if name in found:
            raise ValueError(f"{table}: expected different runs, found {name!r:.100} twice.")
        shares = shares_of_row(row, table)
        if faults := share_faults(shares, read.mixture.normalize):
            raise ValueError(f"{table}: run {name!r:.100}: {faults[0]}")
        found[name] = given._replace(shares=nested(shares))
    return found


def single(config: Config, where: str, target: int | None) -> Mixture:
    """Return the only mixture of a configuration, with a budget in tokens."""
    if config.stages:
        raise ValueError(
            f"{where}: expected one mixture, found stages. Write each stage as a mixture of its "
            "own."
        )
    budget = config.mixture.budget
    if target is None and budget.size is not None and budget.unit != "tokens":
        raise ValueError(
            f"{where}: expected a budget in tokens, found {budget.unit}. Give --target-tokens."
        )
    size = target or budget.size
    if size is None:
        raise ValueError(
            f"{where}: expected mixture.budget, the tokens of the target, found none. Give it, or "
            "--target-tokens."
        )
    mixture = config.mixture.settings(config)
    return mixture._replace(unit="tokens", budget=size)
