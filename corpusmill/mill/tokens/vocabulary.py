"""Validate the token ids of a corpus, as its tokenizer's facts declare them."""

from typing import Any, NamedTuple

MOST_IDS = 1 << 24
"""Maximum number of ids in a vocabulary. Counting takes memory for each id."""
SIZES = {"uint16": 1 << 16, "uint32": MOST_IDS}


class TokenIds(NamedTuple):
    """The format of ids in token shards."""

    dtype: str  # uint16 or uint32, little-endian
    size: int  # every id is below
    end_of_text: int


def token_ids_of(facts: Any, where: object) -> TokenIds:
    """Return the format in corpusmill.json's content; raise ValueError if it is invalid."""
    if not isinstance(facts, dict):
        raise ValueError(
            f"{where}: expected the description of a tokenizer, found none. Mill the corpus again."
        )
    dtype, size, end = (facts.get(one) for one in ("dtype", "vocabulary", "end_of_text_id"))
    if not isinstance(dtype, str) or dtype not in SIZES:
        raise ValueError(f"{where}: expected dtype uint16 or uint32, found {dtype!r:.40}.")
    if type(size) is not int or not 1 <= size <= SIZES[dtype]:
        raise ValueError(
            f"{where}: expected a vocabulary of 1 to {SIZES[dtype]:,} ids, found {size!r:.40}."
        )
    if type(end) is not int or not 0 <= end < size:
        raise ValueError(f"{where}: expected an end_of_text_id below {size:,}, found {end!r:.40}.")
    return TokenIds(dtype, size, end)
