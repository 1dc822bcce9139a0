"""What documents a row of tokens holds, told from the ids alone.

A shard has the end-of-text id after every document and nowhere else, so no index is needed.
"""

import numpy as np


def segments_of(tokens: np.ndarray, end_of_text: int) -> np.ndarray:
    """int32 (rows, width): 0 for the first document of a row, 1 for the next, and so on.

    A document's own end-of-text id is the last of its tokens. What fills up a packed row is
    end-of-text ids too, each a document to itself.
    """
    ends = tokens == end_of_text
    return np.cumsum(ends, axis=1, dtype=np.int32) - ends


def positions_of(segments: np.ndarray) -> np.ndarray:
    """int32 (rows, width): places of tokens, counted anew in every document of the row."""
    places = np.arange(segments.shape[1], dtype=np.int32)
    first = np.ones(segments.shape, bool)
    first[:, 1:] = segments[:, 1:] != segments[:, :-1]
    return places - np.maximum.accumulate(np.where(first, places, 0), axis=1)


def loss_mask(segments: np.ndarray) -> np.ndarray:
    """bool (rows, width - 1): whether a target is of the document of its input.

    False where the next document begins, and for all that fills up a packed row.
    """
    return segments[:, 1:] == segments[:, :-1]


def attention_mask(segments: np.ndarray) -> np.ndarray:
    """bool (rows, width, width): [row, i, j] is whether token i may look at token j."""
    same = segments[:, :, None] == segments[:, None, :]
    return same & np.tri(segments.shape[1], dtype=bool)
