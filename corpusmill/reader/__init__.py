"""A finished corpus as batches for a trainer: from a folder or a URL, shuffled, dealt, resumed.

Needs numpy and the standard library alone, so a trainer can import it without the rest. Begin with
`corpus.py` for what is opened, `shuffled.py` and `windowed.py` for in which order it is read, and
`batches.py` for who gets what. With torch: `torch_datasets.py`.

Imports: messages, mill.decide, mill.read, mill.storage, mill.tokens.
"""

from corpusmill.reader.batches import Batches
from corpusmill.reader.corpus import Corpus
from corpusmill.reader.mixtures import Mixture
from corpusmill.reader.samples import Samples
from corpusmill.reader.segments import attention_mask, loss_mask, positions_of, segments_of
from corpusmill.reader.shuffled import InOrder, Shuffled
from corpusmill.reader.windowed import Windowed

__all__ = [
    "Batches",
    "Corpus",
    "InOrder",
    "Mixture",
    "Samples",
    "Shuffled",
    "Windowed",
    "attention_mask",
    "loss_mask",
    "positions_of",
    "segments_of",
]
