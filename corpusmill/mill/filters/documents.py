"""Batches of a part's documents, as filters see them."""

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa

from corpusmill.mill.filters.declaration import NEEDS
from corpusmill.mill.filters.edits import Cuts, without
from corpusmill.mill.read.text_column import TextColumn

if TYPE_CHECKING:
    from corpusmill.mill.filters.features.words import Lines, Words


def decoded(written: bytes) -> Any:
    """Decode JSON for users' code: integers as int and other numbers as the nearest float.

    Decimal holds what these cannot: integers of thousands of digits, and numbers beyond the floats.
    Numbers that are also beyond Decimal's range become an infinite Decimal.
    """
    try:
        return msgspec.json.decode(written)
    except msgspec.ValidationError:
        # It is valid JSON, so a number is too large. Decode again with the slower parser.
        return json.loads(written, parse_int=_whole, parse_float=_real)


def _whole(digits: str) -> int | Decimal:
    most = sys.get_int_max_str_digits()
    return int(digits) if len(digits) <= most or not most else Decimal(digits)


def _real(digits: str) -> float | Decimal:
    nearest = float(digits)
    if math.isfinite(nearest):
        return nearest
    try:
        return Decimal(digits)
    except InvalidOperation:
        return Decimal(nearest)


@cache
def _member(name: str) -> msgspec.json.Decoder:
    """Return a decoder of one member of a JSON object. It skips all others."""
    of_name = [("text", msgspec.Raw, msgspec.Raw(b""))]
    return msgspec.json.Decoder(msgspec.defstruct("Member", of_name, rename={"text": name}))


def member_at(record: bytes, path: list[str]) -> str | None:
    """Return the JSON text of a member. path: names of nested members, outermost first."""
    for name in path:
        if not record.startswith(b"{"):
            return None
        record = bytes(_member(name).decode(record).text).strip()
    return record.decode() or None


def as_text(json_text: str | None) -> str | None:
    """Return a JSON value as text; None for null or a missing member.

    Numbers and booleans stay as written. Objects become `{}` and lists `[]`.
    """
    if json_text is None or json_text == "null":
        return None
    if json_text[0] == '"':
        return msgspec.json.decode(json_text, type=str)
    return {"{": "{}", "[": "[]"}.get(json_text[0], json_text)


@dataclass(frozen=True)
class Documents:
    """Some documents of a part, in order."""

    texts: TextColumn
    batch: pa.RecordBatch
    """The columns text, rest, file and line, see docs/reference/formats.md."""
    files: list[dict[str, str]]
    """The input files of the part: source and path of each."""
    needs: frozenset[str] = frozenset(NEEDS)
    """The NEEDS that may be used."""
    _split: dict[str, Any] = field(default_factory=dict)
    """Words and lines, split once for all filters."""

    def words(self, rule: str) -> "Words":
        """Return the words of each text, split by a rule of features/words.py."""
        from corpusmill.mill.filters.features.words import words_of

        self._allow("words")
        if rule not in self._split:
            self._split[rule] = words_of(self.texts, rule)
        return self._split[rule]

    def lines(self) -> "Lines":
        """Return the lines of each text."""
        from corpusmill.mill.filters.features.words import lines_of

        self._allow("lines")
        if "lines" not in self._split:
            self._split["lines"] = lines_of(self.texts)
        return self._split["lines"]

    def read_only(self) -> "Documents":
        """Return the documents with read-only texts, so that a user's filter cannot change them."""
        offsets, data = self.texts.offsets.view(), self.texts.data.view()
        offsets.flags.writeable = data.flags.writeable = False
        return replace(self, texts=TextColumn(offsets, data))

    def without(self, cuts: Cuts) -> "Documents":
        """Return the documents with some pieces of text removed."""
        texts = without(self.texts, cuts)
        column = self.batch.schema.get_field_index("text")
        return Documents(texts, self.batch.set_column(column, "text", texts.array()), self.files)

    def some(self, first: int, stop: int) -> "Documents":
        """Return the documents from row `first` to before row `stop`."""
        texts = TextColumn(self.texts.offsets[first : stop + 1], self.texts.data)
        return Documents(texts, self.batch.slice(first, stop - first), self.files)

    def outside(self, sources: list[str]) -> np.ndarray:
        """Return bool (documents,): which documents are from none of these sources."""
        theirs = np.array([file["source"] in sources for file in self.files], bool)
        return ~theirs[self.batch.column("file").to_numpy()]

    def __len__(self) -> int:
        return self.batch.num_rows

    def place(self, row: int) -> str:
        """Return `file:line` of a document."""
        path = self.files[self.batch.column("file")[row].as_py()]["path"]
        return f"{path}:{self.batch.column('line')[row].as_py()}"

    def records(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield text and record of each document: the other members, and `source`, `file`,
        `line`."""
        self._allow("records")
        rows = self.batch.to_pydict()
        for text, rest, file, line in zip(
            rows["text"], rows["rest"], rows["file"], rows["line"], strict=True
        ):
            where = self.files[file]
            place = {"source": where["source"], "file": where["path"], "line": line}
            yield text, decoded(b"{%s}" % rest) | place

    def members(self, field: str) -> list[str | None]:
        """Return the JSON text of a member of each record, or None. field: `a`, or `a.b` for a
        nested one."""
        self._allow("records")
        path = field.split(".")
        return [member_at(b"{%s}" % rest, path) for rest in self.batch.column("rest").to_pylist()]

    def for_filter(self, needs: frozenset[str]) -> "Documents":
        """Return the documents with only these NEEDS allowed."""
        return replace(self, needs=needs)

    def _allow(self, need: str) -> None:
        if need not in self.needs:
            raise ValueError(
                f"{need} are only available to a filter that declares them in `needs`. "
                f"Add {need!r} to the needs of this filter."
            )
