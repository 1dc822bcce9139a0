"""The arguments of `corpusmill publish`, and its output."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from corpusmill.messages.plain_text import json_text
from corpusmill.reader.hub_addresses import is_hub
from corpusmill.reader.patience import Say
from corpusmill.tools.publish.contents import Contents

STREAMS = 8
DIGITS = 16
"""Digits of the manifest's digest in the default name of a version."""


class Asked(NamedTuple):
    """The arguments of the command. prices: see costs.py."""

    results: Path
    address: str
    version: str | None
    endpoint: str | None
    dry_run: bool
    prices: Mapping[str, float]
    streams: int = STREAMS


class Published(NamedTuple):
    """A published version, or what a dry run would publish.

    there: names of files that were already complete there. plan: lines of a dry run for this kind
    of destination. also: JSON members for this kind of destination.
    """

    address: str
    version: str
    contents: Contents
    there: set[str]
    missing: str
    """A phrase that says which files were sent, or would be sent in a dry run."""
    dry_run: bool
    plan: list[str]
    also: dict[str, Any]


def publisher_of(address: str) -> Callable[[Asked, Say], Published]:
    """Return the function that publishes to this kind of destination."""
    if is_hub(address):
        # It imports huggingface_hub, which only this case needs.
        from corpusmill.tools.publish import hub

        return hub.publish
    from corpusmill.tools.publish import publishing

    return publishing.publish


def told(done: Published) -> Iterator[str]:
    """Yield the lines for the terminal; the last one is the summary."""
    files = done.contents.all_files
    if done.dry_run:
        for file in files:
            how = "there  " if file.name in done.there else "to send"
            yield f"{file.bytes:>16,}  {how}  {file.name}"
        yield from done.plan
    version = f"{done.address}@{done.version}"
    known = sum(file.name in done.there for file in files)
    yield (
        f"{version}: {len(files):,} files, {done.contents.bytes / 1e6:,.1f} MB; {done.missing}, "
        f"{known:,} files were there already"
    )
    if not done.dry_run:
        yield f'Published. To read it: Corpus("{done.address}", cache=FOLDER), or "{version}".'


def as_json(done: Published) -> str:
    files = [
        {"path": file.name, "bytes": file.bytes, "there": file.name in done.there}
        for file in done.contents.all_files
    ]
    content: dict[str, Any] = {
        "corpusmill.publish": 1,
        "address": done.address,
        "version": done.version,
        "manifest_sha256": done.contents.listing.sha256,
        "dry_run": done.dry_run,
        "bytes": done.contents.bytes,
        "files": files,
    }
    return json_text(content | done.also)
