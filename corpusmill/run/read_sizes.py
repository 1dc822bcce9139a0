"""Sizes of text and documents: estimated before a part is read, known afterwards.

They determine the memory of a job, which Snakemake evaluates when the job can start.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from corpusmill.mill.storage.files import load_json
from corpusmill.mill.storage.sums import DamagedError

if TYPE_CHECKING:
    from corpusmill.run.plan import Part

EXPECTED_DOCUMENT_BYTES = 2000
"""Assumed average bytes of a document, typical of web pages."""

EXPECTED_LARGEST = 1 << 20
"""Estimated bytes of the text and members of the largest document, used before any document is
read."""


class ReadSizes(NamedTuple):
    """Sizes of a part, or the largest of any part."""

    text_bytes: int
    documents: int
    largest: int
    """Bytes of text and members of the largest document."""


class AllSizes(NamedTuple):
    text_bytes: int  # of all parts
    documents: int
    of_part: ReadSizes  # the most of any


Sizes = TypeVar("Sizes", ReadSizes, AllSizes)


class SizesRead:
    def __init__(self, parts: list[Part], results: Path) -> None:
        self._parts, self._results = parts, results
        self._known: dict[Path, tuple[int, Any]] = {}

    def of_part(self, number: int) -> ReadSizes:
        """Return the sizes of a part: as read if it has been, but no less text than planned."""
        return self._while_unchanged(
            self._results / f"text/{number:05d}.json", lambda path: self._of_part(number, path)
        )

    def of_all(self) -> AllSizes:
        """Return the sizes of all parts together: as read once all have been, else as planned."""
        return self._while_unchanged(self._results / "admitted.json", self._of_all)

    def _of_part(self, number: int, counts: Path | None) -> ReadSizes:
        planned = self._parts[number].text_bytes
        try:
            found = load_json(counts) if counts else None
        except DamagedError:
            found = None  # the job that reads it reports the damage
        if found is None:
            return ReadSizes(planned, planned // EXPECTED_DOCUMENT_BYTES, EXPECTED_LARGEST)
        text_bytes = sum(one.get("text_bytes", 0) for one in found["by_source"].values())
        return ReadSizes(max(planned, text_bytes), found["documents"], found["largest"])

    def _of_all(self, admitted: Path | None) -> AllSizes:
        numbers = [part.number for part in self._parts]
        sizes = [
            self.of_part(number) if admitted else self._of_part(number, None) for number in numbers
        ]
        return AllSizes(
            sum(one.text_bytes for one in sizes),
            sum(one.documents for one in sizes),
            ReadSizes(*(max(of_all) for of_all in zip(*sizes, strict=True))),
        )

    def _while_unchanged(self, path: Path, read: Callable[[Path | None], Sizes]) -> Sizes:
        """Return `read` of the file, or of None if it is missing, cached until the file changes.

        Tens of thousands of jobs ask.
        """
        try:
            state = os.stat(path).st_mtime_ns
        except FileNotFoundError:
            state = 0
        known = self._known.get(path)
        if known is None or known[0] != state:
            known = self._known[path] = state, read(path if state else None)
        sizes: Sizes = known[1]
        return sizes
