"""The target of each cell: its share of the budget, within what its documents can give."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from corpusmill.messages.near_names import near_names
from corpusmill.mill.decide.mixture import MaxEpochs, Mixture, as_fraction

PROPORTIONAL, UNIMAX, TEMPERATURE = "proportional", "unimax", "temperature"
FILE, RUN = "file", "run"
TOLERANCE = Fraction(1, 100_000)
"""How far given shares may be from 1 in total."""
OTHER_COLUMNS = ("", "run", "run_id", "name", "index")
PLACES = 12
"""Decimal places of computed powers, so that all machines get the same shares."""

Names = tuple[str, ...]
"""Name of a cell along each axis."""


class Supply(NamedTuple):
    """What a cell has."""

    names: Names
    documents: int
    size: int
    mass: Fraction
    """Sizes times factors."""
    capacity: int
    """Size if every document has the maximum number of copies."""


def given_shares(shares: Mapping[str, Any], before: Names = ()) -> dict[Names, Fraction]:
    """Return the shares in the configuration, by the first names of their cells."""
    found: dict[Names, Fraction] = {}
    for name, share in shares.items():
        names = (*before, str(name))
        if isinstance(share, Mapping):
            found |= given_shares(share, names)
        else:
            found[names] = as_fraction(share)
    return found


def first_shares(shares: Any) -> dict[str, Fraction] | None:
    """Return given shares of cells along the first axis, divided by their sum; None if they are
    computed from the documents."""
    if not isinstance(shares, Mapping) or set(shares) == {TEMPERATURE}:
        return None
    given = given_shares(shares)
    total = sum(given.values())
    found: dict[str, Fraction] = {}
    for names, share in given.items():
        found[names[0]] = found.get(names[0], Fraction(0)) + share / total
    return found


def shares_of_table(text: str, run: str | None, where: object) -> dict[Names, Fraction]:
    """Return the shares in a row of a table of ratios, as Olmix writes them: a column per cell,
    named `source` or `source:topic`, beside those in OTHER_COLUMNS. run: the row, if several."""
    rows = rows_of_table(text)
    if run is not None:
        rows = [row for row in rows if run in (row.get("run"), row.get("run_id"))]
    if len(rows) != 1:
        which = "rows" if run is None else f"rows of run {run}"
        raise ValueError(
            f"{where}: expected one row, found {len(rows)} {which}. Name one as `run`."
        )
    return shares_of_row(rows[0], where)


def rows_of_table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def shares_of_row(row: Mapping[str, str], where: object) -> dict[Names, Fraction]:
    """Return the shares in a row of a table of ratios."""
    found: dict[Names, Fraction] = {}
    for column, written in row.items():
        if column in OTHER_COLUMNS:
            continue
        try:
            share = Fraction(written or "0")
        except (TypeError, ValueError, ZeroDivisionError):
            share = Fraction(-1)
        if share < 0 or not column:
            raise ValueError(
                f"{where}: expected a number of 0 or more in the column {column}, found "
                f"{written!r}. Correct it."
            )
        found[tuple(column.split(":"))] = share
    return found


def table_of_shares(shares: Mapping[str, Mapping[Names, float]]) -> str:
    """Return a table that `shares_of_table` reads. shares: of the cells, by run."""
    cells = list(dict.fromkeys(names for of_run in shares.values() for names in of_run))
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(["run", *(":".join(names) for names in cells)])
    for run, of_run in shares.items():
        table.writerow([run, *(repr(of_run.get(names, 0.0)) for names in cells)])
    return written.getvalue()


def nested(shares: Mapping[Names, Fraction]) -> dict[str, Any]:
    """Return shares as in the configuration. The opposite of `given_shares`."""
    found: dict[str, Any] = {}
    for names, share in shares.items():
        inside = found
        for name in names[:-1]:
            inside = inside.setdefault(name, {})
            if not isinstance(inside, dict):
                raise ValueError(f"{':'.join(names)} is inside a cell that has a share itself.")
        if names[-1] in inside:
            raise ValueError(f"{':'.join(names)} has a share, and a cell inside it too.")
        inside[names[-1]] = float(share)
    return found


def share_faults(shares: Mapping[Names, Fraction], normalize: bool) -> list[str]:
    """Return a sentence per fault of given shares."""
    total = sum(shares.values())
    if total == 0:
        return ["no share is above 0. Raise one."]
    if not normalize and abs(total - 1) > TOLERANCE:
        return [
            f"the shares add up to {float(total):.6g}, not to 1. Correct them, or set "
            "mixture.normalize to true, so that they are proportions."
        ]
    return []


def unknown_faults(given: Iterable[Names], cells: Sequence[Names]) -> list[str]:
    """Return a sentence per given cell that does not exist. given: the first names of cells."""
    faults = []
    for names in given:
        if any(cell[: len(names)] == names for cell in cells):
            continue
        known = sorted({":".join(cell[: len(names)]) for cell in cells})
        near = near_names(":".join(names), known)
        meant = f" Did you mean {near[0]}?" if near else ""
        faults.append(f"no document is in the cell {':'.join(names)}.{meant}")
    return faults


def shares_of_cells(
    given: Any, supplies: Sequence[Supply], budget: int, max_epochs: MaxEpochs
) -> tuple[list[Fraction], list[int]]:
    """Return the share of each cell, and the number of the share that it belongs to. The shares
    add up to 1, unless cells of given shares are empty.

    given: null, `proportional`, `unimax`, {temperature: number}, or {cell: share}. It is about
    cells along the first axes; within them shares are in proportion to the masses.
    """
    if isinstance(given, Mapping) and set(given) != {TEMPERATURE}:
        wanted = given_shares(given)
        total = sum(wanted.values())
        wanted = {names: share / total for names, share in wanted.items()}
    else:
        wanted = _computed(given, supplies, budget, max_epochs)
    found, groups = [Fraction(0)] * len(supplies), [len(wanted)] * len(supplies)
    places: dict[Names, list[int]] = {}
    for k, one in enumerate(supplies):
        for length in range(1, len(one.names) + 1):
            places.setdefault(one.names[:length], []).append(k)
    for number, (names, share) in enumerate(wanted.items()):
        inside = places.get(names, [])
        mass = sum(supplies[k].mass for k in inside)
        for k in inside:
            groups[k] = number
            if mass:
                found[k] = share * supplies[k].mass / mass
    return found, groups


def _computed(
    given: Any, supplies: Sequence[Supply], budget: int, max_epochs: MaxEpochs
) -> dict[Names, Fraction]:
    """Return shares of cells along the first axis."""
    mass: dict[Names, Fraction] = {}
    room: dict[Names, Fraction] = {}
    for one in supplies:
        first = one.names[:1]
        mass[first] = mass.get(first, Fraction(0)) + one.mass
        room[first] = room.get(first, Fraction(0)) + limit_of(one, max_epochs.of_cell(one.names))
    if given == UNIMAX:
        left, shares = Fraction(budget), {}
        for place, first in enumerate(sorted(room, key=lambda one: (room[one], one))):
            shares[first] = min(left / (len(room) - place), room[first])
            left -= shares[first]
        return {first: share / budget for first, share in shares.items()}
    if isinstance(given, Mapping):
        power = float(given[TEMPERATURE])
        largest = max(mass.values(), default=Fraction(1)) or Fraction(1)
        mass = {
            first: Fraction(round(float(one / largest) ** power, PLACES)) if one else Fraction(0)
            for first, one in mass.items()
        }
    total = sum(mass.values()) or Fraction(1)
    return {first: one / total for first, one in mass.items()}


def limit_of(supply: Supply, max_epochs: float | None) -> int:
    """Return the maximum size of a cell. max_epochs: of this cell."""
    if max_epochs is None:
        return supply.capacity
    return min(supply.capacity, int(as_fraction(max_epochs) * supply.size))


class Targets(NamedTuple):
    """What each cell shall have."""

    shares: list[Fraction]
    """As wanted."""
    sizes: list[Fraction]
    limits: np.ndarray
    """int64: the maximum size of each cell."""


def targets_of(shares: list[Fraction], supplies: Sequence[Supply], mixture: Mixture) -> Targets:
    """Return the targets; raise ValueError with a sentence per cell that has too little, and one if
    all cells together have."""
    budget, repeats = mixture.budget or 0, mixture.on_shortage == "repeat"
    maxima = [None if repeats else mixture.max_epochs.of_cell(one.names) for one in supplies]
    limits = [limit_of(one, most) for one, most in zip(supplies, maxima, strict=True)]
    sizes = [share * budget for share in shares]
    if mixture.on_shortage == "rescale":
        sizes = rescaled(sizes, limits)
    told, largest = [], []
    for place, supply in enumerate(supplies):
        if sizes[place] > limits[place]:
            told.append(_shortage(supply, shares[place], sizes[place], limits[place], mixture))
            largest.append(limits[place] / shares[place])
    if told and mixture.on_shortage == "rescale":  # then all cells with a share are full
        largest = [Fraction(sum(most for most, s in zip(limits, shares, strict=True) if s))]
    if mixture.max_epochs.all is not None and not repeats:
        usable = sum(one.capacity for one in supplies) // mixture.most
        limit = int(as_fraction(mixture.max_epochs.all) * usable)
        if budget > limit:
            told.append(_shortage_of_all(usable, limit, mixture))
            largest.append(Fraction(limit))
    if told:
        raise ValueError(
            "\n".join(told)
            + f"\nmixture.budget: {int(min(largest)):,} {mixture.unit} is the largest budget that "
            "these cells allow. Lower the budget or the shares, raise max_epochs or max, or set "
            "on_shortage."
        )
    return Targets(shares, sizes, np.array(limits, np.int64))


def rescaled(sizes: list[Fraction], limits: list[int]) -> list[Fraction]:
    """Return sizes within the limits: what cells lack goes to the others, in proportion."""
    found = list(sizes)
    full: set[int] = set()
    while lacking := {k for k, size in enumerate(found) if size > limits[k] and k not in full}:
        full |= lacking
        fixed = sum(limits[k] for k in full)
        others = sum(size for k, size in enumerate(sizes) if k not in full)
        if not others:
            break
        grown = (sum(sizes) - fixed) / others
        found = [Fraction(limits[k]) if k in full else size * grown for k, size in enumerate(sizes)]
    return found


def _shortage(supply: Supply, share: Fraction, size: Fraction, limit: int, mixture: Mixture) -> str:
    epochs = f", {float(size / supply.size):.3g} epochs" if supply.size else ""
    maximum = mixture.max_epochs.of_cell(supply.names)
    has_maximum = maximum is not None and mixture.on_shortage != "repeat"
    bound = f"max_epochs ({maximum:g}) and max allow" if has_maximum else "max allows"
    return (
        f"mixture: the cell {':'.join(supply.names)} has {supply.documents:,} documents with "
        f"{supply.size:,} {mixture.unit}; its share of {float(share):.4g} needs {int(size):,}"
        f"{epochs}, but {bound} {limit:,}."
    )


def _shortage_of_all(usable: int, limit: int, mixture: Mixture) -> str:
    budget, unit = mixture.budget or 0, mixture.unit
    epochs = f", {budget / usable:.3g} epochs" if usable else ""
    return (
        f"mixture: the documents that may be used have {usable:,} {unit}; the budget needs "
        f"{budget:,}{epochs}, but max_epochs.all ({mixture.max_epochs.all:g}) allows {limit:,}."
    )
