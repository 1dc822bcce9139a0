"""A finished corpus as batches for a trainer: local or remote, shuffled, distributed, resumable.

Needs only numpy and the standard library, so that trainers can import it alone. Start with
`corpus.py`, which opens a corpus. `shuffled.py` and `windowed.py` define the order of samples,
`batches.py` divides them among ranks. For torch: `torch_datasets.py`.

Imports: messages, mill.decide, mill.read, mill.storage, mill.tokens.
"""

from corpusmill.reader.batches import Batches
from corpusmill.reader.changed import changed
from corpusmill.reader.corpus import Corpus
from corpusmill.reader.mixtures import Mixture
from corpusmill.reader.packed_samples import PackedSamples
from corpusmill.reader.samples import Samples
from corpusmill.reader.segments import (
    attention_mask,
    cu_seqlens_of,
    loss_mask,
    positions_of,
    segments_of,
)
from corpusmill.reader.selection import Chosen
from corpusmill.reader.shrunk import Shrunk
from corpusmill.reader.shuffled import InOrder, Shuffled
from corpusmill.reader.windowed import Windowed

__all__ = [
    "Batches",
    "Chosen",
    "Corpus",
    "InOrder",
    "Mixture",
    "PackedSamples",
    "Samples",
    "Shrunk",
    "Shuffled",
    "Windowed",
    "attention_mask",
    "changed",
    "cu_seqlens_of",
    "loss_mask",
    "positions_of",
    "segments_of",
]
