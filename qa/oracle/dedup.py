"""Pairs of documents that are alike, and which of them are kept.

A unit is what is compared: all documents with one text, or, with method `sketch`, a document.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import cache

from qa.oracle.document import Document
from qa.oracle.sketches import bands_and_rows, bands_of, has_shingle, least_and_enough
from qa.oracle.texts import jaccard, shingles

MOST_LIKE = 64
EQUAL_TEXTS = 65_535
SHARED_BAND = 65_534


@dataclass
class Unit:
    """Documents with the best one first."""

    documents: list[Document]

    @property
    def best(self) -> Document:
        return self.documents[0]

    @property
    def least_id(self) -> int:
        return min(document.id for document in self.documents)


def units_of(documents: list[Document], method: str) -> list[Unit]:
    """Documents that are one text, best unit first."""
    together: dict[object, list[Document]] = defaultdict(list)
    for document in documents:
        by_text = method != "sketch" or (
            document.filter_fate == "kept" and not has_shingle(document.sketch)
        )
        together[document.digest if by_text else document.id].append(document)
    found = [Unit(sorted(alike, key=lambda d: d.order)) for alike in together.values()]
    return sorted(found, key=lambda unit: unit.best.order)


def equal_values(one: Unit, other: Unit) -> int:
    return sum(a == b for a, b in zip(one.best.sketch, other.best.sketch, strict=True))


def band_groups(units: list[Unit], config: dict) -> list[list[int]]:
    """Places of the units that share a band, best first; band by band."""
    bands, rows = bands_and_rows(config)
    groups: dict[tuple, list[int]] = defaultdict(list)
    for place, unit in enumerate(units):
        dropped_by_filter = unit.best.filter_fate != "kept"
        if has_shingle(unit.best.sketch) or (
            config["dedup"]["method"] == "sketch" and dropped_by_filter
        ):
            for band, values in enumerate(bands_of(unit.best.sketch, bands, rows)):
                groups[band, values].append(place)
    return [groups[key] for key in sorted(groups) if len(groups[key]) > 1]


def band_edges(units: list[Unit], config: dict) -> list[tuple[int, int]]:
    """Method `sketch`: in every group of every band all are paired with the one of the least id."""
    edges = []
    for group in band_groups(units, config):
        least = min(group, key=lambda place: units[place].least_id)
        edges += [tuple(sorted((least, place))) for place in group if place != least]
    return edges


def similar_enough_pairs(units: list[Unit], config: dict) -> dict[tuple[int, int], int]:
    """Method `verified`: places (better, worse) of two units -> their equal sketch values."""
    least, _ = least_and_enough(config["minhash"]["permutations"], config["dedup"]["threshold"])
    seen: set[tuple[int, int]] = set()
    found = {}
    for group in band_groups(units, config):
        for k, worse in enumerate(group):
            matches = {better: equal_values(units[better], units[worse]) for better in group[:k]}
            alike = [better for better in group[:k] if matches[better] >= least]
            most_like = sorted(alike, key=lambda better: (-matches[better], better))[:MOST_LIKE]
            if group[0] in alike and group[0] not in most_like:
                most_like[-1] = group[0]
            fresh = [better for better in most_like if (better, worse) not in seen]
            found.update({(better, worse): matches[better] for better in fresh})
            seen.update((better, worse) for better in group[:k])
    return found


class Similarity:
    """Whether two units of a pair are similar: (stage, similarity), or None."""

    def __init__(self, units: list[Unit], pairs: dict[tuple[int, int], int], config: dict):
        self.units, self.pairs, self.dedup = units, pairs, config["dedup"]
        self.permutations = config["minhash"]["permutations"]
        self.width = config["minhash"]["shingle_chars"]
        self.shingles = cache(lambda place: shingles(units[place].best.cleaned, self.width))
        self.measured = 0

    def of(self, better: int, worse: int) -> tuple[str, float | None] | None:
        matches = self.pairs[better, worse]
        if matches == SHARED_BAND:
            return "band", None
        _, enough = least_and_enough(self.permutations, self.dedup["threshold"])
        if matches >= enough:
            return "sketch", matches / self.permutations
        self.measured += 1
        measured = jaccard(self.shingles(better), self.shingles(worse))
        return ("shingles", measured) if measured >= self.dedup["threshold"] else None


def components(count: int, pairs: set[tuple[int, int]]) -> list[list[int]]:
    """Places that hang together, each component in ascending order."""
    neighbours = defaultdict(list)
    for one, other in pairs:
        neighbours[one].append(other)
        neighbours[other].append(one)
    seen: set[int] = set()
    found = []
    for place in range(count):
        if place in seen:
            continue
        component, waiting = [], [place]
        seen.add(place)
        while waiting:
            component.append(waiting.pop())
            fresh = [other for other in neighbours[component[-1]] if other not in seen]
            seen.update(fresh)
            waiting += fresh
        found.append(sorted(component))
    return found


def winners_kept(similarity: Similarity) -> dict[int, tuple[int, str, float | None]]:
    """Dropped unit -> (winner, stage, similarity): each for the best kept one that it is like."""
    better_ones = defaultdict(list)
    for better, worse in sorted(similarity.pairs):
        better_ones[worse].append(better)
    dropped = {}
    for place in range(len(similarity.units)):
        for better in better_ones[place]:
            if better not in dropped and (found := similarity.of(better, place)):
                dropped[place] = (better, *found)
                break
    return dropped


def winners_component(similarity: Similarity) -> dict[int, tuple[int, str, float | None]]:
    alike = {pair: found for pair in similarity.pairs if (found := similarity.of(*pair))}
    dropped = {}
    for best, *others in components(len(similarity.units), set(alike)):
        for place in others:
            dropped[place] = (best, *alike.get((best, place), ("chain", None)))
    return dropped


@dataclass
class Resolution:
    pairs: dict[tuple[int, int], int]  # ids of the least documents -> equal values
    edges: int  # pairs of different texts; with `sketch` counted in every band
    measured: int
    largest_group: int  # units that hang together by pairs


def resolve(documents: list[Document], config: dict) -> Resolution:
    """Give every document that is like a better one its winner, similarity and stage."""
    method = config["dedup"]["method"]
    units = units_of([d for d in documents if d.takes_part], method)
    edges: list[tuple[int, int]] | dict[tuple[int, int], int] = []
    if method == "verified":
        edges = pairs = similar_enough_pairs(units, config)
    else:
        edges = band_edges(units, config) if method == "sketch" else []
        pairs = dict.fromkeys(edges, SHARED_BAND)
    similarity = Similarity(units, pairs, config)
    by_kept = config["dedup"]["resolve"] == "kept"
    dropped = (winners_kept if by_kept else winners_component)(similarity)
    for place, unit in enumerate(units):
        drop_others(unit, units, dropped.get(place))
    largest = max(map(len, components(len(units), set(pairs))), default=0)
    return Resolution(pairs_by_id(units, pairs), len(edges), similarity.measured, largest)


def drop_others(unit: Unit, units: list[Unit], dropped: tuple | None) -> None:
    """Write down whom the documents of a unit are dropped for; of a kept one all but the best."""
    if dropped:
        winner, stage, likeness = dropped
        for document in unit.documents:
            document.winner = units[winner].best.id
            document.stage, document.similarity = stage, likeness
    else:
        for document in unit.documents[1:]:
            document.winner, document.stage, document.similarity = unit.best.id, "identical", 1.0


def pairs_by_id(units: list[Unit], pairs: dict[tuple[int, int], int]) -> dict:
    """The pairs by the least ids of their units, and those of equal texts."""
    told = {}
    for (one, other), matches in pairs.items():
        told[tuple(sorted((units[one].least_id, units[other].least_id)))] = matches
    for unit in units:
        for document in unit.documents:
            if document.id != unit.least_id:
                told[unit.least_id, document.id] = EQUAL_TEXTS
    return told
