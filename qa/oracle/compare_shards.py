"""Text shards, token shards, placements, joined files, meta.pkl and the manifest."""

import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from qa.oracle import shards
from qa.oracle.document import Outcome
from qa.oracle.finding import (
    ABSENT,
    columns_differ,
    file_facts_differ,
    forgive_floats,
    input_facts,
    read_json,
    read_parquet,
    rows_differ,
    sha256,
    tree_differ,
)
from qa.oracle.parquet_values import json_value
from qa.oracle.plan import splits_in_order
from qa.oracle.reading import zstd_frame

OURS = {
    "text": "large_string", "fields": "large_string",
    "corpusmill": "struct<id: uint64, copy: uint16, source: string>",
}  # fmt: skip
AS_THEY_WERE = {"bool", "int8", "int16", "int32", "int64", "float", "double", "date32[day]"}
"""Types of Parquet columns that every shard has as they were."""
PLACEMENT_COLUMNS = {
    "id": "uint64", "copy": "uint16", "source": "string", "split": "string", "shard": "uint32",
    "row": "uint32", "token_start": "uint64", "token_end": "uint64",
}  # fmt: skip
MOST_ROWS = 4_096


def joined(split: str) -> str:
    """The name of its joined file."""
    return "val" if split == "validation" else split


def compare_shards(results: Path, outcome: Outcome) -> Iterator[str]:
    yield from compare_names(results, outcome)
    for split, shard in outcome.shards:
        yield from compare_text_shard(results, outcome, split, shard)
        yield from compare_token_shard(results, outcome, split, shard)
    if outcome.config["output"]["join"]:
        yield from compare_joined(results, outcome)
    yield from compare_meta(results, outcome)
    yield from compare_manifest(results, outcome)


def text_ending(outcome: Outcome) -> str:
    return "jsonl.zst" if outcome.config["output"]["format"] == "jsonl.zst" else "parquet"


def compare_names(results: Path, outcome: Outcome) -> Iterator[str]:
    """No file is there that belongs to another run, and none is missing."""
    numbers = [f"{split}/{shard:05d}" for split, shard in outcome.shards]
    endings = {
        "corpus": [text_ending(outcome), "json"],
        "tokens": ["bin", "idx", "json"],
        "placements": ["parquet"],
    }
    for folder, kinds in endings.items():
        expected = {f"{number}.{kind}" for number in numbers for kind in kinds}
        if folder == "tokens":
            expected.add("meta.pkl")
            for split in splits_in_order(outcome.config):
                if outcome.config["output"]["join"] and outcome.shard_counts[split]:
                    expected |= {f"{joined(split)}.bin", f"{joined(split)}.json"}
            expected |= {
                f"{split}/groups.{ending}"
                for split, _ in outcome.shards
                for ending in ("npy", "json")
            }
            for split, length in outcome.packed:
                endings_of_pack = ("npy", "rows.npy", "json")
                expected |= {f"{split}/pack-{length}.{ending}" for ending in endings_of_pack}
        paths = (results / folder).rglob("*")
        got = {
            str(path.relative_to(results / folder))
            for path in paths
            if path.is_file() and path.name[0] != "."
        }
        for name in sorted(got ^ expected):
            fault = "not there" if name in expected else "does not belong to this run"
            yield f"results/{folder}/{name}: {fault}"


def compare_text_shard(results: Path, outcome: Outcome, split: str, shard: int) -> Iterator[str]:
    rows = outcome.shards[split, shard]
    name = f"corpus/{split}/{shard:05d}"
    path = results / f"{name}.{text_ending(outcome)}"
    if not path.exists():
        return
    shown = f"results/{path.relative_to(results)}"
    if text_ending(outcome) == "parquet":
        yield from compare_parquet(shown, path, rows, outcome)
    else:
        yield from compare_lines(shown, path, rows)
    facts = read_json(results / f"{name}.json")
    expected = shards.text_facts(rows)
    got = {key: facts.get(key) for key in expected}
    yield from tree_differ(f"results/{name}.json", got, expected)
    yield from file_facts_differ(f"results/{name}.json", facts, path)


def compare_parquet(
    name: str, path: Path, rows: list[shards.Row], outcome: Outcome
) -> Iterator[str]:
    metadata = pq.ParquetFile(path).metadata
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    if any(group.num_rows > MOST_ROWS for group in groups):
        yield f"{name}: a row group of more than {MOST_ROWS} rows"
    packings = {group.column(k).compression for group in groups for k in range(group.num_columns)}
    if packings - {"ZSTD"}:
        yield f"{name}: compressed by {packings}"
    table = pq.read_table(path)
    yield from types_differ(name, table.schema, outcome)
    columns = {column: list(map(json_value, table[column])) for column in table.column_names}
    got = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    told = [shards.told_by_row(row) for row in got]
    expected = [shards.told_by_document(row, columns.keys() - OURS.keys()) for row in rows]
    yield from rows_differ(name, told, expected)


def types_differ(name: str, schema: pa.Schema, outcome: Outcome) -> Iterator[str]:
    got = {field.name: str(field.type) for field in schema}
    if [*got][:1] != ["text"] or [*got][-2:] != ["fields", "corpusmill"] or len(got) < len(schema):
        yield f"{name}: columns {schema.names}"
    for column, type in OURS.items():
        if got.get(column) != type:
            yield f"{name}: column {column} is {got.get(column)}, expected {type}"
    for column, types in declared_types(outcome).items():
        if len(types) == 1 and types <= AS_THEY_WERE and {got.get(column)} != types:
            yield f"{name}: column {column} is {got.get(column)}, in Parquet files {types}"


def declared_types(outcome: Outcome) -> dict[str, set[str]]:
    """The types of members that only Parquet files have."""
    fields = {
        source["name"]: source.get("text_field", "text") for source in outcome.config["sources"]
    }
    found: dict[str, set[str]] = {}
    for file in (file for part in outcome.parts for file in part.files):
        if file.path.endswith(".parquet"):
            for column in pq.read_schema(outcome.folder / file.path):
                if column.name not in (*OURS, fields[file.source]):
                    found.setdefault(column.name, set()).add(str(column.type))
    for document in outcome.documents():
        if not document.file.endswith(".parquet"):
            for member in document.members:
                found.pop(member.name, None)
    return found


def came_from_parquet(row: shards.Row) -> bool:
    return row[3].file.endswith(".parquet")


def compare_lines(name: str, path: Path, rows: list[shards.Row]) -> Iterator[str]:
    frame = zstd_frame()
    data = frame.decompress(path.read_bytes())
    if not frame.eof or frame.unused_data:
        yield f"{name}: not one zstd frame"
    got, expected = data.split(b"\n"), [*shards.shard_lines(rows), b""]
    for place, (line, wanted) in enumerate(zip(got, expected[:-1], strict=False)):
        if came_from_parquet(rows[place]):
            got[place] = forgive_floats(line, wanted)
    yield from rows_differ(name, got, expected)


def compare_token_shard(results: Path, outcome: Outcome, split: str, shard: int) -> Iterator[str]:
    rows, tokens = outcome.shards[split, shard], outcome.tokens
    name = f"{split}/{shard:05d}"
    ids = shards.shard_ids(rows, tokens)
    path, index = results / f"tokens/{name}.bin", results / f"tokens/{name}.idx"
    wanted = shards.token_file(ids, tokens.dtype)
    if path.exists() and (got := path.read_bytes()) != wanted:
        places = (k for k, (a, b) in enumerate(zip(got, wanted, strict=False)) if a != b)
        first = next(places, min(len(got), len(wanted)))
        yield f"results/tokens/{name}.bin: {len(got)} bytes, expected {len(wanted)}; byte {first}"
    if index.exists() and index.read_bytes() != shards.index_file(ids):
        yield f"results/tokens/{name}.idx: not where the documents begin"
    facts = read_json(results / f"tokens/{name}.json")
    expected = shards.token_facts(rows, tokens)
    expected["tokenizer"] = outcome.tokenizer_name()
    got = {key: facts.get(key) for key in expected}
    yield from tree_differ(f"results/tokens/{name}.json", got, expected)
    yield from file_facts_differ(f"results/tokens/{name}.json", facts, path, index)
    path = results / f"placements/{name}.parquet"
    yield from columns_differ(f"results/placements/{name}.parquet", path, PLACEMENT_COLUMNS)
    found = read_parquet(path)
    placed = shards.placements(rows, ids, split, shard)
    yield from rows_differ(f"results/placements/{name}.parquet", found, placed)
    faults = {"documents": len(rows), "tokens": expected["tokens"], "faults": 0}
    verified = read_json(results / f"verify/{name}.json")
    got = {key: verified.get(key, ABSENT) for key in faults}
    yield from tree_differ(f"results/verify/{name}.json", got, faults)


def compare_joined(results: Path, outcome: Outcome) -> Iterator[str]:
    for split, count in outcome.shard_counts.items():
        if not count:
            continue
        numbers = range(count)
        ids = [shards.shard_ids(outcome.shards[split, k], outcome.tokens) for k in numbers]
        wanted = b"".join(shards.token_file(shard, outcome.tokens.dtype) for shard in ids)
        path = results / f"tokens/{joined(split)}.bin"
        if path.exists() and path.read_bytes() != wanted:
            yield f"results/tokens/{path.name}: not its shards one behind the other"
        facts = read_json(path.with_suffix(".json"))
        yield from file_facts_differ(f"results/tokens/{joined(split)}.json", facts, path)


def split_tokens(outcome: Outcome) -> dict[str, int]:
    found = dict.fromkeys(
        (s for s in splits_in_order(outcome.config) if outcome.shard_counts[s]), 0
    )
    for (split, _), rows in outcome.shards.items():
        found[split] += sum(map(len, shards.shard_ids(rows, outcome.tokens)))
    return found


def compare_meta(results: Path, outcome: Outcome) -> Iterator[str]:
    tokens = outcome.tokens
    expected = {
        "tokenizer": outcome.tokenizer_name(),
        "vocab_size": tokens.vocabulary,
        "eos_token_id": tokens.end_of_text,
        "dtype": tokens.dtype,
        "total_tokens": split_tokens(outcome),
        "generation": max(part.generation for part in outcome.parts),
    }
    path = results / "tokens/meta.pkl"
    if path.exists():
        got = pickle.loads(path.read_bytes())
        yield from tree_differ("results/tokens/meta.pkl", got, expected)


def compare_manifest(results: Path, outcome: Outcome) -> Iterator[str]:
    manifest = read_json(results / "manifest.json")
    heading = {
        "corpusmill.manifest": 1,
        "generation": max(part.generation for part in outcome.parts),
        "sources": outcome.sources(),
    }
    inputs = manifest.get("inputs", [])
    read = [input_facts(results.parent, file) for part in outcome.parts for file in part.files]
    yield from rows_differ("results/manifest.json: inputs", inputs[: len(read)], read)
    chain = {key: value for key, value in manifest.items() if key != "sha256"}
    written = json.dumps(chain, indent=1, ensure_ascii=False) + "\n"
    if sha256(written.encode()) != manifest["sha256"]:
        yield "results/manifest.json: its own digest is another"
    got = {key: manifest.get(key) for key in heading}
    yield from tree_differ("results/manifest.json", got, heading)
    got_paths = [entry["path"] for entry in manifest.get("files", [])]
    expected = manifest_files(results, outcome)
    in_any_order = sorted(got_paths), sorted(entry["path"] for entry in expected)
    yield from rows_differ("results/manifest.json: paths", *in_any_order)
    kinds = [kind_of(path) for path in got_paths]
    if kinds != sorted(kinds):
        yield f"results/manifest.json: files are not in the order of their kinds: {kinds}"
    by_path = {entry["path"]: entry for entry in manifest.get("files", [])}
    both = [entry for entry in expected if entry["path"] in by_path]
    got = [by_path[entry["path"]] for entry in both]
    yield from rows_differ("results/manifest.json", got, both)


def kind_of(path: str) -> int:
    """The place of a file's kind in the manifest."""
    folder, ending = path.split("/")[1], path.rsplit(".", 1)[-1]
    is_split = path.count("/") == 3
    if path.rsplit("/", 1)[-1].startswith("pack-"):
        return 9
    if path.rsplit("/", 1)[-1].startswith("groups."):
        return 10
    if ending == "bin":
        return 1 if is_split else 2
    if folder == "corpus":
        return 6 if ending == "json" else 0
    if folder == "tokens":
        return {"idx": 3, "pkl": 5, "json": 7 if is_split else 8}[ending]
    after = ("placements", "ledger", "clusters", "cut", "edited", "quarantine", "eye_test.txt")
    return 4 if folder == "tokenizer" else 11 + after.index(folder)


def manifest_files(results: Path, outcome: Outcome) -> list[dict]:
    found = []
    for (split, shard), rows in outcome.shards.items():
        documents = {"documents": len(rows)}
        ids = sum(map(len, shards.shard_ids(rows, outcome.tokens)))
        name = f"{split}/{shard:05d}"
        found.append({"path": f"corpus/{name}.{text_ending(outcome)}", **documents})
        found.append({"path": f"tokens/{name}.bin", **documents, "tokens": ids})
        found.append({"path": f"tokens/{name}.idx"})
    for split, count in outcome.shard_counts.items():
        if outcome.config["output"]["join"] and count:
            found.append({"path": f"tokens/{joined(split)}.bin"})
    files = [path for path in (results / "tokenizer").rglob("*") if path.is_file()]
    found += [
        {"path": str(path.relative_to(results))} for path in files if not path.name.startswith(".")
    ]
    found.append({"path": "tokens/meta.pkl"})
    tables = ["tokens/*/pack-*.npy", "tokens/*/groups.npy", "placements/*/*.parquet",
              "ledger/*.parquet", "clusters/*.parquet", "cut/*.parquet", "edited/*.parquet",
              "quarantine/*.jsonl", "eye_test.txt"]  # fmt: skip
    for pattern in ("corpus/*/*.json", "tokens/*/*.json", "tokens/*.json", *tables):
        found += [{"path": str(path.relative_to(results))} for path in results.glob(pattern)]
    for entry in found:
        path = results / entry["path"]
        data = path.read_bytes() if path.exists() else b""
        entry.update(path=f"results/{entry['path']}", bytes=len(data), sha256=sha256(data))
    return found
