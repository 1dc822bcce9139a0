"""Pack the documents of a split into rows of one length, as an index beside its token shards."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.mill.storage.sums import CheckedFile
from corpusmill.mill.tokens.pack_files import PackFiles
from corpusmill.mill.tokens.packing import packing_of, save_packing
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def pack(idx: list[Path], length: int, seed: int, files: PackFiles) -> None:
    """idx: of every shard of the split, in shard order."""
    with phase("reading", len(idx), "shards") as progress:
        parts, tokens = [np.zeros(1, np.int64)], 0
        for file in idx:
            index = CheckedFile(file)
            starts = np.frombuffer(index.view(0, index.size), "<u8").astype(np.int64) + tokens
            parts.append(starts[1:])
            tokens = int(starts[-1])
            progress.advance(1)
        of_split = np.concatenate(parts)
        parts.clear()
    with phase("packing", of_split.size - 1, "documents"):
        packed = packing_of(of_split, length)
    with phase("writing"):
        facts = save_packing(files, packed, length, seed, of_split.size - 1)
    logging.info("%d rows, %.4f full, %d of %d documents cut", facts["rows"], facts["fill_rate"],
                 facts["cut_documents"], facts["documents"])  # fmt: skip


if __name__ == "__main__":
    run(pack)
