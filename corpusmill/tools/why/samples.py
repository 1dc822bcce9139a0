"""An evenly spaced sample of the ledger, of some fates and sources."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from corpusmill.mill.decide.fates import KEPT, dropping_fates
from corpusmill.mill.storage.untrusted import load_plain_json
from corpusmill.tools.why.facts import Facts
from corpusmill.tools.why.ledger import Ledger
from corpusmill.tools.why.parquet_rows import has_one_of
from corpusmill.tools.why.results import Results


class Wanted(NamedTuple):
    """The records to list, by fates and sources. Empty lists mean all."""

    dropped: bool
    """All fates except `kept`."""
    fates: Sequence[str]
    sources: Sequence[str]
    most: int


def known_fates(results: Results) -> list[str]:
    filters = [filter.name for filter in results.config.filters]
    return [KEPT, *dropping_fates(filters)]


def meant_fates(results: Results, wanted: Wanted) -> list[str]:
    fates = list(wanted.fates) or known_fates(results)
    return [fate for fate in fates if not (wanted.dropped and fate == KEPT)]


def refuse_unknown(results: Results, wanted: Wanted) -> None:
    """Raise ValueError for a fate or source that the run does not know."""
    sources = [name for name, one in results.sources.items() if not one.held_out]
    for what, given, known in (
        ("fate", wanted.fates, known_fates(results)),
        ("source", wanted.sources, sources),
    ):
        if unknown := sorted(set(given) - set(known)):
            raise ValueError(f"there is no {what} {unknown[0]}; this run has {', '.join(known)}.")


def counts_of_parts(results: Results, wanted: Wanted) -> list[int]:
    """Return how many records of each part may match, by the accounts of the ledger."""
    counts = []
    for part in range(results.parts):
        account = load_plain_json(results.path("ledger/{}.json", part))
        counts.append(
            sum(
                figures.get(fate, 0)
                for source, figures in account.items()
                if not wanted.sources or source in wanted.sources
                for fate in meant_fates(results, wanted)
            )
        )
    return counts


def even_places(total: int, count: int) -> list[int]:
    """Return `count` evenly spaced numbers below `total`; all of them if there are fewer."""
    if total <= count:
        return list(range(total))
    return [(2 * k + 1) * total // (2 * count) for k in range(count)]


def sampled(results: Results, ledger: Ledger, wanted: Wanted) -> tuple[list[Facts], int]:
    """Return the sample in the order of the ledger, and the number of matching records."""
    refuse_unknown(results, wanted)
    counts = counts_of_parts(results, wanted)
    chosen = np.array(even_places(sum(counts), wanted.most), np.int64)
    found: list[Facts] = []
    for part, (start, stop) in enumerate(itertools.pairwise(np.cumsum([0, *counts]).tolist())):
        of_part = chosen[(chosen >= start) & (chosen < stop)] - start
        if of_part.size:
            places = places_of(ledger, part, meant_fates(results, wanted), wanted.sources)
            assert places.size == stop - start, (part, places.size, stop - start)
            rows = ledger.part(part).at(places[of_part])
            found += [Facts(results, ledger, row) for row in rows]
    return found, sum(counts)


def places_of(
    ledger: Ledger, part: int, fates: Sequence[str], sources: Sequence[str]
) -> np.ndarray:
    """Return int64: the rows with some fates and sources; no sources means all."""
    table = ledger.part(part).columns("fate", "source")
    here = np.ones(table.num_rows, bool)
    for name, values in (("fate", fates), ("source", sources)):
        if values or name == "fate":
            here &= has_one_of(table[name], values)
    return np.flatnonzero(here)
