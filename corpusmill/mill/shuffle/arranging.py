"""Arrange splits in an order other than shuffled: from tables of sizes and values to the place of
each band, or of each part.

Tables are read part by part, so memory does not depend on the size of the corpus.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.cells import number_name
from corpusmill.mill.decide.curriculum import Arranging, Curriculum
from corpusmill.mill.decide.fates import TRAIN
from corpusmill.mill.decide.mixture import NONE, shares_of_quantiles
from corpusmill.mill.decide.quantiles import quantiles_of
from corpusmill.mill.shuffle.orders import AsFound, Banded, Order, starts_of_bands
from corpusmill.mill.storage.arrays import StoredArray
from corpusmill.mill.storage.files import load_json, writing
from corpusmill.mill.storage.sums import CheckedFile

FIRST = "first"
SIZE, VALUE = "size", "value"


def schema_of(arranging: Arranging) -> pa.Schema:
    """Return the columns of a table of values: a row per document, 0 copies if it is dropped."""
    values = [(VALUE, pa.float64())] if arranging.curriculum else []
    copies = [(f"{split}_copies", pa.uint16()) for split in arranging.splits]
    return pa.schema([(SIZE, pa.int64()), *values, *copies])


def save_values(
    path: Path, first: int, arranging: Arranging, parts: Iterator[Mapping[str, np.ndarray]]
) -> None:
    """Save what the order needs to know of the parts of a block. first: number of its first part.

    parts: of each, the size of its documents, their value, and their copies by split.
    """
    schema = schema_of(arranging)
    described = schema.with_metadata({FIRST: str(first)})
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with writing(path) as file, pa.ipc.new_file(file, described, options=options) as writer:
        for columns in parts:
            arrays = [
                pa.array(columns[field.name.removesuffix("_copies")], field.type)
                for field in schema
            ]
            writer.write_batch(pa.record_batch(arrays, schema=described))


class Documents(NamedTuple):
    """What the order needs to know of the documents of a part."""

    sizes: np.ndarray  # int64: bytes of text plus 1
    values: np.ndarray  # float64: NaN for none, all 0 without a curriculum
    copies: dict[str, np.ndarray]  # uint16 by split

    @classmethod
    def of_batch(cls, batch: pa.RecordBatch, arranging: Arranging) -> "Documents":
        sizes = batch.column(SIZE).to_numpy()
        curriculum = arranging.curriculum
        values = batch.column(VALUE).to_numpy() if curriculum else np.zeros(sizes.size)
        # So the first band is the one with the greatest values.
        values = -values if curriculum and curriculum.descending else values
        copies = {
            split: batch.column(f"{split}_copies").to_numpy() for split in arranging.splits
        }  # fmt: skip
        return cls(sizes, values, copies)


def documents_of(paths: list[Path], arranging: Arranging) -> Iterator[Documents]:
    """Yield the documents part by part. paths: the tables of all blocks."""
    for path in paths:
        file = pa.ipc.open_file(CheckedFile(path))
        for place in range(file.num_record_batches):
            yield Documents.of_batch(file.get_batch(place), arranging)


class Arranged(NamedTuple):
    """The place of each band or part."""

    told: dict[str, Any]
    """As JSON, by split."""
    starts: np.ndarray
    """int64 (splits, parts, most copies): the size of all copies before the part's first copies,
    second copies and so on. Empty with a curriculum."""


def arrange(paths: list[Path], arranging: Arranging) -> Arranged:
    """Return the arrangement of all splits; raise ValueError if there is none. paths: the tables
    of all blocks."""
    if not arranging.curriculum:
        return as_found(paths, arranging)
    told = {
        split: in_bands(paths, arranging, split, arranging.curriculum)
        for split in arranging.splits
    }  # fmt: skip
    return Arranged(told, np.zeros((0, 0, 0), np.int64))


def as_found(paths: list[Path], arranging: Arranging) -> Arranged:
    splits = arranging.splits
    of_parts = []
    for documents in documents_of(paths, arranging):
        most = max(int(one.max(initial=0)) for one in documents.copies.values())
        of_part = np.zeros((len(splits), most), np.int64)
        for place, split in enumerate(splits):
            for number in range(most):
                chosen = documents.copies[split] > number
                of_part[place, number] = documents.sizes[chosen].sum()
        of_parts.append(of_part)
    passes = max((one.shape[1] for one in of_parts), default=0)
    sizes = np.zeros((len(splits), passes, len(of_parts)), np.int64)
    for part, of_part in enumerate(of_parts):
        sizes[:, : of_part.shape[1], part] = of_part
    flat = sizes.reshape(len(splits), -1)
    starts = (np.cumsum(flat, axis=1) - flat).reshape(sizes.shape).transpose(0, 2, 1)
    totals = flat.sum(axis=1).tolist()
    told = {split: {"size": total} for split, total in zip(splits, totals, strict=True)}
    return Arranged(told, np.ascontiguousarray(starts))


def in_bands(
    paths: list[Path], arranging: Arranging, split: str, curriculum: Curriculum
) -> dict[str, Any]:
    """Return the limits of the bands, and what is in each."""

    def pieces() -> Iterator[dict[str, np.ndarray]]:
        for documents in documents_of(paths, arranging):
            chosen = documents.copies[split] > 0
            copies = documents.copies[split][chosen].astype(np.int64)
            yield {
                VALUE: documents.values[chosen],
                SIZE: documents.sizes[chosen] * copies,
                "copies": copies,
            }

    shares = shares_of_quantiles(curriculum.bands)
    found = quantiles_of(pieces, {VALUE: shares} if shares else {}, SIZE)
    edges = np.array(found.get(VALUE, []), np.float64)
    counts = np.zeros((3, curriculum.bands + 1), np.int64)
    for piece in pieces():
        bands = bands_of(piece[VALUE], edges, curriculum.bands)
        np.add.at(counts[0], bands, 1)
        np.add.at(counts[1], bands, piece["copies"])
        np.add.at(counts[2], bands, piece[SIZE])
    refuse_missing(split, curriculum, int(counts[0].sum()), int(counts[0, -1]))
    if not counts[0].any():
        return {"value": curriculum.name, "edges": [], "bands": []}
    return {
        "value": curriculum.name,
        "edges": [edge.hex() for edge in edges.tolist()],
        "bands": [
            {"band": name, "documents": documents, "copies": copies, "size": size}
            for name, (documents, copies, size) in zip(
                names_of_bands(edges, curriculum.descending), counts.T.tolist(), strict=True
            )
        ],
    }


def bands_of(values: np.ndarray, edges: np.ndarray, bands: int) -> np.ndarray:
    """Return int64: the band of each value, from 0; `bands` for none."""
    return np.where(np.isnan(values), bands, np.searchsorted(edges, values, "right"))


def refuse_missing(split: str, curriculum: Curriculum, documents: int, without: int) -> None:
    """Raise ValueError if no document has a value, or some have none that must."""
    of_split = "train" if split == TRAIN else f"stage {split}"
    if documents and without == documents:
        raise ValueError(
            f"shuffle.order: no document of {of_split} has a value for {curriculum.name}. Choose "
            "another value."
        )
    if without and curriculum.missing == "fail":
        raise ValueError(
            f"shuffle.order: {without:,} documents of {of_split} have no value for "
            f"{curriculum.name}. Set missing to last, or filter them out."
        )


def lines_of(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line per split or band."""
    for split, of_split in told.items():
        if "bands" not in of_split:
            yield f"{split}: as found, size {of_split['size']:,}"
            continue
        for band in of_split["bands"]:
            yield (
                f"{split}, {of_split['value']} {band['band']}: {band['documents']:,} documents, "
                f"{band['copies']:,} copies, size {band['size']:,}"
            )


def names_of_bands(edges: np.ndarray, descending: bool) -> list[str]:
    """Name each band by its limits, and the last one `none`."""
    limits = (-edges if descending else edges).tolist()
    told = [number_name(limit) if math.isfinite(limit) else str(limit) for limit in limits]
    if not told:
        return ["any", NONE]
    between = [f"{edge} to {after}" for edge, after in itertools.pairwise(told)]
    least, most = (">", "<=") if descending else ("<", ">=")
    return [f"{least}{told[0]}", *between, f"{most}{told[-1]}", NONE]


class OrderGiven(NamedTuple):
    """The settings, and the files with the order of a part's documents; none if all splits are
    shuffled."""

    arranging: Arranging | None
    values: list[Path]
    """Of the part's block."""
    arrangement: list[Path]
    starts: list[Path]


def load_orders(given: OrderGiven, part: int) -> dict[str, Order]:
    """Return the order of a part's documents in each split that is not shuffled."""
    arranging = given.arranging
    if arranging is None:
        return {}
    (values,), (arrangement,), (starts,) = given.values, given.arrangement, given.starts
    file = pa.ipc.open_file(CheckedFile(values))
    first = int((file.schema.metadata or {})[FIRST.encode()])
    documents = Documents.of_batch(file.get_batch(part - first), arranging)
    told = load_json(arrangement)["splits"]
    of_splits = StoredArray.open(starts)
    found: dict[str, Order] = {}
    for place, (split, of_split) in enumerate(told.items()):
        if curriculum := arranging.curriculum:
            edges = np.array([float.fromhex(one) for one in of_split["edges"]], np.float64)
            bands = bands_of(documents.values, edges, curriculum.bands)
            sizes = [band["size"] for band in of_split["bands"]]
            found[split] = Banded(bands, starts_of_bands(sizes))
        else:
            of_part = np.array(of_splits.row(place)[part])
            found[split] = AsFound(documents.sizes, of_part, of_split["size"])
    return found
