"""List every file of the result with its size and SHA-256; say what trainers must know."""

import logging
import pickle
import sys
from pathlib import Path
from typing import NamedTuple

from corpusmill.messages.plain_text import shown
from corpusmill.mill.account.accounts import balanced_account
from corpusmill.mill.decide.fates import dropping_fates
from corpusmill.mill.storage.files import (
    files_of_folder,
    load_json,
    load_text,
    own_digest,
    save_json,
    save_text,
    writing,
)
from corpusmill.mill.storage.sums import load_sums, sums_path
from corpusmill.mill.tokens.losses import too_many_losses
from corpusmill.mill.tokens.tokenizers import TokenizerFacts
from corpusmill.run import job, record
from corpusmill.run.input_files import read_inputs

SHOW = 10  # foreign files that are named on the terminal; the log names all


def described(file: Path, facts: Path) -> dict:
    known = load_json(facts)
    counts = {key: known[key] for key in ("documents", "tokens") if key in known}
    return counts | as_written(file)


def as_written(file: Path) -> dict:
    """By what its writer meant to write: the file is not read, so that no damage is believed."""
    sums = load_sums(file)
    return {"path": str(file), "bytes": sums.bytes, "sha256": sums.sha256}


def remove_stale(run: "Made") -> None:
    """Remove what earlier runs made and this one does not; name what else lies in our folders."""
    for path in record.stale_files(run.record, run.made):
        path.unlink()
        sums_path(path).unlink(missing_ok=True)
        logging.info("removed %s: of an earlier run", path)
    foreign = list(record.foreign_files(run.made))
    for path in foreign:
        logging.warning("%s: of no run that is known; it stays where it is", path)
    if foreign:
        some = ", ".join(shown(str(path)) for path in foreign[:SHOW])
        print(
            f"WARNING: {len(foreign)} files in the folders of this run are not its own and were "
            f"left alone: {some}{', ...' * (len(foreign) > SHOW)}. "
            "Whoever reads a whole folder reads them too; move them away.",
            file=sys.stderr,
        )


def refuse_losses(facts: list[Path], max_lost_fraction: float) -> None:
    """facts: of all token shards."""
    if told := too_many_losses(facts, max_lost_fraction):
        raise ValueError(
            "\n".join(told) + "\nTake another tokenizer, byte-level or with byte fallback; or, if "
            "that is meant to be lost, raise tokenizer.max_lost_fraction."
        )


class Shards(NamedTuple):
    """The files of all shards, in target order; each has been verified."""

    texts: list[Path]
    text_facts: list[Path]
    bins: list[Path]
    facts: list[Path]
    idx: list[Path]
    eyes: list[Path]


class Joined(NamedTuple):
    """The joined files of the splits, if they were asked for."""

    joined: list[Path]
    joined_facts: list[Path]


class Tables(NamedTuple):
    """What became of every record: accounts, and tables that are kept."""

    accounts: list[Path]
    ledgers: list[Path]
    placements: list[Path]
    clusters: list[Path]
    quarantine: list[Path]
    records: list[Path]


class Read(NamedTuple):
    """What those say who read the input files."""

    text_counts: list[Path]
    evaluation: Path


class Corpus(NamedTuple):
    """How often files were added, the first included; the names of the milled sources, the fates of
    the filters; the digests of the configuration and of the code of every step."""

    generation: int
    sources: list[str]
    filters: list[str]
    max_lost_fraction: float
    config_digest: str
    code: dict[str, str]


class Made(NamedTuple):
    """What this run makes, and the record of what runs before it made."""

    made: record.Made
    record: Path


class Result(NamedTuple):
    """The files that are written here."""

    listing: Path
    meta: Path
    eye_test: Path


def manifest(
    shards: Shards,
    joins: Joined,
    tables: Tables,
    inputs: Read,
    folder: Path,
    corpus: Corpus,
    run: Made,
    result: Result,
) -> None:
    fates = dropping_fates(corpus.filters)
    balanced_account(tables.accounts, shards.text_facts, shards.facts, fates)
    refuse_losses(shards.facts, corpus.max_lost_fraction)
    remove_stale(run)
    setting = TokenizerFacts.load(folder)
    save_meta(result.meta, setting, shards, corpus.generation)
    save_text(result.eye_test, "\n".join(map(load_text, shards.eyes)), kept=True)
    chain = {
        "corpusmill.manifest": 1,
        "generation": corpus.generation,
        "sources": corpus.sources,
        "inputs": list(read_inputs([*inputs.text_counts, inputs.evaluation])),
        "config_digest": corpus.config_digest,
        "code": corpus.code,
        "files": kept_files(shards, joins, tables, folder, result),
    }
    save_json(result.listing, chain | {"sha256": own_digest(chain)}, kept=True)
    logging.info("%d files listed", len(chain["files"]))


def kept_files(
    shards: Shards, joins: Joined, tables: Tables, folder: Path, result: Result
) -> list[dict]:
    """Every file that stays with the user and is the same whenever it is made."""
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
        *tables.placements,
        *tables.ledgers,
        *tables.clusters,
        *tables.records,
        *tables.quarantine,
        result.eye_test,
    ]
    return [described(*pair) for pair in pairs] + list(map(as_written, others))


def save_meta(path: Path, setting: TokenizerFacts, shards: Shards, generation: int) -> None:
    """What nanoGPT-style trainers read."""
    totals: dict[str, int] = {}
    for bin, facts in zip(shards.bins, shards.facts, strict=True):
        totals[bin.parent.name] = totals.get(bin.parent.name, 0) + load_json(facts)["tokens"]
    meta = {
        "tokenizer": setting.source,
        "vocab_size": setting.vocabulary,
        "eos_token_id": setting.end_of_text_id,
        "dtype": setting.dtype,
        "total_tokens": totals,
        "generation": generation,
    }
    with writing(path, kept=True) as file:
        file.write(pickle.dumps(meta, protocol=4))


if __name__ == "__main__":
    job.run(manifest)
