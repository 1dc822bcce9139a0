"""What final text shards hold."""

import json
from collections.abc import Iterable
from decimal import Decimal
from itertools import accumulate

import numpy as np

from qa.oracle.document import Document
from qa.oracle.reading import members_json
from qa.oracle.strict_json import encode_string
from qa.oracle.tokens import Tokens

Row = tuple[int, int, int, Document]
OURS = ("text", "corpusmill")


def json_line(document: Document, copy: int) -> bytes:
    """The document as a line of a JSONL shard, without the newline."""
    moved = [member for name in OURS for member in document.members if member.name == name]
    others = [member for member in document.members if member.name not in OURS]
    source = encode_string(document.source)
    ours = f'"id":{document.id},"copy":{copy},"source":{source}'
    if moved:
        ours += f',"before":{{{members_json(moved)}}}'
    rest = members_json(others) + "," if others else ""
    return f'{{"text":{encode_string(document.text)},{rest}"corpusmill":{{{ours}}}}}'.encode()


def shard_lines(rows: list[Row]) -> list[bytes]:
    return [json_line(document, copy) for _, _, copy, document in rows]


def told_by_row(row: dict[str, str]) -> dict:
    """What a row of a Parquet shard says, its columns as JSON: text, who it is, all members."""
    told = {name: comparable(value) for name, value in row.items()}
    members = comparable(told["fields"])
    columns = {name: value for name, value in told.items() if name not in (*OURS, "fields")}
    twice = [name for name in members if columns.get(name) is not None]
    return {"text": told["text"], "corpusmill": told["corpusmill"], "twice": twice,
            "members": columns | members}  # fmt: skip


def told_by_document(row: Row, columns: Iterable[str]) -> dict:
    """The same of a document, in a shard that has the columns beside ours."""
    _, _, copy, document = row
    members = comparable("{" + members_json(document.members) + "}")
    return {
        "text": document.text,
        "corpusmill": {"id": Decimal(document.id), "copy": Decimal(copy),
                       "source": document.source},
        "twice": [],
        "members": dict.fromkeys(columns) | members,
    }  # fmt: skip


def comparable(value: str) -> object:
    """JSON as values of which those that say the same are equal; 1.50 and 1.5, not 1 and true."""
    return json.loads(value, parse_float=Decimal, parse_int=Decimal)


def shard_ids(rows: list[Row], tokens: Tokens) -> list[list[int]]:
    return [[*tokens.ids(document.text), tokens.end_of_text] for *_, document in rows]


def token_file(ids: list[list[int]], dtype: str) -> bytes:
    flat = [id_ for document in ids for id_ in document]
    return np.array(flat, dtype="<u2" if dtype == "uint16" else "<u4").tobytes()


def index_file(ids: list[list[int]]) -> bytes:
    starts = list(accumulate(map(len, ids), initial=0))
    return np.array(starts, dtype="<u8").tobytes()


def placements(rows: list[Row], ids: list[list[int]], split: str, shard: int) -> list[dict]:
    starts = list(accumulate(map(len, ids), initial=0))
    return [
        {
            "id": document.id,
            "copy": copy,
            "source": document.source,
            "split": split,
            "shard": shard,
            "row": row,
            "token_start": starts[row],
            "token_end": starts[row + 1],
        }
        for row, (_, _, copy, document) in enumerate(rows)
    ]


def text_facts(rows: list[Row]) -> dict:
    """`documents` and `by_source` of a text shard."""
    by_source: dict[str, dict[str, int]] = {}
    for *_, document in rows:
        counts = by_source.setdefault(document.source, {"documents": 0, "text_bytes": 0})
        counts["documents"] += 1
        counts["text_bytes"] += document.text_bytes
    return {"documents": len(rows), "by_source": by_source}


def token_facts(rows: list[Row], tokens: Tokens) -> dict:
    """What a token shard's `.json` says, but for the engine."""
    by_source = {}
    for source in {document.source for *_, document in rows}:
        documents = [document for *_, document in rows if document.source == source]
        by_source[source] = {
            "documents": len(documents),
            "tokens": sum(len(tokens.ids(d.text)) + 1 for d in documents),
            **tokens.losses(documents),
        }
    return {
        "corpusmill.tokens": 1,
        "documents": len(rows),
        "tokens": sum(counts["tokens"] for counts in by_source.values()),
        "by_source": by_source,
        "dtype": tokens.dtype,
        "vocabulary": tokens.vocabulary,
        "end_of_text_id": tokens.end_of_text,
    }
