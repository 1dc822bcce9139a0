"""Load or train the tokenizer, choose its engine, and save both for all jobs."""

import logging
import tempfile
from pathlib import Path

from corpusmill.mill.shuffle.text_shards import read_shard
from corpusmill.mill.tokens.tokenizer_folder import keep_tokenizer, train_tokenizer
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase

TRAIN_CHARS = 20_000_000  # the first shard is a random sample of the corpus; more changes little


def sample(text: Path):
    """Yield texts from the start of a text shard, TRAIN_CHARS characters in total."""
    chars = 0
    with phase("reading texts to train on") as progress:
        for document in read_shard(text, progress):
            if chars >= TRAIN_CHARS:
                break
            # A single document may exceed the total.
            text = document.text[:TRAIN_CHARS]
            chars += len(text)
            yield text


def tokenizer(
    source: str,
    train_text: list[Path],
    train_vocabulary: int,
    end_of_text: str,
    engine: str,
    folder: Path,
) -> None:
    """train_text: the text shard to train on if source is train, else nothing."""
    if not train_text:
        # A folder by its name: the result must not depend on its path.
        name = Path(source).resolve().name if Path(source).is_dir() else source
        setting = keep_tokenizer(folder, source, end_of_text, engine, name)
    else:
        with tempfile.TemporaryDirectory() as trained:
            with phase("training the tokenizer", unit="texts"):
                train_tokenizer(Path(trained), list(sample(train_text[0])), train_vocabulary)
            setting = keep_tokenizer(folder, trained, end_of_text, engine, name="train")
    logging.info("%s", setting)


if __name__ == "__main__":
    run(tokenizer)
