"""The yardstick: one core that only reads files, decodes their records and tokenizes the texts."""

import argparse
import io
import json
import os
from pathlib import Path

os.environ["RAYON_NUM_THREADS"] = "1"  # gigatoken reads it when it is imported

import gigatoken
import zstandard


def tokenize(files: list[Path], tokenizer: Path) -> dict[str, int]:
    """Return the numbers of documents, of bytes of text, and of token ids."""
    definition = (tokenizer / "tokenizer.json").read_text("utf-8")
    encode = gigatoken.Tokenizer.from_json(definition).backend.encode
    documents = size = tokens = 0
    for file in files:
        with open(file, "rb") as packed:
            stream = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
            for line in io.BufferedReader(stream, 1 << 20):
                text = json.loads(line)["text"].encode()
                documents += 1
                size += len(text)
                tokens += len(encode(text))
    return {"documents in": documents, "text_bytes": size, "tokens": tokens}


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tokenizer", type=Path, required=True)
    arguments.add_argument("files", type=Path, nargs="+")
    given = arguments.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    print(json.dumps(tokenize(given.files, given.tokenizer)))
