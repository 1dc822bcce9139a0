"""List every file of the result with its size and SHA-256; write the metadata for trainers."""

import logging
from pathlib import Path
from typing import NamedTuple

from corpusmill.mill.account.accounts import balanced_account
from corpusmill.mill.account.kept_files import Joined, Result, Shards, Tables, kept_files
from corpusmill.mill.decide.fates import dropping_fates
from corpusmill.mill.storage.files import load_text, own_digest, save_json, save_text
from corpusmill.mill.tokens.losses import refuse_losses
from corpusmill.mill.tokens.tokenizers import TokenizerFacts
from corpusmill.mill.tokens.trainer_meta import save_meta
from corpusmill.run import job, record
from corpusmill.run.input_files import read_inputs
from corpusmill.run.left_over import remove_stale


class Read(NamedTuple):
    """Counts of the jobs that read input files."""

    text_counts: list[Path]
    evaluation: Path


class Corpus(NamedTuple):
    """Facts about the corpus for the manifest.

    generation: number of runs that added files, the first included. sources: names of the milled
    sources. filters: fates of the filters. loss_limits: keyword arguments of `refuse_losses`. code:
    digest by step.
    """

    generation: int
    sources: list[str]
    filters: list[str]
    loss_limits: dict[str, float]
    config_digest: str
    code: dict[str, str]


class Made(NamedTuple):
    """The files that this run makes, and the record of earlier runs."""

    made: record.Made
    record: Path


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
    refuse_losses(shards.facts, **corpus.loss_limits)
    remove_stale(run.made, run.record)
    setting = TokenizerFacts.load(folder)
    save_meta(result.meta, setting, shards.facts, corpus.generation)
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


if __name__ == "__main__":
    job.run(manifest)
