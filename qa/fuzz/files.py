"""Input files: lines packed in every way, and Parquet with every type that it stores."""

import datetime
import decimal
import gzip
import itertools
import random
import uuid
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

ENDINGS = (".jsonl.zst", ".jsonl.gz", ".jsonl", ".parquet")

MOMENTS = [0, 1, -1, 1_700_000_000, -62_135_596_800 + 86400, 4_102_444_800]
DAYS = [datetime.date(1970, 1, 1), datetime.date(2024, 2, 29), datetime.date(1, 1, 2)]
DECIMAL = decimal.Decimal


def pack(data: bytes, ending: str, pieces: int) -> bytes:
    """The bytes of a file with this ending, in so many frames or members (cut anywhere)."""
    cuts = [len(data) * k // pieces for k in range(pieces + 1)]
    parts = [data[a:b] for a, b in itertools.pairwise(cuts)]
    if ending == ".jsonl.zst":
        return b"".join(zstandard.ZstdCompressor(level=1).compress(part) for part in parts)
    if ending == ".jsonl.gz":
        return b"".join(gzip.compress(part, mtime=0) for part in parts)
    return data


def unpack(data: bytes, ending: str) -> bytes:
    if ending == ".jsonl.zst":
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as stream:
            return stream.read()
    return gzip.decompress(data) if ending == ".jsonl.gz" else data


def joined(random: random.Random, lines: list[bytes]) -> bytes:
    """Lines as a file: with LF or CRLF, with or without an end of the last one."""
    end = random.choice([b"\n", b"\n", b"\n", b"\r\n"])
    data = b"".join(line + end for line in lines)
    # A last line without a byte is no line without its end.
    return data[: -len(end)] if lines and lines[-1] and random.random() < 0.3 else data


def _moments(unit: str, zone: str | None = None):
    factor = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    few = [at for at in MOMENTS if unit != "ns" or abs(at) < 9 * 10**9]
    return pa.timestamp(unit, zone), [at * factor + min(factor - 1, 7) for at in few]


TYPES = {
    "bool": (pa.bool_(), [True, False]),
    "int8": (pa.int8(), [-128, 0, 127]),
    "int16": (pa.int16(), [-32768, 5]),
    "int32": (pa.int32(), [-(2**31), 2**31 - 1]),
    "int64": (pa.int64(), [-(2**63), 2**63 - 1, 2**53 + 1]),
    "uint8": (pa.uint8(), [0, 255]),
    "uint16": (pa.uint16(), [0, 65535]),
    "uint32": (pa.uint32(), [0, 2**32 - 1]),
    "uint64": (pa.uint64(), [0, 2**64 - 1, 2**53 + 1]),
    "half": (pa.float16(), [0.0, -0.0, 1.5, float("nan"), float("inf"), 0.1]),
    "float": (pa.float32(), [0.1, -0.0, 1e30, float("nan"), float("-inf"), 16777217.0]),
    "double": (pa.float64(), [0.1, -0.0, 1e300, 5e-324, 1e22, float("nan"), float("inf"), 3.0]),
    "decimal32": (pa.decimal32(5, 2), [DECIMAL("9.50"), DECIMAL("-0.01")]),
    "decimal64": (pa.decimal64(12, 0), [DECIMAL("123456789012"), DECIMAL("0")]),
    "decimal128": (pa.decimal128(38, 10), [DECIMAL("9.5000000000"), DECIMAL("-1e-10"), DECIMAL(0)]),
    "decimal256": (pa.decimal256(60, 20), [DECIMAL("1" + "0" * 39), DECIMAL("0.1")]),
    "date32": (pa.date32(), DAYS),
    "date64": (pa.date64(), DAYS),
    "time32 s": (pa.time32("s"), [0, 86399]),
    "time32 ms": (pa.time32("ms"), [0, 86_399_999]),
    "time64 us": (pa.time64("us"), [1, 86_399_999_999]),
    "time64 ns": (pa.time64("ns"), [1, 86_399_999_999_999]),
    "timestamp s": _moments("s"),
    "timestamp ms": _moments("ms"),
    "timestamp us": _moments("us"),
    "timestamp ns": _moments("ns"),
    "timestamp ms UTC": _moments("ms", "UTC"),
    "timestamp us zone": _moments("us", "+05:30"),
    "duration s": (pa.duration("s"), [0, -5]),
    "duration ms": (pa.duration("ms"), [7]),
    "duration us": (pa.duration("us"), [2**53 + 1]),
    "duration ns": (pa.duration("ns"), [-1, 10**18]),
    "string": (pa.string(), ["", "x", "é\u2028\x00", "NaN", '"\\/']),
    "large_string": (pa.large_string(), ["", "水"]),
    "string_view": (pa.string_view(), ["", "a string of more than twelve bytes"]),
    "binary": (pa.binary(), [b"", b"\xff\x00", b"abc"]),
    "large_binary": (pa.large_binary(), [b"\x80"]),
    "fixed binary": (pa.binary(4), [b"abcd", b"\x00\xff\x00\xff"]),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["red", "green"]),
    "list": (pa.list_(pa.float64()), [[], [1.5, None, float("nan")], [-0.0]]),
    "large_list": (pa.large_list(pa.string()), [["a", None], []]),
    "fixed list": (pa.list_(pa.int16(), 2), [[1, 2], [3, None]]),
    "list of times": (pa.list_(pa.timestamp("ns")), [[1, None], [10**18]]),
    "list of binary": (pa.list_(pa.binary()), [[b"\xfe", None]]),
    "struct": (
        pa.struct([("a", pa.int64()), ("b", pa.float32()), ("d", pa.date32())]),
        [{"a": 2**60, "b": 0.1, "d": DAYS[1]}, {"a": None, "b": float("inf"), "d": None}],
    ),
    "struct of decimals": (
        pa.struct([("price", pa.decimal128(9, 2)), ("for", pa.duration("ms"))]),
        [{"price": DECIMAL("9.50"), "for": 3}, {"price": None, "for": None}],
    ),
    "map": (pa.map_(pa.string(), pa.int32()), [[("k", 1), ("k", 2)], []]),
    "map of dates": (pa.map_(pa.date32(), pa.list_(pa.float64())), [[(DAYS[1], [0.5, None])]]),
    "uuid": (pa.uuid(), [uuid.UUID(int=5).bytes, uuid.UUID(int=2**128 - 1).bytes]),
    "bool8": (pa.bool8(), [0, 1]),
    "null": (pa.null(), [None]),
}  # fmt: skip
"""What a column is called here: its type, and values."""

PREFERRED = {
    "integers": ["int64", "uint64"],
    "decimals": ["double", "decimal128", "decimal256"],
    "texts": ["string"],
    "dates": ["timestamp ns", "timestamp us", "timestamp ms UTC", "timestamp us zone", "date32"],
}
PREFERRED |= {"dates and texts": PREFERRED["dates"], "mixed": ["int64", "string"]}


def column(random: random.Random, kind: str, rows: int) -> pa.Array:
    type, values = TYPES[kind]
    picked = [None if random.random() < 0.2 else random.choice(values) for _ in range(rows)]
    if pa.types.is_dictionary(type):
        return pa.array(picked, pa.string()).dictionary_encode()
    if pa.types.is_float16(type):
        return pa.array(picked, pa.float64()).cast(type)
    if isinstance(type, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(type, pa.array(picked, type.storage_type))
    return pa.array(picked, type)


NOT_UTF8 = b"cut \xe6\xb0"


def text_column(random: random.Random, texts: list[str | bytes | None]) -> pa.Array:
    """Text of any type; as string if some of it is not UTF-8."""
    if any(isinstance(text, bytes) for text in texts):
        stored = [text.encode() if isinstance(text, str) else text for text in texts]
        column = pa.array(stored, pa.binary())
        return column.view(pa.string()) if random.random() < 0.5 else column
    plain = pa.array(texts, pa.string())
    kinds = [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.large_binary(),
        pa.dictionary(pa.int32(), pa.string()),
    ]
    type = random.choice([kinds[0], *kinds])
    return plain.dictionary_encode() if pa.types.is_dictionary(type) else plain.cast(type)


DUMPS = ["2023", "2024", None, "2024", "2023", "", "2024"]
DUMPED = {
    "dump": lambda column: ("dump", column),
    "meta.dump": lambda column: ("meta", pa.StructArray.from_arrays([column], ["dump"])),
}
"""Member -> name and column of it."""


def write_parquet(
    random: random.Random,
    path: Path,
    text_field: str,
    texts: list[str | bytes | None],
    prefer: tuple,
) -> list[str]:
    """A file of these texts and some columns beside them; the kinds of the columns.

    prefer: name and kind of the field that duplicates are chosen by, or two Nones; and the member
    that divides documents, or None.
    """
    name, kind, within = prefer
    names = ["n", "corpusmill", "text", "id", "Größe", "", "before", "a b"]
    picked = random.sample([n for n in names if n not in (text_field, name)], random.randint(0, 5))
    columns = {other: random.choice(list(TYPES)) for other in picked}
    if name is not None and random.random() < 0.8:
        columns[name] = random.choice(PREFERRED[kind])
    order = random.sample([text_field, *columns], len(columns) + 1)
    arrays = [
        text_column(random, texts) if n == text_field else column(random, columns[n], len(texts))
        for n in order
    ]
    table = pa.Table.from_arrays(arrays, names=order)
    if within in DUMPED:
        dumps = [DUMPS[(row + len(text or "")) % len(DUMPS)] for row, text in enumerate(texts)]
        table = table.append_column(*DUMPED[within](pa.array(dumps, pa.string())))
    groups = random.choice([1, 7, 64, 10_000])
    pq.write_table(table, path, row_group_size=max(groups, len(texts) // 20), version="2.6",
                   compression=random.choice(["snappy", "zstd", "none", "gzip"]))  # fmt: skip
    return list(columns.values())


def ending_of(path: Path) -> str:
    return next(end for end in ENDINGS if path.name.endswith(end))


def read_lines(path: Path) -> list[bytes]:
    """The lines of a JSONL file, packed or not, with their ends."""
    *whole, last = unpack(path.read_bytes(), ending_of(path)).split(b"\n")
    return [line + b"\n" for line in whole] + ([last] if last else [])
