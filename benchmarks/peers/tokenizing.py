"""Texts in memory to token ids. A special token's string inside a text is encoded as text."""

import json
import unicodedata

from same_work import Work, digest_of, main, size_of, texts_of

GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def tell(ids) -> dict:
    """Summarize ids. ids: one list or array per text."""
    import numpy as np

    lengths = [len(one) for one in ids]
    flat = np.concatenate([np.asarray(one, "<u4") for one in ids])
    digest = digest_of(json.dumps(lengths).encode() + flat.tobytes())
    return {"output": digest, "counts": {"documents": len(lengths), "tokens": int(flat.size)}}


def corpusmill(given) -> Work:
    from corpusmill.mill.tokens.tokenizers import (
        definition_of,
        gigatoken_encoder,
        load_reference,
        plain_definition,
    )

    texts = texts_of(given.corpus, int(given.bytes))
    encode = gigatoken_encoder(
        plain_definition(definition_of(load_reference(str(given.tokenizer))))
    )
    # Text by text, as the step reads a shard: not all bytes are in memory.
    return Work(lambda: [encode([text.encode()])[0] for text in texts], size_of(texts), tell)


def tokenizers(given) -> Work:
    from tokenizers import Tokenizer

    texts = texts_of(given.corpus, int(given.bytes))
    tokenizer = Tokenizer.from_file(str(given.tokenizer / "tokenizer.json"))
    tokenizer.encode_special_tokens = True

    def run():
        # In batches, to limit its memory for the other results.
        batches = (texts[first : first + 256] for first in range(0, len(texts), 256))
        return [
            one.ids
            for batch in batches
            for one in tokenizer.encode_batch(batch, add_special_tokens=False)
        ]

    return Work(run, size_of(texts), tell)


def bytes_of_characters() -> dict[str, int]:
    """Return character -> byte, the inverse of the notation of byte-level tokenizers."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {
        chr(256 + place): byte for place, byte in enumerate(others)
    }


def tiktoken(given) -> Work:
    """Encode with a tiktoken Encoding of the same vocabulary: ids are ranks, the pattern is the
    tokenizer's."""
    import tiktoken

    texts = texts_of(given.corpus, int(given.bytes))
    definition = json.loads((given.tokenizer / "tokenizer.json").read_text("utf-8"))
    special = {token["content"] for token in definition["added_tokens"]}
    byte_of = bytes_of_characters()
    ranks = {
        bytes(byte_of[character] for character in token): id
        for token, id in definition["model"]["vocab"].items()
        if token not in special
    }
    splits = definition["pre_tokenizer"].get("pretokenizers", [definition["pre_tokenizer"]])
    pattern = next((s["pattern"]["Regex"] for s in splits if "pattern" in s), GPT2_PATTERN)
    encoding = tiktoken.Encoding("local", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    composes = (definition["normalizer"] or {}).get("type") == "NFC"

    def run():
        ready = [unicodedata.normalize("NFC", text) for text in texts] if composes else texts
        return encoding.encode_ordinary_batch(ready, num_threads=1)

    return Work(run, size_of(texts), tell)


if __name__ == "__main__":
    main({"corpusmill": corpusmill, "tokenizers": tokenizers, "tiktoken": tiktoken})
