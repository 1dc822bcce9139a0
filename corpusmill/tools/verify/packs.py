"""Checks the indexes of packed rows against the indexes of the token shards.

How documents longer than a row are cut follows from their lengths. So the pieces of every document
are computed again, and their set is compared with that of the index by a sum of keyed hashes. A
sum needs no memory per document.
"""

import math
import re
import secrets
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from corpusmill.mill.account.summary import PACKED
from corpusmill.mill.decide.fates import STAGE_NAME
from corpusmill.mill.read.ids import keyed_hash, mixed
from corpusmill.mill.tokens.pack_files import DTYPE, HEADER_BYTES, PURPOSE, npy_shape, pack_name
from corpusmill.reader.open_shards import cut_by
from corpusmill.reader.packing import pieces_of
from corpusmill.tools.verify.locations import PlaceFile
from corpusmill.tools.verify.reading import UNLIKE, Corpus
from corpusmill.tools.verify.shard_documents import Shard
from corpusmill.tools.verify.summary import SUMMARY
from corpusmill.tools.verify.told import tell

BLOCK_TOKENS = 1 << 22
"""Tokens of the rows that are read at once: at most 16 bytes of the index each."""


class WrongIndexError(ValueError):
    """An index with rows that a run would not write."""


class Pieces:
    """A set of pieces: their number, their tokens, and the sum of their keyed hashes."""

    def __init__(self, key: int) -> None:
        self._key = np.uint64(key)
        self.count = self.tokens = 0
        self.sum = np.zeros(1, np.uint64)

    def add(self, start: np.ndarray, size: np.ndarray) -> None:
        numbers = mixed(mixed(start.astype(np.uint64) ^ self._key) + size.astype(np.uint64))
        self.sum += numbers.sum(dtype=np.uint64)
        self.count += size.size
        self.tokens += int(size.sum())

    def same_as(self, other: "Pieces") -> bool:
        return self.count == other.count and bool(self.sum == other.sum)


class Index(NamedTuple):
    """The index of a split and length."""

    split: str
    length: int

    def name(self, ending: str) -> str:
        return f"tokens/{self.split}/pack-{self.length}.{ending}"

    @property
    def names(self) -> list[str]:
        return [self.name(ending) for ending in ("npy", "rows.npy", "json")]


class Documents(NamedTuple):
    """The documents of a split, as a row of this length sees them."""

    number: int
    cut: int
    pieces: Pieces


def indexes_of(corpus: Corpus) -> list[Index]:
    found = set()
    for name in corpus.listing.files:
        folder, _, base = name.rpartition("/")
        split = folder.removeprefix("tokens/")
        if re.fullmatch(STAGE_NAME, split) and (pack := pack_name(base)):
            found.add(Index(split, pack[0]))
    return sorted(found)


def hold_packs(corpus: Corpus, shards: list[Shard], summary: dict[str, Any] | None) -> None:
    """Check every index, and what the summary says of them."""
    figures: dict[str, dict[str, Any]] = {}
    for index in indexes_of(corpus):
        own = [shard for shard in shards if shard.split == index.split]
        facts = looked_at(corpus, index, own, summary)
        if facts:
            packed = {name: facts[name] for name in PACKED}
            figures.setdefault(index.split, {})[str(index.length)] = packed
    whole = all(corpus.has(name) for index in indexes_of(corpus) for name in index.names)
    if summary is not None and whole:
        tell(corpus, SUMMARY, summary.get("packed", {}), figures)


def looked_at(
    corpus: Corpus, index: Index, shards: list[Shard], summary: dict[str, Any] | None
) -> dict[str, Any] | None:
    """Check an index; return its facts, or None if it cannot be checked or is wrong."""
    needed = [*index.names, *(shard.token_file("idx") for shard in shards)]
    if damaged := [name for name in needed if not corpus.has(name)]:
        corpus.findings.unseen(index.name("npy"), f"{damaged[0]} is damaged or missing")
        return None
    reading = index.name("json")
    try:
        told = corpus.json(reading)
        seed = told["seed"] if summary is None else summary["configuration"]["shuffle"]["seed"]
        if type(seed) is not int or seed < 0:
            raise ValueError(f"seed {seed!r:.40}")
        key = secrets.randbits(64)
        documents = documents_of(corpus, index, shards, key)
        reading = index.name("npy")
        rows, held = rows_of(corpus, index, seed, Pieces(key))
        if not held.same_as(documents.pieces):
            raise WrongIndexError("does not have every piece of every document once")
    except WrongIndexError as error:
        corpus.findings.damage(index.name("npy"), str(error))
        return None
    except UNLIKE as error:
        corpus.unlike(reading, error)
        return None
    facts = facts_of(corpus, index, seed, documents, rows)
    tell(corpus, index.name("json"), told, facts)
    return facts


def facts_of(
    corpus: Corpus, index: Index, seed: int, documents: Documents, rows: int
) -> dict[str, Any]:
    """Return what the description of the index has to say."""
    files, held = corpus.listing.files, documents.pieces
    return {
        "corpusmill.pack": 1,
        "length": index.length,
        "seed": seed,
        "documents": documents.number,
        "cut_documents": documents.cut,
        "rows": rows,
        "pieces": held.count,
        "filled_tokens": held.tokens,
        "fill_rate": held.tokens / max(1, rows * (index.length + 1)),
        "sha256": files[index.name("npy")].sha256,
        "rows_sha256": files[index.name("rows.npy")].sha256,
    }


def documents_of(corpus: Corpus, index: Index, shards: list[Shard], key: int) -> Documents:
    """Return the documents by the indexes of the shards."""
    pieces, count, cut, before = Pieces(key), 0, 0, 0
    for shard in shards:
        tokens = corpus.listing.files[shard.token_file("bin")].tokens or 0
        starts = cut_by(corpus.array(shard.token_file("idx"), "<u8"), tokens)
        if starts is None:
            idx = shard.token_file("idx")
            raise WrongIndexError(f"cannot be checked: {idx} does not have its {tokens:,} tokens")
        start, size = pieces_of(starts, index.length)
        pieces.add(start + before, size)
        count += starts.size - 1
        cut += int((np.diff(starts) > index.length + 1).sum())
        before += tokens
    return Documents(count, cut, pieces)


def rows_of(corpus: Corpus, index: Index, seed: int, held: Pieces) -> tuple[int, Pieces]:
    """Return the number of rows, and all pieces. Raise WrongIndexError for a row that no run
    writes."""
    last = np.uint64(0)
    rows = 0
    for counts, spans in blocks_of(corpus, index):
        start, size = spans[:, 0], spans[:, 1] - spans[:, 0]
        if (spans[:, 0] >= spans[:, 1]).any() or (size > index.length + 1).any():
            raise WrongIndexError(f"expected pieces of 1 to {index.length + 1} tokens")
        first = np.cumsum(counts) - counts
        is_first = np.zeros(start.size, bool)
        is_first[first] = True
        if (np.add.reduceat(size, first) > index.length + 1).any():
            raise WrongIndexError(f"expected rows of at most {index.length + 1} tokens, found more")
        if (start[1:] <= start[:-1])[~is_first[1:]].any():
            raise WrongIndexError("expected the pieces of a row in the order of the tokens")
        keys = np.append(last, keyed_hash(start[first], seed, PURPOSE))
        if (keys[1:] < keys[:-1]).any():
            raise WrongIndexError("expected rows in the order of their hashes, found another order")
        held.add(start, size)
        last, rows = keys[-1], rows + counts.size
    return rows, held


def blocks_of(corpus: Corpus, index: Index) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield int64 (rows,), the pieces of each row, and uint64 (pieces, 2), their starts and
    ends."""
    ends, rows = opened(corpus, index.name("rows.npy"), 1)
    pieces, count = opened(corpus, index.name("npy"), 2)
    done = int(numbers(ends, 1)[0])
    left, at_once = rows - 1, max(1, BLOCK_TOKENS // (index.length + 1))
    while left:
        found = numbers(ends, min(left, at_once))
        counts = np.diff(np.append(np.uint64(done), found)).astype(np.int64)
        if not ((counts > 0) & (counts <= index.length + 1)).all():
            raise WrongIndexError(f"expected rows of 1 to {index.length + 1} pieces, found others")
        total = int(counts.sum())
        yield counts, numbers(pieces, 2 * total).reshape(-1, 2)
        done, left = done + total, left - counts.size
    if done != count:
        raise WrongIndexError(f"expected {count:,} pieces in rows, found {done:,}")


def opened(corpus: Corpus, name: str, dimensions: int) -> tuple[PlaceFile, int]:
    """Return a file at the start of its numbers, and the first size of its array."""
    file, size = corpus.file(name), corpus.listing.files[name].bytes
    shape, at = npy_shape(file.read(HEADER_BYTES)) or ((), 0)
    wanted = "(n + 1,)" if dimensions == 1 else "(n, 2)"
    fits = len(shape) == dimensions and shape[1:] in ((), (2,)) and shape[0] >= 2 - dimensions
    if not fits or at + math.prod(shape) * DTYPE.itemsize != size:
        raise WrongIndexError(
            f"{name}: expected uint64 {wanted}, found shape {shape} in {size:,} bytes"
        )
    file.seek(at)
    return file, shape[0]


def numbers(file: PlaceFile, count: int) -> np.ndarray:
    data = file.read(count * DTYPE.itemsize)
    if len(data) != count * DTYPE.itemsize:
        raise WrongIndexError(f"expected {count:,} more numbers, found the end of the file")
    return np.frombuffer(data, DTYPE)
