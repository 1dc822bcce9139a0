"""The files of a result that the manifest lists: all that users keep."""

from pathlib import Path
from typing import NamedTuple

from corpusmill.mill.storage.files import files_of_folder, load_json
from corpusmill.mill.storage.sums import load_sums


class Shards(NamedTuple):
    """The files of all shards, in target order; each has been verified."""

    texts: list[Path]
    text_facts: list[Path]
    bins: list[Path]
    facts: list[Path]
    idx: list[Path]
    eyes: list[Path]


class Joined(NamedTuple):
    """The joined files of the splits, if output.join is set."""

    joined: list[Path]
    joined_facts: list[Path]


class Tables(NamedTuple):
    """Accounts, the kept tables about every record, packed rows, and groups of documents."""

    accounts: list[Path]
    ledgers: list[Path]
    placements: list[Path]
    clusters: list[Path]
    quarantine: list[Path]
    records: list[Path]
    packs: list[Path]
    groups: list[Path]


class Result(NamedTuple):
    """Outputs of `manifest`."""

    listing: Path
    meta: Path
    eye_test: Path


def kept_files(
    shards: Shards, joins: Joined, tables: Tables, folder: Path, result: Result
) -> list[dict]:
    """Return an entry for every kept file that is the same in every run."""
    pairs = [
        *zip(shards.texts, shards.text_facts, strict=True),
        *zip(shards.bins, shards.facts, strict=True),
        *zip(joins.joined, joins.joined_facts, strict=True),
    ]
    others = [
        *shards.idx,
        *files_of_folder(folder),
        result.meta,
        *shards.text_facts,
        *shards.facts,
        *joins.joined_facts,
        *tables.packs,
        *tables.groups,
        *tables.placements,
        *tables.ledgers,
        *tables.clusters,
        *tables.records,
        *tables.quarantine,
        result.eye_test,
    ]
    return [counted(*pair) for pair in pairs] + list(map(as_written, others))


def counted(file: Path, facts: Path) -> dict:
    known = load_json(facts)
    counts = {key: known[key] for key in ("documents", "tokens") if key in known}
    return counts | as_written(file)


def as_written(file: Path) -> dict:
    """Return an entry from the sums of the file's writer; reading it would hide damage."""
    sums = load_sums(file)
    return {"path": str(file), "bytes": sums.bytes, "sha256": sums.sha256}
