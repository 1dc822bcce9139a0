"""The order of documents: of similar ones, the first is kept."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.fate_columns import FateColumn
from corpusmill.mill.read.ids import by_part
from corpusmill.mill.storage.tables import load_column, load_labels, load_table

REJECTED = np.uint64(1 << 63)
LAST = (1 << 64) - 1


class Order(NamedTuple):
    """The sort keys of documents, column by column; less is better. The id breaks ties."""

    rank: np.ndarray  # uint64
    preference: pa.LargeBinaryArray | None  # keys, null last; None if no field is preferred
    shorter: np.ndarray  # uint64


class Ranked(NamedTuple):
    """The tables of a part from which its order follows."""

    verdicts: Path
    measures: Path


class Preference(NamedTuple):
    """The settings of the order: config section `dedup`, and the sources."""

    priority: dict[str, int | None]
    weights: dict[str, float]
    field: str | None
    generations: list[int] | None
    """Generation of each part; None if earlier generations are not preferred."""


def order_of_part(
    tables: Ranked, part: int, preference: Preference, rows: np.ndarray | None = None
) -> Order:
    """Return the order of the rows, or of all.

    First documents that passed the filters and have a weight, then earlier generations, then by
    the source's priority, by the field, and longer texts.
    """
    sources, source = load_labels(tables.measures, "source")
    given = [rank for rank in preference.priority.values() if rank is not None]
    last = max(given, default=0) + 1
    ranks = [preference.priority[name] for name in sources]
    of_source = np.array([last if rank is None else rank for rank in ranks], np.uint64)
    chosen = slice(None) if rows is None else rows
    source = source[chosen]
    (sizes,) = (column[chosen] for column in load_table(tables.measures, "text_bytes"))
    kept = FateColumn.load(tables.verdicts).kept[chosen]
    unused = np.array([preference.weights[name] == 0 for name in sources], bool)[source]
    rank = of_source[source]
    if preference.generations:
        rank |= np.uint64(preference.generations[part] << 32)
    rank[~kept | unused] |= REJECTED
    keys = None
    if preference.field:
        keys = load_column(tables.measures, "preference")
        keys = keys if rows is None else keys.take(pa.array(rows))
    return Order(rank, keys, np.uint64(LAST) - sizes)


def dense_ranks(keys: pa.LargeBinaryArray) -> np.ndarray:
    """Return uint64 (documents,): ranks of keys; equal keys share a rank, no key ranks last."""
    import pyarrow.compute as pc

    return pc.rank(keys, sort_keys="ascending", tiebreaker="dense").to_numpy()


def best_first(order: Order, ids: np.ndarray) -> np.ndarray:
    """Return the places of documents from best to worst."""
    preferred = [] if order.preference is None else [dense_ranks(order.preference)]
    return np.lexsort((ids, order.shorter, *preferred, order.rank))


def order_of(tables: list[Ranked], ids: np.ndarray, preference: Preference) -> Order:
    """Return the order of some documents of any parts. tables: of every part."""
    rank, shorter = np.zeros(ids.size, np.uint64), np.zeros(ids.size, np.uint64)
    keys, of_keys = [pa.array([], pa.large_binary())], [np.zeros(0, np.int64)]
    for part, places, rows in by_part(ids):
        mine = order_of_part(tables[part], part, preference, rows)
        rank[places], shorter[places] = mine.rank, mine.shorter
        if mine.preference is not None:
            keys.append(mine.preference)
            of_keys.append(places)
    if not preference.field:
        return Order(rank, None, shorter)
    in_order = np.argsort(np.concatenate(of_keys))
    return Order(rank, pa.concat_arrays(keys).take(pa.array(in_order)), shorter)
