"""Write `meta.pkl`, which nanoGPT-style trainers read."""

import pickle
from pathlib import Path

from corpusmill.mill.storage.files import load_json, writing
from corpusmill.mill.tokens.tokenizers import TokenizerFacts


def save_meta(path: Path, setting: TokenizerFacts, facts: list[Path], generation: int) -> None:
    """Save `meta.pkl`. facts: of all token shards."""
    totals: dict[str, int] = {}
    for shard in facts:
        split = shard.parent.name
        totals[split] = totals.get(split, 0) + load_json(shard)["tokens"]
    meta = {
        "tokenizer": setting.source,
        "vocab_size": setting.vocabulary,
        "eos_token_id": setting.end_of_text_id,
        "dtype": setting.dtype,
        "total_tokens": totals,
        "generation": generation,
    }
    with writing(path, kept=True) as file:
        file.write(pickle.dumps(meta, protocol=4))
