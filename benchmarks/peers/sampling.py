"""datatrove's SamplerFilter: which documents it keeps at a rate per cell.

    python sampling.py < cells.json > kept.json

cells.json: [{"rate": ..., "documents": [id, ...]}, ...]. A rate above 1 keeps all documents.
"""

import json
import sys

from datatrove.data import Document
from datatrove.pipeline.filters import SamplerFilter


def kept_of(cell: dict, seed: int) -> list[int]:
    sampler = SamplerFilter(rate=min(cell["rate"], 1.0), seed=seed)
    return [id for id in cell["documents"] if sampler.filter(Document(text="", id=str(id)))]


if __name__ == "__main__":
    json.dump([kept_of(cell, seed) for seed, cell in enumerate(json.load(sys.stdin))], sys.stdout)
