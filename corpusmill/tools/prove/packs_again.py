"""Packs the documents of a split again, from the indexes of its token shards."""

from pathlib import Path

import numpy as np

from corpusmill.mill.storage.regular_files import regular_state
from corpusmill.mill.tokens.pack_files import PackFiles
from corpusmill.mill.tokens.packing import packing_of, save_packing
from corpusmill.tools.prove.parts_again import ChangedError
from corpusmill.tools.prove.run import Finished

LEAST_TOKEN_BYTES = 2


def pack(run: Finished, split: str, length: int) -> list[str]:
    """Write the index of a split; return the names of its files. Raise ChangedError if an index of
    a token shard has changed."""
    names = [f"tokens/{split}/pack-{length}.{ending}" for ending in ("npy", "rows.npy", "json")]
    starts = starts_of(run, split)
    files = PackFiles(*(run.scratch / name for name in names))
    save_packing(
        files, packing_of(starts, length), length, run.config.shuffle.seed, starts.size - 1
    )
    return names


def starts_of(run: Finished, split: str) -> np.ndarray:
    """Return int64 (documents + 1,): the starts of all documents of a split in its stream, and its
    end."""
    parts, tokens = [np.zeros(1, np.int64)], 0
    for shard in range(run.shards[split]):
        name = f"tokens/{split}/{shard:05d}"
        if not run.kept(f"{name}.idx"):
            raise ChangedError
        own = shard_starts(run.results / f"{name}.idx", run.results / f"{name}.bin")
        parts.append(own[1:] + tokens)
        tokens = int(parts[-1][-1]) if own.size > 1 else tokens
    return np.concatenate(parts)


def shard_starts(idx: Path, bin: Path) -> np.ndarray:
    """Return int64: the starts of the documents of a shard, and the end. Raise ValueError if they
    are not in its tokens: a number that is too large would take memory without end."""
    found = np.fromfile(idx, "<u8")
    most = regular_state(bin).st_size // LEAST_TOKEN_BYTES
    if not found.size or found[0] != 0 or found.max() > most or (found[1:] <= found[:-1]).any():
        raise ValueError(f"{idx}: expected ascending starts of documents, found other numbers")
    return found.astype(np.int64)
