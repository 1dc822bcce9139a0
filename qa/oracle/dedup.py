"""Pairs of documents that are alike, and which of them are kept.

A unit is what is compared: all documents with one text, or, with method `sketch`, a document.
Documents with different values of dedup.within know nothing of one another.
"""

from collections import defaultdict
from dataclasses import dataclass, field
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


def compares_texts(document: Document, config: dict) -> bool:
    """Whether it is looked for documents with the same text."""
    has_exact = any(source.get("duplicates") == "exact" for source in config["sources"])
    return (
        config["dedup"]["method"] != "sketch"
        or has_exact
        or (document.filter_fate == "kept" and not has_shingle(document.sketch))
    )


def is_banded(document: Document, config: dict) -> bool:
    """Whether it has band keys."""
    method = config["dedup"]["method"]
    if document.policy != "near" or not document.takes_part or method == "exact":
        return False
    return has_shingle(document.sketch) or (method == "sketch" and document.filter_fate != "kept")


def units_of(documents: list[Document], config: dict) -> list[Unit]:
    """Documents that are one text, best unit first."""
    together: dict[object, list[Document]] = defaultdict(list)
    for document in documents:
        by_text = compares_texts(document, config)
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
        if is_banded(unit.best, config):
            for band, values in enumerate(bands_of(unit.best.sketch, bands, rows)):
                groups[band, values].append(place)
    return [groups[key] for key in sorted(groups) if len(groups[key]) > 1]


def band_edges(documents: list[Document], config: dict) -> list[tuple[int, int]]:
    """Method `sketch`: in every group of every band all are paired with the one of the least id.
    Ids of documents, and a pair as often as it shares bands."""
    alone = [Unit([document]) for document in documents]
    edges = []
    for group in band_groups(alone, config):
        least, *others = sorted(alone[place].least_id for place in group)
        edges += [(least, other) for other in others]
    return edges


def among_units(units: list[Unit], edges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same by places of the units, without those within one."""
    place_of = {d.id: place for place, unit in enumerate(units) for d in unit.documents}
    both = [tuple(sorted((place_of[one], place_of[other]))) for one, other in edges]
    return [(one, other) for one, other in both if one != other]


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
    pairs: set[tuple[int, int, int]] = field(default_factory=set)  # two ids, equal values
    edges: int = 0  # pairs of different texts; with `sketch` counted in every band
    measured: int = 0
    largest_group: int = 0  # units that hang together by pairs


def resolve(documents: list[Document], config: dict) -> Resolution:
    """Give every document that is like a better one its winner, similarity and stage."""
    whole = Resolution()
    together: dict[str | None, list[Document]] = defaultdict(list)
    for document in documents:
        if document.takes_part and document.policy != "none":
            together[document.value].append(document)
    for group in together.values():
        resolve_group(group, config, whole)
    members = defaultdict(set)
    for document in documents:
        if document.winner is not None:
            members[document.winner].add(document.source)
    for document in documents:
        document.cluster_sources = len({document.source, *members[document.id]})
    return whole


def resolve_group(documents: list[Document], config: dict, whole: Resolution) -> None:
    """The same for documents that are all compared, and add what was found to `whole`."""
    method = config["dedup"]["method"]
    near = [document for document in documents if document.policy == "near"]
    exact = units_of([d for d in documents if d.policy == "exact"], config)
    units = units_of(near, config)
    if method == "verified":
        pairs = similar_enough_pairs(units, config)
        whole.edges += len(pairs)
        whole.pairs |= {
            (*sorted((units[a].least_id, units[b].least_id)), n) for (a, b), n in pairs.items()
        }
    else:
        shared = band_edges(near, config) if method == "sketch" else []
        edges = among_units(units, shared)
        pairs = dict.fromkeys(edges, SHARED_BAND)
        whole.edges += len(edges)
        whole.pairs |= {(*pair, SHARED_BAND) for pair in shared}
    twins = twins_of(units, exact, config)
    outranked = {near for near, twin in twins.items() if twin.best.order < units[near].best.order}
    left = {pair: n for pair, n in pairs.items() if not outranked & set(pair)}
    similarity = Similarity(units, left, config)
    by_kept = config["dedup"]["resolve"] == "kept"
    dropped = (winners_kept if by_kept else winners_component)(similarity)
    whole.measured += similarity.measured
    for unit in exact:
        drop_others(unit, units, None)
    for place, unit in enumerate(units):
        drop_others(unit, units, dropped.get(place))
        if place in outranked:
            drop_as_identical(unit.documents, twins[place].best)
        elif place in twins and place not in dropped:
            drop_as_identical(twins[place].documents, unit.best)
    largest = max(map(len, components(len(units), set(pairs))), default=0)
    whole.largest_group = max(whole.largest_group, largest)
    whole.pairs |= equal_pairs([d for d in documents if compares_texts(d, config)])


def twins_of(units: list[Unit], exact: list[Unit], config: dict) -> dict[int, Unit]:
    """Place of a unit -> that of documents with the same text that are compared by it alone."""
    of_text = {unit.best.digest: unit for unit in exact}
    return {
        place: of_text[unit.best.digest]
        for place, unit in enumerate(units)
        if compares_texts(unit.best, config) and unit.best.digest in of_text
    }


def drop_others(unit: Unit, units: list[Unit], dropped: tuple | None) -> None:
    """Write down whom the documents of a unit are dropped for; of a kept one all but the best."""
    if dropped:
        winner, stage, likeness = dropped
        for document in unit.documents:
            document.winner = units[winner].best.id
            document.stage, document.similarity = stage, likeness
    else:
        drop_as_identical(unit.documents[1:], unit.best)


def drop_as_identical(documents: list[Document], best: Document) -> None:
    for document in documents:
        document.winner, document.stage, document.similarity = best.id, "identical", 1.0


def equal_pairs(documents: list[Document]) -> set[tuple[int, int, int]]:
    """Of documents with one text the one of the least id with each other one."""
    together: dict[bytes, list[int]] = defaultdict(list)
    for document in documents:
        together[document.digest].append(document.id)
    return {
        (min(ids), id_, EQUAL_TEXTS) for ids in together.values() for id_ in ids if id_ != min(ids)
    }
