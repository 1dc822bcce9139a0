"""What was decided of every document: the one table that later steps read.

One file for a block of parts, a record batch for each: row i is row i of the part's text.
"""

from pathlib import Path

import pyarrow as pa

from corpusmill.mill.decide.fate_columns import FateColumn
from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.sums import CheckedFile, DamagedError

SCHEMA = pa.schema(
    [
        ("fate", pa.dictionary(pa.uint8(), pa.string())),
        ("winner", pa.uint64()),
        ("similarity", pa.float32()),
        ("stage", pa.uint8()),
        ("held_out_by", pa.uint8()),
        ("split", pa.uint8()),
        ("copies", pa.uint16()),
    ]
)


def save_decided(
    path: Path, first: int, fates: list[FateColumn], others: list[dict[str, pa.Array]]
) -> None:
    """The columns of each part of the block, the first of which has the number `first`."""
    # An Arrow file has one list of names; the table of a part without documents forgets its own.
    known = [column.names for column in fates if column.numbers.size] or [fates[0].names]
    names = known[0]
    assert all(one == names for one in known), known
    schema = SCHEMA.with_metadata({"corpusmill.decided": "1", "first": str(first)})
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with (
        writing(path) as file,
        pa.ipc.new_file(file, schema, options=options) as writer,
    ):
        for column, other in zip(fates, others, strict=True):
            column.names = names
            columns = {"fate": column.array(), **other}
            arrays = [pa.array(columns[field.name], field.type) for field in SCHEMA]
            writer.write_batch(pa.record_batch(arrays, schema=schema))


def load_decided(path: Path, part: int) -> pa.RecordBatch:
    """What was decided of one of the parts that the file is about."""
    file = pa.ipc.open_file(CheckedFile(path))
    metadata = file.schema.metadata or {}
    if metadata.get(b"corpusmill.decided") != b"1":
        raise DamagedError(path, "expected a table of decisions")
    return file.get_batch(part - int(metadata[b"first"]))
