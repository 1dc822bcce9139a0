"""All results of a small run read whole, for whoever looks up a little of them."""

import hashlib
from pathlib import Path

import naive
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from datasketch import MinHash


class WholeResults:
    """Everything that the files of a folder say, by document id; its rows are without nulls."""

    def __init__(self, results: Path) -> None:
        self.parts = sorted(path.stem for path in (results / "ledger").glob("*.parquet"))
        self.rows = [
            {name: value for name, value in row.items() if value is not None}
            for part in self.parts
            for row in pq.read_table(results / f"ledger/{part}.parquet").to_pylist()
        ]
        self._results = results
        self.documents = [row for row in self.rows if "id" in row]
        self.by_id = {row["id"]: row for row in self.documents}
        self.placements = [
            row
            for split in ("train", "validation", "test")
            for path in sorted((results / f"placements/{split}").glob("*.parquet"))
            for row in pq.read_table(path).to_pylist()
        ]
        self.pieces: dict[int, list[dict]] = {}
        for folder in ("cut", "edited"):
            for part in self.parts:
                for row in pq.read_table(results / f"{folder}/{part}.parquet").to_pylist():
                    self.pieces.setdefault(row["id"], []).append(row)
        self._texts = {
            folder: {
                int(part) << 32 | row: text
                for part in self.parts
                for row, text in enumerate(arrow(results / f"{folder}/{part}.arrow", "text"))
            }
            for folder in ("text", "cut", "edited")
        }

    def text(self, folder: str, id: int) -> str:
        return self._texts[folder][id]

    def copies(self, id: int) -> list[dict]:
        """Where they are, in order."""
        mine = [row for row in self.placements if row["id"] == id]
        wanted = ("copy", "split", "shard", "row", "token_start", "token_end")
        return [
            {name: row[name] for name in wanted}
            for row in sorted(mine, key=lambda row: row["copy"])
        ]

    def measured(self, id: int) -> dict:
        path = self._results / f"measures/{id >> 32:05d}.arrow"
        row = pa.ipc.open_file(path).read_all().to_pylist()[id & 0xFFFFFFFF]
        return {name: row[name] for name in row if name not in ("source", "text_bytes")}

    def sketches(self) -> dict[int, np.ndarray]:
        return {
            int(part) << 32 | row: sketch
            for part in self.parts
            for row, sketch in enumerate(np.load(self._results / f"signatures/{part}.npy"))
        }


def arrow(path: Path, column: str) -> list:
    return pa.ipc.open_file(path).read_all()[column].to_pylist()


def digest_number(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:16], 16)


def even_places(total: int, count: int) -> list[int]:
    """The middles of `count` equal stretches of range(total)."""
    if count >= total:
        return list(range(total))
    return [int((k + 0.5) * total / count) for k in range(count)]


def most_similar(text: str, sketches: dict[int, np.ndarray], most: int) -> list[tuple]:
    """(id, share of equal values) of the sketches that are most like that of a text."""
    sketch = MinHash(128, 1, scheme="affine32", hashfunc=int)
    sketch.update_batch(naive.rolling_hashes(naive.clean(text), 13))
    shares = [(-float((one == sketch.hashvalues).mean()), id) for id, one in sketches.items()]
    return [(id, -share) for share, id in sorted(shares)[:most] if share]
