"""Add up the accounts of all parts and shards; fail if a document is unaccounted for."""

import logging
from pathlib import Path
from typing import NamedTuple

from corpusmill.mill.account.cross_checks import Facts, checked_account
from corpusmill.mill.account.mixture_account import MixtureFiles, mixture_accounts
from corpusmill.mill.account.summary import Found, Told, in_words, summary_of
from corpusmill.mill.storage.files import load_json, own_digest, save_json, save_text
from corpusmill.run import job, record
from corpusmill.run.measurements import measured


class Finished(NamedTuple):
    """Facts about this run for the folder's record, and its path."""

    plan: Path
    manifest: Path
    made: record.Made
    record: Path


def summarize(
    numbers: Facts,
    found: Found,
    mixture: MixtureFiles,
    config: Told,
    logs: Path,
    finished: Finished,
    summary: Path,
    readable: Path,
) -> None:
    mixed = mixture_accounts(mixture)
    account = checked_account(numbers, config.filters, mixed)
    manifest = load_json(finished.manifest)
    told = summary_of(account, manifest, config, found, mixed.accounts) | {"rules": measured(logs)}
    words = in_words(account, told, config, found)
    # The record first: if it and the summary differ, the summary is the older one.
    record.finish(finished.made, finished.plan, manifest, finished.record)
    save_json(summary, told | {"sha256": own_digest(told)})
    save_text(readable, words + "\n", kept=True)
    logging.info("balanced\n%s", words)


if __name__ == "__main__":
    job.run(summarize)
