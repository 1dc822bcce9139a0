"""The copies of documents in train that a mixture chooses."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from qa.oracle.document import Document, Outcome
from qa.oracle.fate import fraction, keyed_hash
from qa.oracle.strict_json import decode_string

NONE = "none"
Name = tuple[str, ...]


def stages_of(config: dict) -> list[dict]:
    """The stages, or train as the only one; none without a mixture."""
    if config["stages"]:
        return config["stages"]
    mixture = config["mixture"]
    return [{"name": "train"}] if mixture["budget"] is not None or mixture["copies"] else []


def members_of_mixtures(config: dict) -> list[str]:
    """Record members that divide the documents of train or a stage."""
    axes = [by for stage in stages_of(config) for by in (config["mixture"] | stage)["by"]]
    return sorted({by["member"] for by in axes if isinstance(by, dict) and "member" in by})


def unit_of(settings: dict) -> str:
    return next(iter(settings["budget"] or {"bytes": None}))


def counts_tokens(config: dict) -> bool:
    return any(unit_of(config["mixture"] | one) == "tokens" for one in stages_of(config))


def budget_of(settings: dict) -> int | None:
    budget = settings["budget"]
    return None if budget is None else next(iter(budget.values()))


def exact(number: float) -> Fraction:
    return Fraction(str(number))


def told(by) -> dict:
    return {"value": by} if isinstance(by, str) else by


def member_value(name: str, document: Document) -> str | None:
    """A record member as text; None if it is null or missing."""
    found = next((one for one in document.members if one.name == name), None)
    raw = "null" if found is None else found.raw
    if raw == "null":
        return None
    if raw.startswith('"'):
        return decode_string(raw)
    return {"{": "{}", "[": "[]"}.get(raw[0], raw)


def member_name(name: str, document: Document) -> str:
    """The name that a record member gives a document."""
    value = member_value(name, document)
    return NONE if value is None else value


class Mixer:
    """A mixture over the documents of a run."""

    def __init__(self, outcome: Outcome, stage: dict, left: list[Document]) -> None:
        """stage: its keys; those of train have the name train. left: the candidates."""
        self.outcome, self.config = outcome, outcome.config
        own = {name: value for name, value in stage.items() if name in outcome.config["mixture"]}
        self.settings = outcome.config["mixture"] | own
        name = stage["name"]
        purpose = "sample" if name == "train" else f"sample {name}"
        weights = {one["name"]: one.get("weight", 1) for one in self.config["sources"]}
        self.weights = {name: weights[name] for name in outcome.sources()}
        self.candidates = left
        self.dropped_for = Counter(d.winner for d in outcome.documents() if d.winner is not None)
        seed = stage.get("seed", self.config["shuffle"]["seed"])
        self.draw = {d.id: Fraction(fraction(keyed_hash(seed, purpose, d.id)))
                     for d in self.candidates}  # fmt: skip
        self.size = {d.id: self.size_of(d) for d in self.candidates}
        self.axes = [self.axis(told(by)) for by in self.settings["by"]]
        self.factor = self.factors()

    def size_of(self, document: Document) -> int:
        unit = unit_of(self.settings)
        if unit == "tokens":
            return len(self.outcome.tokens.ids(document.text)) + 1
        return document.text_bytes if unit == "bytes" else 1

    def value(self, name: str, document: Document):
        if name == "duplicates":
            return 1 + self.dropped_for[document.id]
        return {"text_bytes": document.text_bytes, "chars": len(document.cleaned)}[name]

    def at_shares(self, value: Callable, shares: list[Fraction]) -> list:
        ordered = sorted(one for d in self.candidates if (one := value(d)) is not None)
        return [ordered[min(math.floor(q * len(ordered)), len(ordered) - 1)] for q in shares
                if ordered]  # fmt: skip

    def axis(self, by: dict) -> tuple[Callable, list[str]]:
        """The name of a document along an axis, and all names in order."""
        if by.get("value") == "source":
            return (lambda d: d.source), sorted(self.weights)
        if "groups" in by:
            of = {name: group for group, names in by["groups"].items() for name in names}
            return (lambda d: of[d.source]), sorted({of[one] for one in self.weights})
        if "member" in by:
            found = {member_name(by["member"], d) for d in self.candidates} - {NONE}
            return (lambda d: member_name(by["member"], d)), [*sorted(found), NONE]
        name = by["value"]
        if "quantiles" in by:
            count = by["quantiles"]
            shares = [Fraction(k, count) for k in range(1, count)]
            limits = self.at_shares(lambda d: self.value(name, d), shares)
            names = [f"q{k}" for k in range(1, count + 1)]
            return (lambda d: names[sum(one <= self.value(name, d) for one in limits)]), names
        if "bins" in by:
            edges = by["bins"]
            texts = [f"{edge:g}" if edge != int(edge) else str(int(edge)) for edge in edges]
            between = [f"{a}-{b}" for a, b in pairwise(texts)]
            names = [f"<{texts[0]}", *between, f">={texts[-1]}"]
            return (lambda d: names[sum(one <= self.value(name, d) for one in edges)]), names
        names = sorted({str(self.value(name, d)) for d in self.candidates})
        return (lambda d: str(self.value(name, d))), names

    def factors(self) -> dict[int, float]:
        found = {d.id: float(self.weights[d.source]) for d in self.candidates}
        for curve in self.settings["copies"]:
            steps = curve.get("curve", curve.get("quantiles"))
            limits = list(steps)
            if "quantiles" in curve:
                limits = self.at_shares(
                    lambda d, by=curve["by"]: self.value(by, d), [exact(one) for one in steps]
                )
            for d in self.candidates:
                place = sum(limit <= self.value(curve["by"], d) for limit in limits)
                found[d.id] *= float(list(steps.values())[max(place - 1, 0)])
        return found

    def cell(self, document: Document) -> Name:
        return tuple(name(document) for name, _ in self.axes)

    def cells(self) -> dict[Name, list[Document]]:
        found = defaultdict(list)
        for document in self.candidates:
            found[self.cell(document)].append(document)
        order = [{name: k for k, name in enumerate(names)} for _, names in self.axes]

        def place(cell: Name) -> list[int]:
            return [of[name] for of, name in zip(order, cell, strict=True)]

        return {cell: found[cell] for cell in sorted(found, key=place)}

    def level(self, document: Document, copy: int) -> float:
        """The least level at which the document has so many copies and one more."""
        factor, most, draw = self.factor[document.id], self.settings["max"], self.draw[document.id]

        def has(level: float) -> bool:
            return copy + draw < Fraction(min(level * factor, float(most)))

        low, high = 0.0, math.nextafter(2.0 * most / factor, math.inf)
        while math.nextafter(low, math.inf) < high:
            middle = low + (high - low) / 2
            low, high = (low, middle) if has(middle) else (middle, high)
        return high

    def max_epochs(self, cell: Name) -> float | None:
        """The maximum of a cell, whatever happens if it is too small."""
        given = self.settings["max_epochs"]
        if not isinstance(given, dict):
            return given
        of_first = {str(name): most for name, most in given.get("cells", {}).items()}
        return of_first[cell[0]] if cell[0] in of_first else given.get("each")

    def refuse_epochs(self, budget: int) -> None:
        """Refuse a maximum of a cell that cannot be, and a budget above the maximum of all."""
        given = self.settings["max_epochs"]
        if not isinstance(given, dict):
            return
        first = told(self.settings["by"][0])
        may_lack = "groups" not in first and first.get("value") != "source"
        known = {*self.axes[0][1], *([NONE] if may_lack else [])}
        if unknown := {str(name) for name in given.get("cells", {})} - known:
            raise ValueError(f"mixture: no document is in {unknown}")
        usable = sum(self.size[d.id] for d in self.candidates if self.factor[d.id])
        is_limited = "all" in given and self.settings["on_shortage"] != "repeat"
        if is_limited and budget > exact(given["all"]) * usable:
            raise ValueError(f"mixture: too little in all cells, {usable}")

    def limit(self, documents: list[Document], max_epochs: float | None) -> int:
        most = self.settings["max"]
        full = sum(self.size[d.id] * most for d in documents if self.factor[d.id])
        if max_epochs is None:
            return full
        return min(full, math.floor(exact(max_epochs) * sum(self.size[d.id] for d in documents)))

    def mass(self, documents: list[Document]) -> Fraction:
        return sum((self.size[d.id] * Fraction(self.factor[d.id]) for d in documents), Fraction(0))

    def wanted(self, cells: dict[Name, list[Document]], budget: int) -> dict[Name, Fraction]:
        """Shares by the first names of cells."""
        shares = self.settings["shares"]
        if isinstance(shares, dict) and "temperature" not in shares:
            flat = flattened(shares)
            return {names: share / sum(flat.values()) for names, share in flat.items()}
        of_first = defaultdict(list)
        for cell, documents in cells.items():
            of_first[cell[:1]].append(documents)
        mass = {one: sum(map(self.mass, lists)) for one, lists in of_first.items()}
        if shares == "unimax":
            room = {
                one: sum(self.limit(documents, self.max_epochs(one)) for documents in lists)
                for one, lists in of_first.items()
            }
            left, found = Fraction(budget), {}
            for place, one in enumerate(sorted(room, key=lambda one: (room[one], one))):
                found[one] = min(left / (len(room) - place), Fraction(room[one]))
                left -= found[one]
            return {one: part / budget for one, part in found.items()}
        if isinstance(shares, dict):
            largest = max(mass.values(), default=1) or 1
            mass = {
                one: Fraction(round(float(its / largest) ** float(shares["temperature"]), 12))
                if its else Fraction(0)
                for one, its in mass.items()
            }  # fmt: skip
        total = sum(mass.values()) or 1
        return {one: Fraction(its) / total for one, its in mass.items()}

    def copies(self) -> dict[int, int]:
        """Copies by document id; raises ValueError if the run has to be refused."""
        budget = budget_of(self.settings)
        found = {d.id: 0 for d in self.candidates}
        cells = self.cells()
        self.refuse_missing(cells)
        if budget is None:
            for d in self.candidates:
                if self.factor[d.id]:
                    levels = (self.level(d, k) for k in range(self.settings["max"]))
                    found[d.id] = sum(one <= 1 for one in levels)
            return found
        self.refuse_epochs(budget)
        targets, groups = self.targets(cells, budget)
        reached, waiting = {}, []
        for place, (cell, documents) in enumerate(cells.items()):
            events = sorted(
                (self.level(d, k), d.id)
                for d in documents
                if self.factor[d.id]
                for k in range(self.settings["max"])
            )
            reached[cell] = 0
            for _, id_ in events:
                size = self.size[id_]
                if reached[cell] + size > targets[cell][0]:
                    if reached[cell] + size <= targets[cell][1]:
                        lacks = (targets[cell][0] - reached[cell]) / size
                        waiting.append((-lacks, place, cell, id_))
                    break
                reached[cell] += size
                found[id_] += 1
        self.hand_out(waiting, targets, groups, reached, found, budget)
        return found

    def hand_out(self, waiting, targets, groups, reached, found, budget) -> None:
        rest, served = [], set()
        lacks: dict = defaultdict(Fraction)
        for cell, (target, _) in targets.items():
            lacks[groups[cell]] += target - reached[cell]
        for _, _, cell, id_ in sorted(waiting):
            size = self.size[id_]
            if size <= lacks[groups[cell]]:
                lacks[groups[cell]] -= size
                reached[cell] += size
                found[id_] += 1
            else:
                rest.append((cell, id_))
        for cell, id_ in rest:
            if groups[cell] in served or sum(reached.values()) + self.size[id_] > budget:
                continue
            served.add(groups[cell])
            reached[cell] += self.size[id_]
            found[id_] += 1

    def refuse_missing(self, cells: dict) -> None:
        for place, by in enumerate(map(told, self.settings["by"])):
            if by.get("missing") == "fail" and any(cell[place] == NONE for cell in cells):
                raise ValueError("mixture: documents without a value")

    def targets(self, cells: dict, budget: int) -> tuple[dict, dict]:
        """(target, limit) of each cell, and its group."""
        wanted = self.wanted(cells, budget)
        shares, groups = dict.fromkeys(cells, Fraction(0)), dict.fromkeys(cells)
        for names, share in wanted.items():
            inside = [cell for cell in cells if cell[: len(names)] == names]
            if share and not inside and isinstance(self.settings["shares"], dict):
                raise ValueError(f"mixture: no document is in the cell {names}")
            mass = sum(self.mass(cells[cell]) for cell in inside)
            for cell in inside:
                groups[cell] = names
                if mass:
                    shares[cell] = share * self.mass(cells[cell]) / mass
        repeats = self.settings["on_shortage"] == "repeat"
        limits = {
            cell: self.limit(documents, None if repeats else self.max_epochs(cell))
            for cell, documents in cells.items()
        }
        sizes = {cell: share * budget for cell, share in shares.items()}
        if self.settings["on_shortage"] == "rescale":
            sizes = rescaled(sizes, limits)
        if short := [cell for cell in cells if sizes[cell] > limits[cell]]:
            raise ValueError(f"mixture: too little in {short}")
        return {cell: (sizes[cell], limits[cell]) for cell in cells}, groups


def flattened(shares: dict, before: Name = ()) -> dict[Name, Fraction]:
    found = {}
    for name, share in shares.items():
        names = (*before, str(name))
        found |= flattened(share, names) if isinstance(share, dict) else {names: exact(share)}
    return found


def rescaled(sizes: dict, limits: dict) -> dict:
    found, full = dict(sizes), set()
    while new := {cell for cell in found if found[cell] > limits[cell]} - full:
        full |= new
        others = sum(size for cell, size in sizes.items() if cell not in full)
        if not others:
            break
        more = sum(sizes.values()) - sum(limits[cell] for cell in full)
        for cell in found:
            found[cell] = Fraction(limits[cell]) if cell in full else sizes[cell] * more / others
    return found


def mix(outcome: Outcome) -> None:
    """Choose the copies of train or its stages; the rest is left over."""
    stages = stages_of(outcome.config)
    candidates = [d for d in outcome.documents() if d.split == "train" and d.fate == "kept"]
    if not stages:
        return
    for document in candidates:
        document.copies_in = {}
    outcome.mixture = {}
    for stage in stages:
        excluded = stage.get("exclude", [])
        left = [d for d in candidates if not any(d.copies_in[one] for one in excluded)]
        mixer = Mixer(outcome, stage, left)
        try:
            copies = mixer.copies()
        except ValueError as error:
            outcome.refused = str(error)
            return
        for document in candidates:
            document.copies_in[stage["name"]] = copies.get(document.id, 0)
        outcome.mixture[stage["name"]] = account(mixer, copies)
        for cell, documents in mixer.cells().items():
            for document in documents:
                document.cells_in[stage["name"]] = cell
    for document in candidates:
        document.copies = sum(document.copies_in.values())
        if not document.copies:
            document.fate = "left_over"


def account(mixer: Mixer, copies: dict[int, int]) -> dict[Name, dict]:
    return {
        cell: {
            "documents": len(documents),
            "size": sum(mixer.size[d.id] for d in documents),
            "reached": sum(mixer.size[d.id] * copies[d.id] for d in documents),
            "documents_by_copies": dict(Counter(str(copies[d.id]) for d in documents)),
        }
        for cell, documents in mixer.cells().items()
    }
