"""Load or train the tokenizer, choose its engine, and save both for all jobs."""

import logging
import tempfile
from pathlib import Path

from corpusmill.mill.shuffle.text_shards import read_shard
from corpusmill.mill.tokens.tokenizer_folder import TokenizerChoice
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
    choice: TokenizerChoice,
    train_text: list[Path],
    folder: Path,
) -> None:
    """train_text: the text shard to train on if the choice is to train, else nothing."""
    if not train_text:
        # A folder by its name: the result must not depend on its path.
        given = Path(choice.source)
        setting = choice.keep(folder, given.resolve().name if given.is_dir() else choice.source)
    else:
        with tempfile.TemporaryDirectory() as trained:
            with phase("training the tokenizer", unit="texts"):
                choice.train(Path(trained), list(sample(train_text[0])))
            setting = choice._replace(source=trained).keep(folder, name="train")
    logging.info("%s", setting)


if __name__ == "__main__":
    run(tokenizer)
