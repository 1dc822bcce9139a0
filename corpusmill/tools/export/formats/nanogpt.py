"""nanoGPT: one file of ids for each split, and a description of the vocabulary."""

import pickle

from corpusmill.mill.storage.files import READ_BYTES
from corpusmill.tools.export.declaration import Exported, Format
from corpusmill.tools.export.target import Target

NAMES = {"validation": "val"}


def write(exported: Exported, target: Target) -> None:
    for split in exported.splits:
        name = f"{NAMES.get(split.name, split.name)}.bin"
        if target.wants(name):
            with target.file(name) as file:
                for shard in split.shards:
                    with open(shard.path, "rb") as ids:
                        while block := ids.read(READ_BYTES):
                            file.write(block)
                            target.progress.advance(len(block))
    facts = {
        "vocab_size": exported.vocabulary.size,
        "eos_token_id": exported.vocabulary.end_of_text,
        "dtype": exported.vocabulary.dtype.name,
    }
    target.write("meta.pkl", pickle.dumps(facts, protocol=4))


FORMAT = Format(
    read_by="nanoGPT and projects based on it",
    layout="train.bin, val.bin, test.bin, meta.pkl",
    ids="uint16",
    files="copied to one file per split",
    write=write,
    uint16_alone=True,
)
