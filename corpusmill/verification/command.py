"""`corpusmill verify`: what is looked at, in which order, and how it is said."""

import json
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from corpusmill.run.progress import phase
from corpusmill.verification.deep import look_inside
from corpusmill.verification.files import FilesSeen, look_at_files, look_for_foreign
from corpusmill.verification.findings import Findings
from corpusmill.verification.kinds import MANIFEST
from corpusmill.verification.listing import Listing, read_listing
from corpusmill.verification.places import Place


class Verified(NamedTuple):
    """What came of it."""

    where: str
    listing: Listing
    findings: Findings
    seconds: float
    """Of looking at every file, without `--deep`."""
    deep: bool


def verified(place: Place, deep: bool) -> Verified:
    """Look at a corpus; NoCorpusError if there is none."""
    findings = Findings()
    listing = read_listing(place, findings)
    began = time.monotonic()
    with phase("verifying", listing.bytes) as progress:
        seen = FilesSeen(progress, len(listing.files), findings)
        look_at_files(place, listing, findings, seen)
    seconds = time.monotonic() - began
    if listing.files:
        look_for_foreign(place, listing, findings)
    if deep:
        look_inside(place, listing, findings)
    return Verified(place.where(MANIFEST), listing, findings, seconds, deep)


def in_words(done: Verified) -> Iterator[str]:
    """For a person, line by line; the last line says it all."""
    findings, listing = done.findings, done.listing
    for damage in findings.damages:
        yield f"{damage.name}: {damage.what}"
        yield f"  {damage.way_out}"
    for one in findings.not_seen:
        yield f"not looked at: {one.what}: {one.why}"
    if not done.deep:
        yield "not looked at: whether the files agree with one another: --deep does"
    rate = listing.bytes / 1e6 / max(done.seconds, 1e-9)
    amount = listing.bytes / 1e6
    large = f"{amount / 1e3:,.2f} GB" if amount >= 1e3 else f"{amount:,.1f} MB"
    size = f"{len(listing.files):,} files, {large}"
    read = f"{size}, read at {rate:,.0f} MB/s"
    if findings.damages:
        names = {damage.name for damage in findings.damages}
        yield f"Damaged: {len(names):,} files are not what they were, of {read}."
    elif findings.code:
        yield f"Not all of it could be looked at: {read}."
    else:
        yield f"Whole: {read}."


def as_json(done: Verified) -> str:
    findings, listing = done.findings, done.listing
    told: dict[str, Any] = {
        "corpusmill.verify": 1,
        "manifest": done.where,
        "manifest_sha256": listing.sha256,
        "config_digest": listing.content.get("config_digest"),
        "files": len(listing.files),
        "bytes": listing.bytes,
        "seconds": round(done.seconds, 3),
        "deep": done.deep,
        "whole": findings.code == 0,
        "exit_code": findings.code,
        "damages": [damage.as_json() for damage in findings.damages],
        "not_looked_at": [one._asdict() for one in findings.not_seen],
    }
    return json.dumps(told, indent=1, ensure_ascii=False)
