"""Pairs of documents that share a band key, from the keys of 9 bands in memory, without text.

A group of k documents gives the k - 1 pairs of its least document with each other one.
"""

import tempfile
from pathlib import Path

import numpy as np
from same_work import Work, digest_of, main

BANDS = 9


def keys_of(documents: int) -> np.ndarray:
    """Return uint64 (bands, documents): random, with one document in four repeating an earlier
    one."""
    rng = np.random.default_rng(1)
    keys = rng.integers(0, 1 << 63, (BANDS, documents), dtype=np.uint64)
    copies = np.unique(rng.integers(1, documents, documents // 4))
    originals = (rng.random(copies.size) * copies).astype(np.int64)
    keys[:, copies] = keys[:, originals]
    return keys


def tell(pairs: np.ndarray) -> dict:
    """Summarize pairs. pairs: (pairs, 2), of all bands, in any order."""
    pairs = np.asarray(pairs, np.uint64)
    ordered = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return {"output": digest_of(ordered.tobytes()), "counts": {"pairs": len(pairs)}}


def corpusmill(given) -> Work:
    """Sort a part's keys, then pair equal ones, as the band and pair steps do."""
    from corpusmill.mill.dedup.candidates import same_key_edges
    from corpusmill.mill.dedup.lsh import Bands, save_bands
    from corpusmill.mill.storage.buckets import bucket_slices

    keys = keys_of(given.documents)

    path = Path(tempfile.mkdtemp()) / "bands.npy"

    def run():
        save_bands(path, keys, BANDS, np.arange(given.documents, dtype=np.uint32))
        bands = Bands(0, path)
        edges = [same_key_edges([bands], share) for share in bucket_slices(0, 1, BANDS)]
        return np.concatenate([np.column_stack([edge["a"], edge["b"]]) for edge in edges])

    return Work(run, keys.size, tell)


def columns(documents: int) -> dict[str, np.ndarray]:
    keys = keys_of(documents)
    return {
        "band": np.repeat(np.arange(BANDS, dtype=np.uint8), documents),
        "key": keys.ravel(),
        "id": np.tile(np.arange(documents, dtype=np.uint64), BANDS),
    }


def duckdb(given) -> Work:
    import duckdb
    import pyarrow as pa

    table = pa.table(columns(given.documents))
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    connection.register("entries", table)

    def run():
        found = connection.execute(
            "select least, id from (select id, min(id) over (partition by band, key) as least "
            "from entries) where least <> id"
        ).fetchnumpy()
        return np.column_stack([found["least"], found["id"]])

    return Work(run, table.num_rows, tell)


def polars(given) -> Work:
    import polars as pl

    frame = pl.DataFrame(columns(given.documents))

    def run():
        found = (
            frame.lazy()
            .select("id", least=pl.col("id").min().over("band", "key"))
            .filter(pl.col("least") != pl.col("id"))
            .collect()
        )
        return np.column_stack([found["least"].to_numpy(), found["id"].to_numpy()])

    return Work(run, frame.height, tell)


if __name__ == "__main__":
    main({"corpusmill": corpusmill, "duckdb": duckdb, "polars": polars})
