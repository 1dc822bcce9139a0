"""The files of a results folder to publish: all of the manifest, and files for people."""

import hashlib
import os
from pathlib import Path
from typing import Any, NamedTuple

from corpusmill.messages.sentences import sentence
from corpusmill.mill.storage.files import as_json
from corpusmill.mill.storage.untrusted import load_plain_json, whole_file
from corpusmill.tools.publish.card import CARD, card_of
from corpusmill.tools.verify.findings import Findings
from corpusmill.tools.verify.kinds import MANIFEST, way_out
from corpusmill.tools.verify.listing import Listing, read_listing
from corpusmill.tools.verify.locations import LocalPlace

SUMMARY = "summary.json"
DATASET_CARD = "DATASET_CARD.md"
DESCRIPTIONS = [DATASET_CARD, "training_content.md"]
BESIDE = [SUMMARY, "summary.txt", *DESCRIPTIONS, "domains.csv"]
"""Files that the manifest does not list: the summary has run times, which differ from run to run,
and people complete the descriptions."""


Data = bytes


class DamagedFileError(ValueError):
    """A file that does not match the manifest."""


class File(NamedTuple):
    """A file to publish, named below the version."""

    name: str
    bytes: int
    sha256: str
    path: Path | None
    """None: the content is `data`."""
    data: Data = b""


class Contents(NamedTuple):
    listing: Listing
    listed: list[File]
    beside: list[File]
    """Files without digests, which no reader needs."""
    manifest: File

    @property
    def files(self) -> list[File]:
        return [*self.listed, *self.beside]

    @property
    def all_files(self) -> list[File]:
        return [*self.files, self.manifest]

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.all_files)


def contents_of(results: Path, address: str) -> Contents:
    """Return the files to publish. address: for the card. Raise ValueError if the corpus is
    unfinished or files are missing; bytes are checked during the upload."""
    place, findings = LocalPlace(results), Findings()
    listing = read_listing(place, findings)
    if findings.damages:
        damage = findings.damages[0]
        told = f"{sentence(damage.what)} {sentence(damage.way_out)}"
        raise DamagedFileError(f"{results / damage.name}: {told}")
    listed = [
        File(one.name, one.bytes, one.sha256, results / one.name) for one in listing.files.values()
    ]
    for file in listed:
        check_size(file)
    summary = summary_of(results, listing)
    try:
        data = card_of(listing, summary, address).encode()
    except (KeyError, TypeError, AttributeError) as error:
        raise no_summary(
            results / SUMMARY, listing, f"what has other members ({error!r})"
        ) from None
    beside = [of_bytes(CARD, data)]
    if summary is not None:
        there = [name for name in BESIDE if os.path.lexists(results / name)]
        beside += [of_bytes(name, unlisted(results / name)) for name in there]
        refuse_other_descriptions(results, listing, beside)
    # The one read above: another run may have written a new one.
    text = as_json(listing.content).encode()
    return Contents(listing, listed, beside, of_bytes(MANIFEST, text))


def of_bytes(name: str, data: bytes) -> File:
    return File(name, len(data), hashlib.sha256(data).hexdigest(), None, data)


def unlisted(path: Path) -> bytes:
    """Return the content of a file without digest. Symlinks are refused: they could lead to
    secrets."""
    if path.is_symlink():
        raise DamagedFileError(
            f"{path}: expected a file, found a symlink. Replace it with the file."
        )
    return whole_file(path)


def check_size(file: File) -> None:
    assert file.path
    try:
        found = file.path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        raise DamagedFileError(f"{file.path}: it is missing. {restore(file.name)}") from None
    if found != file.bytes or not file.path.is_file():
        raise DamagedFileError(
            f"{file.path}: expected {file.bytes:,} bytes, as listed in manifest.json, found "
            f"{found:,}. {restore(file.name)}"
        )


def restore(name: str) -> str:
    """Return a sentence on how to restore a file."""
    advice = way_out(name)
    return f"{advice[0].upper()}{advice[1:]}."


def damaged(file: File, found: str) -> DamagedFileError:
    return DamagedFileError(
        f"{file.path or file.name}: expected SHA-256 {file.sha256}, as listed in manifest.json, "
        f"found {found}. {restore(file.name)}"
    )


def summary_of(results: Path, listing: Listing) -> dict[str, Any] | None:
    """Return the summary of this manifest; None if there is none. Raise ValueError if it is of
    another one."""
    path = results / SUMMARY
    if not path.is_file():
        return None
    try:
        summary = load_plain_json(path)
        found = summary.get("manifest")
    except (ValueError, AttributeError):
        found = "no summary"
    if found != listing.sha256:
        raise no_summary(path, listing, f"a summary of {found}")
    return dict(summary)


def refuse_other_descriptions(results: Path, listing: Listing, beside: list[File]) -> None:
    """Raise ValueError if a description is not of this manifest, as after an interrupted run."""
    for file in beside:
        if file.name in DESCRIPTIONS and listing.sha256.encode() not in file.data:
            raise ValueError(
                f"{results / file.name}: expected a description that names manifest "
                f"{listing.sha256}, found none. Run again (corpusmill run), or move the file away "
                "to publish without it."
            )


def no_summary(path: Path, listing: Listing, found: str) -> ValueError:
    return ValueError(
        f"{path}: expected a summary that belongs to manifest {listing.sha256}, found {found}. Run "
        "again (corpusmill run), or move the summary away to publish without a summary."
    )
