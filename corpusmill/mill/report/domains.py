"""Domains of crawled documents: exact counts of documents and bytes, and the largest domains.

The domain of a document is the host of its URL without a leading `www.`. Each block of parts has
one file with one record batch per shelf, a fixed share of all domains. The files of all blocks are
added shelf by shelf, so memory depends on the domains of a shelf and on the domains to be listed.
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from corpusmill.mill.filters.documents import member_at
from corpusmill.mill.filters.features.urls import host_of
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.sums import CheckedFile

SHELVES = 64
LISTED_SHARE = 0.1
"""Share of the domains that the template of the EU asks for."""
MOST_LISTED = 1_000_000
MOST_ROWS = 1_000_000
NO_DOMAIN = ""
"""Stands for documents without a URL, or with a URL that has no valid host."""
HOST = re.compile(r"(?=.{1,253}\Z)[\w:][\w.:-]*")
"""Names of any alphabet, and IP addresses. Nothing else is a domain, such as a formula."""

SCHEMA = pa.schema(
    [("domain", pa.string()), ("documents", pa.uint64()), ("text_bytes", pa.uint64())]
)


class Domains(NamedTuple):
    """The domains of all crawled documents that were kept."""

    largest: pa.Table
    """The largest tenth by bytes; of equal ones the first in sort order."""
    number: int
    documents: int
    text_bytes: int
    without: int
    """Documents without a domain, which the other figures include."""


def domain_of(url: str | None) -> str:
    """Return the domain of a URL as JSON text; NO_DOMAIN if there is none."""
    if url is None or not url.startswith('"'):
        return NO_DOMAIN
    host = host_of(msgspec.json.decode(url, type=str).strip()).removeprefix("www.")
    return host if HOST.fullmatch(host) else NO_DOMAIN


def domains_of_part(
    path: Path, members: dict[str, str], kept: np.ndarray, text_bytes: np.ndarray
) -> pa.Table:
    """Return the domains of a part's kept documents.

    path: of the text part. members: record member with the URL, of each crawled source. kept,
    text_bytes: of every document.
    """
    part = TextPart(path, ["rest", "file"])
    of_file = [members.get(file["source"], "") for file in part.files]
    documents: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    first = 0
    # Most parts have one source. Without a crawled one, no record is read.
    for batch in part.batches() if any(of_file) else ():
        files, rests = batch.column("file").to_pylist(), batch.column("rest")
        for row in np.flatnonzero(kept[first : first + batch.num_rows]).tolist():
            if member := of_file[files[row]]:
                record = b"{%s}" % rests[row].as_py()
                domain = domain_of(member_at(record, member.split(".")))
                documents[domain] += 1
                sizes[domain] += int(text_bytes[first + row])
        first += batch.num_rows
    return pa.table([[*documents], [*documents.values()], [*sizes.values()]], schema=SCHEMA)


def added(tables: Iterable[pa.Table], most_rows: int = MOST_ROWS) -> pa.Table:
    """Return the sum of tables, sorted by domain. most_rows: to hold at once, beside the sum and
    as many rows as it has."""
    found, waiting, rows = SCHEMA.empty_table(), [], 0
    for table in tables:
        waiting.append(table)
        rows += table.num_rows
        if rows > max(most_rows, found.num_rows):
            found, waiting, rows = summed([found, *waiting]), [], 0
    return summed([found, *waiting]).sort_by("domain")


def summed(tables: list[pa.Table]) -> pa.Table:
    groups = pa.concat_tables(tables).group_by("domain", use_threads=False)
    found = groups.aggregate([("documents", "sum"), ("text_bytes", "sum")])
    return found.rename_columns(SCHEMA.names).cast(SCHEMA)


def save_domains(path: Path, domains: pa.Table) -> None:
    """Save a table of `added`, one record batch per shelf."""
    names = domains["domain"].to_pylist()
    shelves = np.array([zlib.crc32(name.encode()) % SHELVES for name in names], np.int64)
    with writing(path) as file, pa.ipc.new_file(file, SCHEMA) as writer:
        for shelf in range(SHELVES):
            mine = domains.filter(pa.array(shelves == shelf)).combine_chunks()
            writer.write_batch(next(iter(mine.to_batches()), empty_batch()))


def empty_batch() -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], SCHEMA)


def all_domains(files: list[Path], most: int = MOST_LISTED) -> Domains:
    """Add up the domains of all blocks. most: the maximum number of domains to list."""
    largest, number, documents, text_bytes, without = SCHEMA.empty_table(), 0, 0, 0, 0
    for shelf in range(SHELVES if files else 0):
        batches = (pa.ipc.open_file(CheckedFile(file)).get_batch(shelf) for file in files)
        found = added(pa.Table.from_batches([batch]) for batch in batches)
        documents += total(found["documents"])
        text_bytes += total(found["text_bytes"])
        has_name = np.array([name != NO_DOMAIN for name in found["domain"].to_pylist()], bool)
        without += total(found["documents"].filter(pa.array(~has_name)))
        number += int(has_name.sum())
        largest = pa.concat_tables([largest, found.filter(pa.array(has_name))])
        largest = ranked(largest).slice(0, most).combine_chunks()
    listed = min(math.ceil(number * LISTED_SHARE), most)
    return Domains(largest.slice(0, listed), number, documents, text_bytes, without)


def ranked(domains: pa.Table) -> pa.Table:
    return domains.sort_by([("text_bytes", "descending"), ("domain", "ascending")])


def total(column: pa.ChunkedArray) -> int:
    return int(column.to_numpy().sum())
