"""`corpusmill verify`: the order of the checks, and the report."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from corpusmill.messages.plain_text import json_text
from corpusmill.run.job_progress import phase
from corpusmill.tools.verify.deep import look_inside
from corpusmill.tools.verify.exports import (
    Export,
    export_alone,
    exports_of,
    hold_origin,
    hold_tokens,
    look_at_export,
)
from corpusmill.tools.verify.files import FilesSeen, look_at_files, look_for_foreign
from corpusmill.tools.verify.findings import Findings, NoCorpusError
from corpusmill.tools.verify.kinds import EXPORT, MANIFEST
from corpusmill.tools.verify.listing import Listing, read_listing
from corpusmill.tools.verify.locations import Place
from corpusmill.tools.verify.reading import Corpus
from corpusmill.tools.verify.summary import summary_of


class Verified(NamedTuple):
    """The outcome of the checks."""

    where: str
    listing: Listing
    """Its list of files is empty if only an export was checked."""
    exports: list[Export]
    findings: Findings
    seconds: float
    """Time of checking all files, without `--deep`."""
    deep: bool

    @property
    def files(self) -> int:
        return sum(len(one.files) for one in self._listings)

    @property
    def bytes(self) -> int:
        return sum(one.bytes for one in self._listings)

    @property
    def _listings(self) -> list[Listing]:
        return [self.listing, *(one.listing for one in self.exports)]


def verified(place: Place, deep: bool) -> Verified:
    """Check a corpus and its exports, or an export. Raise NoCorpusError if it is neither."""
    findings = Findings(place.advice)
    try:
        with phase(f"reading {place.where(MANIFEST)}"):
            listing = read_listing(place, findings)
        with phase(f"looking for exports beside {place.where(MANIFEST)}"):
            exports = exports_of(place, findings)
    except NoCorpusError:
        with phase(f"reading {place.where(EXPORT)}"):
            export = export_alone(place, findings)
        if export is None:
            raise
        listing, exports = Listing({}, {}, "", 0), [export]
    done = Verified(place.where(MANIFEST), listing, exports, findings, 0.0, deep)
    began = time.monotonic()
    with phase("verifying", done.bytes) as progress:
        seen = FilesSeen(progress, len(listing.files), findings)
        look_at_files(place, listing, findings, seen)
        for export in exports:
            look_at_export(place, export, findings, progress)
    done = done._replace(seconds=time.monotonic() - began)
    if listing.files:
        with phase("comparing the files with the manifest"):
            look_for_foreign(place, listing, findings)
            for export in exports:
                hold_origin(listing, export, findings)
                if deep:
                    hold_tokens(listing, export, findings)
    if listing.files and not deep:
        summary_of(Corpus(place, listing, findings))
    if deep and listing.files:
        look_inside(place, listing, findings)
    return done


def in_words(done: Verified) -> Iterator[str]:
    """Yield the lines for the terminal; the last one is the verdict."""
    findings, listing = done.findings, done.listing
    yield from findings.in_words("not checked")
    if not listing.content and done.exports:
        origin = done.exports[0].manifest_sha256
        yield f"not checked: whether it is the corpus that you mean. Its manifest is {origin}"
    elif not done.deep:
        yield "not checked: whether the files agree with one another (--deep checks that)"
    amount = done.bytes / 1e6
    rate = amount / max(done.seconds, 1e-9)
    large = f"{amount / 1e3:,.2f} GB" if amount >= 1e3 else f"{amount:,.1f} MB"
    size = f"{done.files:,} files, {large}"
    read = f"{size}, read at {rate:,.0f} MB/s"
    if findings.damages:
        yield (
            f"Damaged: {findings.damaged_files:,} files differ from what was written. Checked: "
            f"{read}."
        )
    elif findings.code:
        yield f"Not everything could be checked: {read}."
    else:
        yield f"Whole: {read}."


def as_json(done: Verified) -> str:
    findings, listing = done.findings, done.listing
    told: dict[str, Any] = {
        "corpusmill.verify": 1,
        "manifest": done.where,
        "manifest_sha256": listing.sha256,
        "config_digest": listing.content.get("config_digest"),
        "files": done.files,
        "bytes": done.bytes,
        "seconds": round(done.seconds, 3),
        "deep": done.deep,
        "whole": findings.code == 0,
        "exit_code": findings.code,
        "exports": [export.as_json() for export in done.exports],
        "damages": [damage.as_json() for damage in findings.damages],
        "not_looked_at": [one._asdict() for one in findings.not_seen],
        "unlisted": findings.unlisted,
    }
    return json_text(told)
