"""Reading results and saying what is different in them."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import xxhash

JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[^",:{}\[\]]+|[,:{}\[\]]')
NUMBER = re.compile(rb"-?[0-9.]+(?:[eE][+-]?[0-9]+)?")
MOST_LINES = 3
ABSENT = "(absent)"


def short(value: object) -> str:
    told = repr(value)
    return told if len(told) <= 160 else told[:157] + "..."


def rows_differ(name: str, got: list, expected: list) -> Iterator[str]:
    """The first rows that differ, and how many more there are."""
    if len(got) != len(expected):
        yield f"{name}: {len(got)} rows, expected {len(expected)}"
    if got and expected and isinstance(got[0], dict):
        names, wanted = set(got[0]), set(expected[0])
        if names != wanted:
            told = f"not there: {sorted(wanted - names)}; beside them: {sorted(names - wanted)}"
            yield f"{name}: {told}"
        shared = names & wanted
        got = [{key: row.get(key) for key in shared} for row in got]
        expected = [{key: row.get(key) for key in shared} for row in expected]
    wrong = [k for k, (a, b) in enumerate(zip(got, expected, strict=False)) if a != b]
    for k in wrong[:MOST_LINES]:
        yield f"{name}: row {k}: {row_difference(got[k], expected[k])}"
    if len(wrong) > MOST_LINES:
        yield f"{name}: {len(wrong) - MOST_LINES} more rows differ"


def row_difference(got: object, expected: object) -> str:
    if isinstance(got, dict) and isinstance(expected, dict):
        keys = [key for key in {**expected, **got} if got.get(key) != expected.get(key)]
        who = f"{ {key: expected[key] for key in ('id', 'file', 'line') if key in expected} } "
        return who + "; ".join(
            f"{key} {both(got.get(key, ABSENT), expected.get(key, ABSENT))}" for key in keys
        )
    return both(got, expected)


def both(got: object, expected: object) -> str:
    """The two values; of long texts what stands around the first place where they differ."""
    kind = (str, bytes)
    if not (isinstance(got, kind) and type(got) is type(expected) and len(got) > 160):
        return f"{short(got)}, expected {short(expected)}"
    same = zip(got, expected, strict=False)
    place = next((k for k, (a, b) in enumerate(same) if a != b), min(len(got), len(expected)))
    around = slice(max(0, place - 20), place + 60)
    return f"at {place}: {short(got[around])}, expected {short(expected[around])}"


def tree_differ(name: str, got: object, expected: object, where: str = "") -> Iterator[str]:
    """Differences of two JSON trees; members that are zero or empty may be absent."""
    if isinstance(expected, dict | None) and isinstance(got, dict | None):
        got, expected = got or {}, expected or {}
        for key in {**expected, **got}:
            inner = f"{where}.{key}" if where else key
            yield from tree_differ(name, got.get(key), expected.get(key), inner)
    elif (got or 0) != (expected or 0):
        yield f"{name}: {where}: {short(got)}, expected {short(expected)}"


def forgive_floats(got: bytes, expected: bytes) -> bytes:
    """`expected` if `got` is the same JSON but for how a float's exponent is written.

    Only for what came from Parquet, where the documentation fixes a float's value, not its form.
    """
    ours, theirs = JSON_TOKEN.findall(got), JSON_TOKEN.findall(expected)
    alike = len(ours) == len(theirs) and all(
        one == other or same_float(one, other) for one, other in zip(ours, theirs, strict=True)
    )
    return expected if alike else got


def same_float(one: bytes, other: bytes) -> bool:
    numbers = NUMBER.fullmatch(one) and NUMBER.fullmatch(other)
    return bool(numbers) and b"e" in (one + other).lower() and float(one) == float(other)


def some_members(tree: dict, wanted: dict) -> dict:
    return {key: tree.get(key) for key in wanted}


def read_json(path: Path) -> dict:
    return json.loads(path.read_text()) if path.exists() else {}


def reports_of(results: Path, step: str) -> list[dict]:
    """The counts of a step's jobs, in order."""
    return [read_json(file) for file in sorted((results / step).glob("[0-9]*.json"))]


def read_parquet(path: Path) -> list[dict]:
    return pq.ParquetFile(path).read().to_pylist() if path.exists() else []


def columns_differ(name: str, path: Path, expected: dict[str, str]) -> Iterator[str]:
    """Names and types of a Parquet file's columns, in their order."""
    schema = pq.read_schema(path) if path.exists() else []
    got = {field.name: str(field.type) for field in schema}
    if list(got.items()) != list(expected.items()):
        yield f"{name}: columns {got}, expected {expected}"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def input_facts(folder: Path, file) -> dict:
    """What is told of an input file that was read."""
    data = (folder / file.path).read_bytes()
    facts = {"bytes": len(data), "sha256": sha256(data)}
    return {"source": file.source, "path": str(file.path), **facts}


def sums_of(name: str, data: bytes) -> bytes:
    """The sums of all blocks of a file, name: its path below results."""
    seed = xxhash.xxh3_64(name.encode()).intdigest()
    blocks = [data[place : place + 32_768] for place in range(0, len(data), 32_768)]
    sums = [
        xxhash.xxh3_64(block, seed=(seed + number) % 2**64).intdigest()
        for number, block in enumerate(blocks)
    ]
    return b"".join(one.to_bytes(8, "little") for one in sums)


def content_digest(results: Path, name: str) -> str:
    data = (results / name).read_bytes()
    return xxhash.xxh3_128(sums_of(name, data), seed=len(data)).hexdigest()


def file_facts_differ(name: str, facts: dict, path: Path, index: Path | None = None):
    """`bytes`, `sha256` and `index_sha256` are those of the files."""
    data = path.read_bytes() if path.exists() else b""
    expected: dict[str, object] = {"bytes": len(data), "sha256": sha256(data)}
    if index is not None:
        expected["index_sha256"] = sha256(index.read_bytes()) if index.exists() else ABSENT
    yield from tree_differ(name, some_members(facts, expected), expected)
