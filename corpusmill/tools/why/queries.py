"""Parses queries: an id, a line of an input file, a line of a text shard, a token, a text."""

import re
from pathlib import Path
from typing import NamedTuple

from corpusmill.messages.near_names import near_names
from corpusmill.mill.decide.fates import STAGE_NAME
from corpusmill.run.layout import joined_name
from corpusmill.run.typed import as_given
from corpusmill.tools.why.copies_in_shards import (
    document_at,
    row_of_token,
    shard_of_joined,
    token_file,
)
from corpusmill.tools.why.facts import Facts
from corpusmill.tools.why.ledger import Ledger
from corpusmill.tools.why.results import Results
from corpusmill.tools.why.texts import digest_of

SHARD_LINE = re.compile(rf"corpus/({STAGE_NAME})/(\d{{5}})\.(?:jsonl\.zst|parquet)")
TOKEN = re.compile(rf"tokens/({STAGE_NAME})/(\d{{5}})\.bin")
JOINED_TOKEN = re.compile(rf"tokens/({STAGE_NAME})\.bin")


class Token(NamedTuple):
    """A token of a document's copy: shard, position in it, and the copy's first and last
    position."""

    split: str
    shard: int
    position: int
    start: int
    end: int


class Found(NamedTuple):
    """The document of a query, and where the query points, in words."""

    facts: Facts
    hit: str = ""
    token: Token | None = None


def found_by(results: Results, ledger: Ledger, query: str) -> Found:
    """Return the document of a query. Raise ValueError if there is none."""
    if query.isdecimal():
        return Found(Facts(results, ledger, ledger.of_id(int(query))))
    path, colon, number = query.rpartition(":")
    if not colon or not number.isdecimal() or not path:
        raise ValueError(
            f"{query}: expected the id of a document, FILE:LINE of an input file or a text shard "
            "(corpus/train/00000.jsonl.zst:17), or FILE:TOKEN (tokens/train/00000.bin:123). To "
            "find a text, use --text."
        )
    if path not in results.files and (inside := path_inside(results, path)):
        if shard := SHARD_LINE.fullmatch(inside):
            return by_shard_line(results, ledger, (shard[1], int(shard[2])), int(number))
        if shard := TOKEN.fullmatch(inside):
            return by_token(results, ledger, (shard[1], int(shard[2])), int(number))
        if joined := JOINED_TOKEN.fullmatch(inside):
            names = {joined_name(split): split for split in results.shards}
            split = names.get(joined[1], joined[1])
            shard_number, position = shard_of_joined(results, split, int(number))
            return by_token(results, ledger, (split, shard_number), position)
    return by_place(results, ledger, path, int(number))


def path_inside(results: Results, path: str) -> str | None:
    """Return the part of a path below the results (corpus/..., tokens/...); None if it is
    elsewhere."""
    if path.startswith(("corpus/", "tokens/")):
        return path
    try:
        inside = Path(path).resolve().relative_to(results.folder.resolve())
    except ValueError:
        return None
    return inside.as_posix()


def by_place(results: Results, ledger: Ledger, path: str, line: int) -> Found:
    file = milled_path(results, path)
    part = results.files[file][0].number
    rows = ledger.of_place(part, file, line)
    if not rows:
        last = ledger.last_line(part, file)
        has = f"its records are on lines up to {last}" if last else "it has no record"
        raise ValueError(f"{file} has no record on line {line}: {has}.")
    return Found(Facts(results, ledger, rows[0]))


def milled_path(results: Results, path: str) -> str:
    """Return the path of an input file as the run read it, given that, another path to it, or its
    unique end. Raise ValueError with similar names if there is none."""
    files = results.files
    if path in files:
        return path
    ends = [one for one in files if one.endswith(f"/{path}")]
    if len(ends) > 1:
        some = ", ".join(ends[:3])
        raise ValueError(
            f"{path}: the paths of {len(ends)} input files end like this: {some}. Give more of "
            "the path."
        )
    if ends:
        return ends[0]
    real = Path(path).resolve()
    for one in files:
        if Path(one).name == real.name and results.input_file(one).resolve() == real:
            return one
    near = near_names(path, files, 0.4)[:3]
    meant = f" Nearest: {', '.join(near)}." if near else ""
    raise ValueError(f"{path} is not one of the {len(files):,} files that the run read.{meant}")


def by_shard_line(results: Results, ledger: Ledger, shard: tuple[str, int], line: int) -> Found:
    if line < 1:
        raise ValueError("lines count from 1.")
    id, copy = document_at(results, *shard, line - 1)
    place = f"{shard[0]}/{shard[1]:05d}"
    hit = f"Line {line:,} of {results.folder}/corpus/{place}.{results.text_ending} is "
    return Found(
        Facts(results, ledger, ledger.of_id(id)), f"{hit}copy {copy + 1} of document {id}."
    )


def by_token(results: Results, ledger: Ledger, shard: tuple[str, int], position: int) -> Found:
    index = token_file(results, *shard, "idx")
    row = row_of_token(index, position)
    id, copy = document_at(results, *shard, row)
    facts = Facts(results, ledger, ledger.of_id(id))
    (its,) = [one for one in facts.copies if one.copy == copy]
    token = Token(*shard, position, its.token_start, its.token_end)
    where = f"{results.folder}/tokens/{shard[0]}/{shard[1]:05d}.bin"
    hit = (
        f"Token {position:,} of {where} is token {position - its.token_start + 1:,} of "
        f"{its.token_end - its.token_start:,} in document "
        f"{id}."
    )
    return Found(facts, hit, token)


def with_text(results: Results, ledger: Ledger, text: str) -> tuple[list[Facts], int]:
    """Return the first documents with exactly this text, and their number. If there are none, try
    without a final newline, which editors add."""
    from corpusmill.mill.read.normalization import normalizer

    normal = normalizer(**as_given(results.config.normalize))(text)
    rows, count = ledger.with_digest(digest_of(normal))
    if not count and normal.endswith("\n"):
        rows, count = ledger.with_digest(digest_of(normal[:-1]))
    return [Facts(results, ledger, row) for row in rows], count
