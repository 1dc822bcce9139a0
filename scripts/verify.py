"""Check one finished shard from disk, against its text and the reference tokenizer."""

import logging
from pathlib import Path

from corpusmill.files import load_json, replacing, save_json
from corpusmill.step_log import step_log
from corpusmill.tokenizers import Setting, load_kept
from corpusmill.verification import shard_faults


def verify(
    text: Path,
    text_facts: Path,
    bin: Path,
    idx: Path,
    facts: Path,
    folder: Path,
    report: Path,
    eye: Path,
) -> None:
    setting = Setting.load(folder)
    reference = load_kept(folder, setting)
    faults, samples = shard_faults(text, text_facts, bin, idx, facts, reference, setting)
    if faults:
        raise ValueError(
            "\n".join(faults) + "\nThese files are not what was written. Remove them and run again."
        )
    with replacing(eye) as temporary:
        temporary.write_text(samples, "utf-8")
    known = load_json(facts)
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
    with step_log(snakemake.log[0]):
        verify(
            text=Path(snakemake.input.text),
            text_facts=Path(snakemake.input.text_facts),
            bin=Path(snakemake.input.bin),
            idx=Path(snakemake.input.idx),
            facts=Path(snakemake.input.facts),
            folder=Path(snakemake.input.folder),
            report=Path(snakemake.output.report),
            eye=Path(snakemake.output.eye),
        )
