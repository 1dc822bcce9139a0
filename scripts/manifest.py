"""List every file of the result with its size and SHA-256; say what trainers must know."""

import logging
import pickle
import sys
from pathlib import Path

from corpusmill.documents.accounts import balanced_account
from corpusmill.run.job import this_job
from corpusmill.run.record import Made, foreign_files, load_record, stale_files
from corpusmill.storage.files import file_sha256, load_json, replacing, save_json
from corpusmill.tokens.losses import too_many_losses
from corpusmill.tokens.tokenizers import Setting

SHOW = 10  # foreign files that are named on the terminal; the log names all


def described(file: Path, facts: Path) -> dict:
    known = load_json(facts)
    return {key: known[key] for key in ("documents", "tokens") if key in known} | {
        "path": str(file),
        "bytes": known["bytes"],
        "sha256": known["sha256"],
    }


def whole(file: Path) -> dict:
    return {"path": str(file), "bytes": file.stat().st_size, "sha256": file_sha256(file)}


def remove_stale(current: Made) -> None:
    """Remove what earlier runs made and this one does not; name what else lies in our folders."""
    for path in stale_files(load_record()["made"], current):
        path.unlink()
        logging.info("removed %s: of an earlier run", path)
    foreign = list(foreign_files(current))
    for path in foreign:
        logging.warning("%s: of no run that is known; it stays where it is", path)
    if foreign:
        print(
            f"WARNING: {len(foreign)} files in the folders of this run are not its own and were "
            f"left alone: {', '.join(map(str, foreign[:SHOW]))}{', ...' * (len(foreign) > SHOW)}. "
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


def manifest(
    texts: list[tuple[Path, Path]],
    tokens: list[tuple[Path, Path]],
    joined: list[tuple[Path, Path]],
    indexes: list[Path],
    folder: Path,
    eyes: list[Path],
    generation: int,
    sources: list[str],
    listing: Path,
    meta: Path,
    eye_test: Path,
) -> None:
    """texts, tokens, joined: (file, its facts); every shard among them has been verified.

    generation: how often files were added, the first included. sources: the names of the milled.
    """
    setting = Setting.load(folder)
    totals: dict[str, int] = {}
    for bin, facts in tokens:
        totals[bin.parent.name] = totals.get(bin.parent.name, 0) + load_json(facts)["tokens"]
    with replacing(meta) as temporary:
        temporary.write_bytes(
            pickle.dumps(
                {
                    "tokenizer": setting.source,
                    "vocab_size": setting.vocabulary,
                    "eos_token_id": setting.end_of_text_id,
                    "dtype": setting.dtype,
                    "total_tokens": totals,
                    "generation": generation,
                },
                protocol=4,
            )
        )
    with replacing(eye_test) as temporary:
        temporary.write_text("\n".join(eye.read_text("utf-8") for eye in eyes), "utf-8")
    kept = sorted(path for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")
    save_json(
        listing,
        {
            "corpusmill.manifest": 1,
            "generation": generation,
            "sources": sources,
            "files": [described(*pair) for pair in (*texts, *tokens, *joined)]
            + [whole(file) for file in (*indexes, *kept, meta)],
        },
    )
    logging.info("%d files listed", len(load_json(listing)["files"]))


if __name__ == "__main__":
    with this_job() as job:
        files = job.input
        balanced_account(files.accounts, files.text_facts, files.facts)
        refuse_losses(files.facts, job.params.max_lost_fraction)
        remove_stale(job.params.made)
        manifest(
            texts=list(zip(files.texts, files.text_facts, strict=True)),
            tokens=list(zip(files.bins, files.facts, strict=True)),
            joined=list(zip(files.joined, files.joined_facts, strict=True)),
            indexes=files.idx,
            folder=files.folder,
            eyes=files.eyes,
            generation=job.params.generation,
            sources=job.params.sources,
            listing=job.output.listing,
            meta=job.output.meta,
            eye_test=job.output.eye_test,
        )
