"""Parsed files of a corpus: JSON, arrays, rows of Parquet, documents of text shards."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.messages.progress import Silence
from corpusmill.mill.read.parquet_pages import opened
from corpusmill.mill.shuffle.text_shards import columns_of_lines, columns_of_parquet, in_pieces
from corpusmill.mill.storage.streams import unpacked_by_name
from corpusmill.mill.storage.untrusted import MOST_BYTES, json_of
from corpusmill.tools.verify.findings import Findings
from corpusmill.tools.verify.listing import Listing
from corpusmill.tools.verify.locations import Place, PlaceFile, whole

UNLIKE = (
    ValueError, TypeError, LookupError, AttributeError, OSError, ArithmeticError, RecursionError,
    MemoryError, pa.ArrowException, msgspec.MsgspecError,
)  # fmt: skip
"""Exceptions raised by a file whose content does not match its name."""


class Corpus(NamedTuple):
    """The corpus to check, with the findings."""

    place: Place
    listing: Listing
    findings: Findings

    def has(self, name: str) -> bool:
        """Say whether a file is listed and its bytes are intact."""
        findings = self.findings
        return name in self.listing.files and not (
            findings.damaged(name) or findings.is_unseen(name)
        )

    def file(self, name: str) -> PlaceFile:
        return PlaceFile(self.place, name, self.listing.files[name].bytes)

    def json(self, name: str) -> Any:
        return json_of(whole(self.place, name), self.place.where(name))

    def array(self, name: str, dtype: str) -> np.ndarray:
        return np.frombuffer(whole(self.place, name), dtype)

    def _opened(self, name: str) -> pq.ParquetFile:
        return opened(self.place.where(name), pa.PythonFile(self.file(name), mode="r"))

    def columns_of(self, name: str) -> list[str]:
        return list(self._opened(name).schema_arrow.names)

    def parquet(self, name: str, columns: list[str]) -> Iterator[pa.Table]:
        """Yield the row groups."""
        file = self._opened(name)
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, columns)

    def documents(self, name: str) -> Iterator[pa.Table]:
        """Yield COLUMNS of a text shard (mill/shuffle/text_shards.py), some megabytes at a time."""
        if name.endswith(".parquet"):
            file = self._opened(name)
            for batch in columns_of_parquet(file):
                yield from in_pieces(batch)
        else:
            unpacked = unpacked_by_name(name, self.place.blocks(name), Silence())
            yield from columns_of_lines(with_lines(unpacked))

    def unlike(self, name: str, error: BaseException) -> None:
        """Report that a file's content does not match its name."""
        said = (str(error).splitlines() or [""])[0][:200]
        told = f"its SHA-256 is that of the manifest, but it cannot be read as {kind(name)}"
        self.findings.damage(name, f"{told}: {type(error).__name__}: {said}")


def with_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Pass blocks on. Raise ValueError if a line is too long: a few bytes can unpack to one."""
    size = 0
    for block in blocks:
        end = block.rfind(b"\n") + 1
        size = len(block) - end if end else size + len(block)
        if size > MOST_BYTES:
            raise ValueError(f"a line of more than {MOST_BYTES:,} bytes")
        yield block


def kind(name: str) -> str:
    known = {
        ".json": "JSON", ".parquet": "Parquet", ".zst": "JSON lines", ".bin": "token ids",
        ".idx": "an index", ".npy": "an index", ".pkl": "facts for trainers",
        ".jsonl": "JSON lines",
    }  # fmt: skip
    return next((said for ending, said in known.items() if name.endswith(ending)), "what it is")
