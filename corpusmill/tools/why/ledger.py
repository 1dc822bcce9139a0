"""Rows of the ledger by id, place or text. Row groups are skipped by their statistics."""

import functools

import numpy as np

from corpusmill.mill.decide.fates import MALFORMED
from corpusmill.mill.read.ids import ROW_BITS, ROW_MASK
from corpusmill.tools.why.parquet_rows import Row, Rows, has_one_of
from corpusmill.tools.why.results import Results

MOST_ALIKE = 20
"""Maximum number of documents to name that share a text or a winner. All are counted."""

KEPT_OPEN = 64


class Ledger:
    """The ledger of a run."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self.part = functools.lru_cache(KEPT_OPEN)(self._opened)

    def _opened(self, part: int) -> Rows:
        """Open the file of a part. Raise ValueError if it is missing or of an earlier version."""
        path = self._results.path("ledger/{}.parquet", part)
        if not path.exists():
            raise ValueError(
                f"{path} is missing: the run is not finished, or part of its results was removed. "
                "Rebuild it: corpusmill run"
            )
        file = Rows(path)
        if "whole_digest" not in file.names:
            raise ValueError(
                f"{path} was written by an earlier version of corpusmill and has no digests. Run "
                "again: "
                "corpusmill run"
            )
        return file

    def of_id(self, id: int) -> Row:
        """Return the row of an id. Raise ValueError if there is none."""
        part, row = id >> ROW_BITS, id & ROW_MASK
        if part >= self._results.parts:
            raise ValueError(
                f"there is no document {id}: it would be in part {part}, and the run has "
                f"{self._results.parts}, numbered from 0."
            )
        file = self.part(part)
        if row < file.count:
            (found,) = file.at(np.array([row]))
            if found.get("id") == id:
                return found
        malformed = file.places_with({"fate": MALFORMED})
        documents, first = file.count - malformed.size, part << ROW_BITS
        has = f"from {first} to {first + documents - 1}" if documents else "none"
        raise ValueError(f"there is no document {id}. The ids of part {part}: {has}.")

    def of_place(self, part: int, file: str, line: int) -> list[Row]:
        """Return the record of a line of a file of the part; [] if there is none."""
        its = self.part(part)
        return its.at(its.places_with({"file": file, "line": line})[:1])

    def last_line(self, part: int, file: str) -> int:
        """Return the last line of a file of the part; 0 if it has no record."""
        table = self.part(part).columns("file", "line")
        lines = table["line"].to_numpy()[has_one_of(table["file"], [file])]
        return int(lines.max(initial=0))

    def with_digest(self, digest: int) -> tuple[list[Row], int]:
        """Return the first documents whose text, with or without later cuts, has a digest, and
        their number."""
        found: list[Row] = []
        count = 0
        for part in range(self._results.parts):
            file = self.part(part)
            table = file.columns("digest", "whole_digest")
            places = np.flatnonzero(
                has_one_of(table["digest"], [digest]) | has_one_of(table["whole_digest"], [digest])
            )
            count += places.size
            found += file.at(places[: MOST_ALIKE - len(found)])
        return found, count

    def dropped_for(self, id: int) -> tuple[list[int], int]:
        """Return the ids of the first documents dropped for one, and their number."""
        found: list[int] = []
        count = 0
        for part in range(self._results.parts):
            places = self.part(part).places_with({"winner": id})
            count += places.size
            found += (places[: MOST_ALIKE - len(found)] | part << ROW_BITS).tolist()
        return found, count
