"""A token with its neighbours, decoded with the tokenizer of the run."""

from pathlib import Path

import numpy as np

from corpusmill.messages.plain_text import shown
from corpusmill.mill.tokens.tokenizers import TokenizerFacts, decoded, load_received
from corpusmill.tools.why.copies_in_shards import token_file
from corpusmill.tools.why.queries import Token
from corpusmill.tools.why.results import Results

AROUND = 20
"""Tokens to show on each side."""


def tokens_around(results: Results, token: Token) -> tuple[int, list[str]]:
    """Return (id of the token, [text before, its own text, text after]), within its document."""
    folder = results.folder / "tokenizer"
    if not Path(folder / "corpusmill.json").exists():
        raise ValueError(
            f"{folder}, the tokenizer of the run, is missing. Rebuild it: corpusmill run"
        )
    setting = TokenizerFacts.load(folder)
    reference = load_received(folder, setting)
    dtype = np.dtype(setting.dtype).newbyteorder("<")
    ids = np.memmap(token_file(results, token.split, token.shard, "bin"), dtype, "r")
    at, before = token.position, max(token.start, token.position - AROUND)
    pieces = ids[before:at], ids[at : at + 1], ids[at + 1 : min(token.end, at + 1 + AROUND)]
    return int(ids[at]), [shown(decoded(reference, piece.tolist())) for piece in pieces]
