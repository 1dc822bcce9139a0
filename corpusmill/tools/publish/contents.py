"""What of a results folder is published: all that the manifest lists, and what people read."""

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
BESIDE = [SUMMARY, "summary.txt"]
"""Not listed, as they have seconds in them, which are others in every run."""


Data = bytes


class DamagedFileError(ValueError):
    """A file is not what the manifest lists."""


class File(NamedTuple):
    """A file to be published, by its name below the version."""

    name: str
    bytes: int
    sha256: str
    path: Path | None
    """None: it is `data`."""
    data: Data = b""


class Contents(NamedTuple):
    listing: Listing
    listed: list[File]
    beside: list[File]
    """What no reader needs and no digest binds."""
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
    """address: where it goes, for its card. ValueError for what is no finished corpus, or is not
    there as it is listed; bytes are looked at when they are sent."""
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
    # The one that was read: a run may have written another one meanwhile.
    text = as_json(listing.content).encode()
    return Contents(listing, listed, beside, of_bytes(MANIFEST, text))


def of_bytes(name: str, data: bytes) -> File:
    return File(name, len(data), hashlib.sha256(data).hexdigest(), None, data)


def unlisted(path: Path) -> bytes:
    """The content of a file that no digest binds: a symlink could lead to anybody's secrets."""
    if path.is_symlink():
        raise DamagedFileError(f"{path}: expected a file, found a symlink. Put the file there.")
    return whole_file(path)


def check_size(file: File) -> None:
    assert file.path
    try:
        found = file.path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        raise DamagedFileError(f"{file.path}: it is not there. {way_out(file.name)}.") from None
    if found != file.bytes or not file.path.is_file():
        raise DamagedFileError(
            f"{file.path}: expected {file.bytes:,} bytes, as manifest.json says, found {found:,}. "
            f"{way_out(file.name)}."
        )


def damaged(file: File, found: str) -> DamagedFileError:
    return DamagedFileError(
        f"{file.path or file.name}: expected SHA-256 {file.sha256}, as manifest.json says, found "
        f"{found}. {way_out(file.name)}."
    )


def summary_of(results: Path, listing: Listing) -> dict[str, Any] | None:
    """The summary of this manifest; None if there is none, ValueError if it is of another one."""
    path = results / SUMMARY
    if not path.is_file():
        return None
    try:
        summary = load_plain_json(path)
        found = summary.get("manifest")
    except (ValueError, AttributeError):
        found = "no summary"
    if found != listing.sha256:
        raise no_summary(path, listing, f"that of {found}")
    return dict(summary)


def no_summary(path: Path, listing: Listing, found: str) -> ValueError:
    return ValueError(
        f"{path}: expected the summary of manifest {listing.sha256}, found {found}. "
        "Run again: corpusmill run; or move it away, and the corpus goes without."
    )
