"""Parquet files."""

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from corpusmill.mill.read.input_format import InputFormat, ReadOptions
from corpusmill.mill.read.records import Malformed, Record
from corpusmill.mill.storage.regular_files import open_regular
from corpusmill.mill.storage.streams import ReadLimits

if TYPE_CHECKING:
    import pyarrow as pa


class Parquet(InputFormat):
    ending = ".parquet"
    text_per_byte = 3.0
    content = "one document per row"

    def read(
        self, path: str, text_field: str, options: ReadOptions
    ) -> Iterator[Record | Malformed]:
        from corpusmill.mill.read.parquet_records import parquet_records

        return parquet_records(path, text_field, options.progress, options.limits.line_bytes)

    def first_members(self, path: str, limits: ReadLimits) -> Iterator[dict[str, int | None]]:
        """Yield the columns, with the bytes of the first rows."""
        import pyarrow.compute as pc
        from pyarrow import types

        from corpusmill.mill.read.parquet_records import bounded_batches, named_if_damaged, paged
        from corpusmill.mill.read.parquet_values import is_bytes, is_text

        def text_bytes(column: "pa.Array") -> int | None:
            if not (is_text(column.type) or is_bytes(column.type)):
                return None
            whole = column.dictionary_decode() if types.is_dictionary(column.type) else column
            return pc.sum(pc.binary_length(whole)).as_py() or 0

        with named_if_damaged(path), open_regular(path) as stored:
            batches = bounded_batches(path, stored, paged(path, stored), limits.line_bytes)
            for batch in itertools.islice(batches, 1):
                sizes = map(text_bytes, batch.columns)
                yield dict(zip(batch.schema.names, sizes, strict=True))

    def schema(self, path: str) -> "pa.Schema":
        from corpusmill.mill.read.parquet_pages import opened
        from corpusmill.mill.read.parquet_records import named_if_damaged

        with named_if_damaged(path), open_regular(path) as file:
            return opened(path, file).schema_arrow
