"""Document boundaries in a row of tokens, found from the ids alone.

A shard has the end-of-text id after every document and nowhere else, so no index is needed.
"""

import numpy as np


def segments_of(tokens: np.ndarray, end_of_text: int) -> np.ndarray:
    """Return int32 (rows, width): 0 for the first document of a row, 1 for the next, and so on.

    A document includes its end-of-text id. The padding of a packed row is end-of-text ids too, each
    counted as a document.
    """
    ends = tokens == end_of_text
    return np.cumsum(ends, axis=1, dtype=np.int32) - ends


def positions_of(segments: np.ndarray) -> np.ndarray:
    """Return int32 (rows, width): positions of tokens, restarting in every document of the row."""
    places = np.arange(segments.shape[1], dtype=np.int32)
    first = np.ones(segments.shape, bool)
    first[:, 1:] = segments[:, 1:] != segments[:, :-1]
    return places - np.maximum.accumulate(np.where(first, places, 0), axis=1)


def cu_seqlens_of(segments: np.ndarray) -> np.ndarray:
    """Return int32 (documents + 1,): the starts of the documents of all rows one after the other,
    and the end, as flash attention takes them (`cu_seqlens`)."""
    first = np.ones(segments.shape, bool)
    first[:, 1:] = segments[:, 1:] != segments[:, :-1]
    return np.append(np.flatnonzero(first), segments.size).astype(np.int32)


def loss_mask(segments: np.ndarray) -> np.ndarray:
    """Return bool (rows, width - 1): whether a target is in the same document as its input.

    False at the start of each document, and for all padding of a packed row.
    """
    return segments[:, 1:] == segments[:, :-1]


def attention_mask(segments: np.ndarray) -> np.ndarray:
    """Return bool (rows, width, width): [row, i, j] says whether token i may attend to token j."""
    same = segments[:, :, None] == segments[:, None, :]
    return same & np.tri(segments.shape[1], dtype=bool)
