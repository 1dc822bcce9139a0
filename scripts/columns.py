"""Find the columns that the members of records have in Parquet shards."""

import logging
from pathlib import Path

from corpusmill.mill.read.readers import refuse_changed
from corpusmill.mill.read.typed_columns import columns_of, types_of
from corpusmill.mill.shuffle.text_shards import OUR_COLUMNS
from corpusmill.mill.storage.streams import ReadLimits
from corpusmill.mill.storage.tables import save_schema
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def columns(files: list[dict], readers: list[str], limits: ReadLimits, columns: Path) -> None:
    """files: as in normalize. readers: the user's Python files that read other formats."""
    with phase("looking", len(files), "files") as progress:
        found = []
        for file in files:
            found.append(types_of(file["path"], file["text_field"], readers, limits))
            refuse_changed(file)
            progress.advance(1)
    schema = columns_of(found, OUR_COLUMNS)
    save_schema(columns, schema)
    logging.info("%d columns: %s", len(schema), ", ".join(f"{f.name} {f.type}" for f in schema))


if __name__ == "__main__":
    run(columns)
