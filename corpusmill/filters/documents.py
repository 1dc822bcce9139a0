"""What a filter is given of a part: its documents, some at a time."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from corpusmill.text.columns import TextColumn


class Documents(NamedTuple):
    """Some documents of a part, in its order."""

    texts: TextColumn
    batch: pa.RecordBatch
    """text, rest, file and line of each, see docs/formats.md."""
    files: list[dict[str, str]]
    """The input files of the part: source and path of each."""

    def __len__(self) -> int:
        return self.batch.num_rows

    def place(self, row: int) -> str:
        """`file:line` of a document."""
        path = self.files[self.batch.column("file")[row].as_py()]["path"]
        return f"{path}:{self.batch.column('line')[row].as_py()}"

    def records(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Text and record of each: the members beside the text, and `source`, `file`, `line`."""
        rows = self.batch.to_pydict()
        for text, rest, file, line in zip(
            rows["text"], rows["rest"], rows["file"], rows["line"], strict=True
        ):
            where = self.files[file]
            place = {"source": where["source"], "file": where["path"], "line": line}
            yield text, json.loads(b"{%s}" % rest) | place
