"""`corpusmill prove`: chooses, rebuilds and compares parts and shards, and reports the outcome."""

import contextlib
import json
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from corpusmill.messages.plain_text import json_text
from corpusmill.mill.shuffle.targets import first_targets
from corpusmill.run.config import Config
from corpusmill.run.job_progress import phase
from corpusmill.tools.prove.packs_again import pack
from corpusmill.tools.prove.parts_again import ChangedError, PartAgain, equal
from corpusmill.tools.prove.run import Finished, opened, other_code, other_versions
from corpusmill.tools.prove.sample import evenly
from corpusmill.tools.prove.shards_again import columns, emitted, make, scatter, tokenizer
from corpusmill.tools.verify.reading import UNLIKE


def taken(run: Finished) -> list[str]:
    """Return what is not rebuilt, and where it was taken from."""
    cut = ["which spans occur first in another document: results/cut"] * run.layout.cuts_spans
    mixed = ["the copies of documents in train: results/ledger"] * run.layout.mixes
    arranged = run.layout.arranged_splits
    order = [f"the order of documents in {', '.join(arranged)}: results/placements"]
    packed = ["which tokens a packed document has: results/tokens"] * run.layout.packs
    return [
        "which documents are duplicates of which others: results/clusters",
        *cut,
        *mixed,
        *order * bool(arranged),
        "which train documents have a text that is held out elsewhere: results/ledger",
        "the tokenizer: results/tokenizer",
        *packed,
    ]


class Asked(NamedTuple):
    """The arguments of the command."""

    results: Path
    config: Config | None
    parts: int
    shards: int
    seed: int
    scratch: Path | None
    """Parent of the temporary folder."""


class Proven(NamedTuple):
    """A part, a shard or an index of packed rows that was rebuilt."""

    name: str
    documents: int
    equal: list[str]
    """Files that are equal, byte for byte."""
    differ: list[str]


class Outcome:
    """The outcome of a proof."""

    def __init__(self, run: Finished, seed: int, parts: list[int], shards: list[str]) -> None:
        self.run, self.findings = run, run.findings
        self.seed, self.parts, self.shards = seed, parts, shards
        self.of_parts: list[Proven] = []
        self.of_shards: list[Proven] = []
        self.of_packs: list[Proven] = []
        self.all_parts = len(run.layout.inputs.parts)
        self.all_shards = sum(run.shards.values())
        self.all_packs = len(run.shards) * len(run.config.output.pack)
        self.other_code = other_code(run)
        self.other_versions = other_versions(run.results)


def prove(asked: Asked) -> Outcome:
    """Rebuild a sample of a finished run. Raise NoCorpusError if that is not possible."""
    with tempfile.TemporaryDirectory(prefix="corpusmill-prove-", dir=asked.scratch) as folder:
        run = opened(asked.results, Path(folder) / "results", asked.config)
        parts, targets = chosen(run, asked)
        shards = [f"{split}/{shard:05d}" for split, shard in targets.values()]
        outcome = Outcome(run, asked.seed, parts, shards)
        with steps_say_nothing():
            prove_all(run, parts, targets, outcome)
            prove_packs(run, sorted({split for split, _ in targets.values()}), outcome)
    made = {one.name for one in (*outcome.of_parts, *outcome.of_shards)}
    left = sorted({*(f"{part:05d}" for part in parts), *shards} - made)
    if left and not outcome.findings.code:  # then nothing is proven
        outcome.findings.unseen(", ".join(left), "chosen, but not rebuilt")
    return outcome


def chosen(run: Finished, asked: Asked) -> tuple[list[int], dict[int, tuple[str, int]]]:
    """Return the chosen parts, and the split and number of each chosen shard by target."""
    key = run.config_digest
    of_source: dict[str, list[int]] = {}
    for part in run.layout.inputs.parts:
        for file in part.files:
            of_source.setdefault(file.source, []).append(part.number)
    first = first_targets(run.shards)
    of_split = {
        split: range(first[split], first[split] + count) for split, count in run.shards.items()
    }
    found = evenly(of_split, asked.shards, key, asked.seed)
    splits = {target: split for split, those in of_split.items() for target in those}
    targets = {target: (splits[target], target - first[splits[target]]) for target in found}
    return sorted(evenly(of_source, asked.parts, key, asked.seed)), dict(sorted(targets.items()))


@contextlib.contextmanager
def steps_say_nothing() -> Iterator[None]:
    """Silence the logs of steps. Without a handler, Python would print them."""
    nobody = logging.NullHandler()
    logging.getLogger().addHandler(nobody)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(nobody)


def prove_all(
    run: Finished, parts: list[int], targets: dict[int, tuple[str, int]], outcome: Outcome
) -> None:
    """Rebuild the parts, each with its documents for the chosen shards; then the shards."""
    scattered: list[Path] | None = [] if targets else None
    with phase("proving", len(run.layout.inputs.parts), "parts") as progress:
        for number in range(len(run.layout.inputs.parts)):
            again = PartAgain(run, number)
            try:
                prove_part(run, again, number in parts, list(targets), outcome, scattered)
            except ChangedError:
                scattered = None
            except FileNotFoundError as error:
                run.findings.unseen(f"part {again.name}", f"{error.filename} is missing")
                scattered = None
            except UNLIKE as error:
                run.findings.not_made(f"part {again.name}", error, again.files)
                scattered = None
            again.remove()
            progress.advance(1)
    if scattered is not None:
        prove_shards(run, targets, outcome, scattered)
    elif targets:
        why = "one of their parts could not be rebuilt"
        run.findings.unseen(f"shards {', '.join(outcome.shards)}", why)


def prove_shards(
    run: Finished,
    targets: dict[int, tuple[str, int]],
    outcome: Outcome,
    scattered: list[Path],
) -> None:
    """Rebuild the shards. scattered: from `scatter`, of all parts."""
    try:
        tokenizer(run)
        typed = columns(run)
    except ChangedError:
        run.findings.unseen(f"shards {', '.join(outcome.shards)}", "the tokenizer is damaged")
        return
    except UNLIKE as error:
        run.findings.not_made(f"shards {', '.join(outcome.shards)}", error, ["tokenizer/"])
        return
    with phase("proving", len(targets), "shards") as progress:
        for split, shard in targets.values():
            which = f"{split}/{shard:05d}"
            try:
                names = make(run, split, shard, scattered, typed)
                outcome.of_shards.append(compared(run, which, names, names[1]))
            except UNLIKE as error:
                run.findings.not_made(f"shard {which}", error, [f"placements/{which}.parquet"])
            progress.advance(1)


def prove_packs(run: Finished, splits: list[str], outcome: Outcome) -> None:
    """Pack the documents of the splits of chosen shards again."""
    packs = [(split, length) for split in splits for length in run.config.output.pack]
    with phase("proving", len(packs), "indexes of packed rows") as progress:
        for split, length in packs:
            which = f"{split}/pack-{length}"
            try:
                names = pack(run, split, length)
                outcome.of_packs.append(compared(run, which, names, names[2]))
            except ChangedError:
                run.findings.unseen(f"packed rows {which}", "an index of its shards is damaged")
            except UNLIKE as error:
                run.findings.not_made(f"packed rows {which}", error, [f"tokens/{split}/"])
            progress.advance(1)


def prove_part(
    run: Finished,
    again: PartAgain,
    whole: bool,
    targets: list[int],
    outcome: Outcome,
    scattered: list[Path] | None,
) -> None:
    """Rebuild a part. whole: compare all of it with the results. targets: of the chosen shards."""
    those = emitted(run, again.part, targets) if targets and scattered is not None else None
    if not whole and (those is None or not those.row.size):
        return
    again.texts()
    if whole:
        again.decisions()
        names = [*again.kept_files(), *again.left_files()]
        outcome.of_parts.append(compared(run, again.name, names, f"text/{again.name}.json"))
    if those is not None and those.row.size and scattered is not None:
        if those.row.max() >= again.documents:
            told = (
                f"has document {those.row.max()}, but the input files have only "
                f"{again.documents:,} documents"
            )
            run.findings.damage(f"ledger/{again.name}.parquet", told)
            raise ChangedError
        scattered.append(scatter(run, again, those))


def compared(run: Finished, name: str, files: list[str], counts: str) -> Proven:
    """Compare rebuilt files. counts: the rebuilt file with the number of documents."""
    documents = json.loads((run.scratch / counts).read_text("utf-8"))["documents"]
    known = [one for one in files if one not in run.listing.files or run.kept(one)]
    same = [one for one in known if equal(run, one)]
    return Proven(name, documents, same, [one for one in files if one not in same])


def in_words(outcome: Outcome) -> Iterator[str]:
    """Yield the lines for the terminal."""
    run = outcome.run
    yield f"manifest {run.listing.sha256}, configuration {run.config_digest}, seed {outcome.seed}"
    made = [("part", outcome.of_parts), ("shard", outcome.of_shards),
            ("packed rows", outcome.of_packs)]  # fmt: skip
    for what, found in made:
        for one in found:
            equals = (
                f"equal byte for byte: {', '.join(one.equal)}" if one.equal else "nothing equal"
            )
            yield f"{what} {one.name}, {one.documents:,} documents, {equals}"
    yield from outcome.findings.in_words("not rebuilt")
    if outcome.other_code:
        yield f"made by code that differs from this version: {', '.join(outcome.other_code)}"
    if outcome.other_versions:
        yield (
            "made with other package versions, which may write different bytes: "
            f"{outcome.other_versions}"
        )
    for taking in taken(run):
        yield f"not rebuilt but read from the results: {taking}"
    yield conclusion(outcome)


def conclusion(outcome: Outcome) -> str:
    parts = [one.documents for one in outcome.of_parts if not one.differ]
    shards = [one.documents for one in outcome.of_shards if not one.differ]
    packs = sum(not one.differ for one in outcome.of_packs)
    packed = f"; packed rows {packs} of {outcome.all_packs}" if outcome.all_packs else ""
    said = (
        f"parts {len(parts)} of {outcome.all_parts}: {sum(parts):,} documents rebuilt from their "
        f"input files, all kept files equal; shards {len(shards)} of {outcome.all_shards}: "
        f"{sum(shards):,} documents, bytes equal{packed}."
    )
    if outcome.findings.damages:
        return f"Not proven: something differs. Equal: {said}"
    return f"Not all proven: {said}" if outcome.findings.code else f"Proven: {said}"


def as_json(outcome: Outcome) -> str:
    findings, run = outcome.findings, outcome.run
    told = {
        "corpusmill.prove": 1,
        "manifest_sha256": run.listing.sha256,
        "config_digest": run.config_digest,
        "seed": outcome.seed,
        "parts": {
            "all": outcome.all_parts, "chosen": outcome.parts,
            "made_again": [one._asdict() for one in outcome.of_parts],
        },
        "shards": {
            "all": outcome.all_shards, "chosen": outcome.shards,
            "made_again": [one._asdict() for one in outcome.of_shards],
        },
        "packs": {
            "all": outcome.all_packs, "made_again": [one._asdict() for one in outcome.of_packs],
        },
        "taken": taken(run),
        "other_code": outcome.other_code,
        "other_versions": outcome.other_versions,
        "exit_code": findings.code,
        "damages": [damage.as_json() for damage in findings.damages],
        "not_made_again": [one._asdict() for one in findings.not_seen],
    }  # fmt: skip
    return json_text(told)
