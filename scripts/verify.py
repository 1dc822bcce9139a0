"""Check one finished shard from disk, against its text and the reference tokenizer."""

import logging
from pathlib import Path

from corpusmill.mill.storage.files import load_json, save_json, save_text
from corpusmill.mill.tokens.shard_checks import placement_faults, shard_faults
from corpusmill.mill.tokens.token_shards import TokenFiles
from corpusmill.mill.tokens.tokenizers import TokenizerFacts, load_kept
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def verify(
    text: Path,
    text_facts: Path,
    tokens: TokenFiles,
    placements: Path,
    folder: Path,
    report: Path,
    eye: Path,
) -> None:
    setting = TokenizerFacts.load(folder)
    reference = load_kept(folder, setting)
    with phase("reading the text shard", text.stat().st_size) as progress:
        faults, samples = shard_faults(
            text, text_facts, tokens, placements, reference, setting, progress
        )
    if not faults:
        faults = list(placement_faults(placements, tokens))
    if faults:
        raise ValueError(
            "\n".join(faults)
            + "\nThese files differ from what was written. Remove these files and run again."
        )
    save_text(eye, samples)
    known = load_json(tokens.facts)
    save_json(
        report,
        {
            "documents": known["documents"],
            "tokens": known["tokens"],
            "decoded": setting.lossless,
            "faults": 0,
        },
    )
    logging.info("%d documents, %d tokens, no faults", known["documents"], known["tokens"])


if __name__ == "__main__":
    run(verify)
