"""What the steps of deduplication read, made by hand: bands, verdicts, text parts, extracts."""

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpusmill.mill.dedup.candidates import Corpus
from corpusmill.mill.dedup.edges import EDGE
from corpusmill.mill.dedup.extracts import Extract
from corpusmill.mill.dedup.lsh import Bands, sorted_bands, sorted_digests
from corpusmill.mill.dedup.order import Order, Ranked
from corpusmill.mill.read.parts import TextWriter
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.tables import save_table


def edge_array(edges: list[tuple[int, int, int]]) -> np.ndarray:
    return np.array([tuple(edge) for edge in edges], EDGE)


def order_by_hand(rows: list[tuple[int, int | None, int]]) -> Order:
    """rows: of every document the rank, the number in its preferred field, less is better, and how
    short its text is."""
    ranks, numbers, shorter = zip(*rows, strict=True) if rows else ([], [], [])
    keys = [None if number is None else b"%020d" % number for number in numbers]
    return Order(
        np.array(ranks, np.uint64), pa.array(keys, pa.large_binary()), np.array(shorter, np.uint64)
    )


def order_rows(order: Order) -> list[tuple]:
    """Of every document what its place follows from; tuples compare as documents do."""
    keys = [None] * order.rank.size if order.preference is None else order.preference.to_pylist()
    rows = zip(order.rank.tolist(), keys, order.shorter.tolist(), strict=True)
    return [(rank, key is None, key or b"", shorter) for rank, key, shorter in rows]


def extract_by_hand(
    ids: list[int], order: list[tuple], texts: list[str], edges: list[tuple], sources=()
) -> Extract:
    """sources: their numbers; of one source if none are given."""
    column = TextColumn.of(string_array([text.encode() for text in texts]))
    numbers = np.array(sources or [0] * len(ids), np.uint32)
    return Extract(
        np.array(ids, np.uint64), order_by_hand(order), column, edge_array(edges), numbers
    )


def verdict_file(path: Path, fate, source: list[str], text_bytes, **by_field) -> Ranked:
    """results/filter/{part}.arrow and what order is made of in results/measures/{part}.arrow, in
    one file: one value per document."""
    names = sorted(set(source))
    of_row = pa.array([names.index(name) for name in source], pa.int32())
    save_table(
        path,
        fate=pa.array(["kept", *fate], pa.string()).dictionary_encode()[1:],
        text_bytes=np.array(text_bytes, np.uint64),
        source=pa.DictionaryArray.from_arrays(of_row, pa.array(names, pa.string())),
        **by_field,
    )
    return Ranked(path, path)


def text_part(path: Path, texts: list[str], rests: list[bytes] | None = None) -> Path:
    with text_writer(path, [{"source": "s", "path": "s.jsonl"}]) as writer:
        for line, text in enumerate(texts):
            writer.add(text.encode(), rests[line] if rests else b"", 0, line + 1)
    return path


@contextlib.contextmanager
def text_writer(path: Path, files: list[dict]) -> Iterator[TextWriter]:
    with writing(path) as file:
        writer = TextWriter(file, files)
        yield writer
        writer.close()


def write_bytes(path: Path, content: bytes) -> None:
    """A file with its sums, as a job of another run might have written it."""
    with writing(path, kept=True) as file:
        file.write(content)


def candidate_files(
    folder: Path, parts: list[list[int]], sketches: list[list[int]], bands: int, rows: int
) -> tuple[list[Bands], list[Bands], Corpus]:
    """(bands, bands of digests, corpus) of parts whose documents are texts of these sketches.

    Verdicts and measures of part n are expected in n.verdicts.
    """
    folder = Path(folder)
    table = np.array(sketches, np.uint32).reshape(len(sketches), -1)
    hashes = [hashlib.sha256(b"%d" % text).digest() for text in range(len(sketches))]
    digests = np.frombuffer(b"".join(hashes), np.uint8).reshape(-1, 32)
    banded, digested = [], []
    for number, texts in enumerate(parts):
        mine = np.array(texts, np.int64)
        save_array(folder / f"{number}.signatures", table[mine])
        save_array(folder / f"{number}.digests", digests[mine])
        every = np.arange(mine.size, dtype=np.uint32)
        sorted_bands(table[mine], every, bands, rows, folder / f"{number}.bands")
        sorted_digests(digests[mine], every, folder / f"{number}.texts")
        banded.append(Bands(number, folder / f"{number}.bands"))
        digested.append(Bands(number, folder / f"{number}.texts"))
    files = [
        [folder / f"{n}.{kind}" for n in range(len(parts))] for kind in ("signatures", "digests")
    ]
    ranked = [Ranked(*[folder / f"{n}.verdicts"] * 2) for n in range(len(parts))]
    return banded, digested, Corpus(*files, ranked)
