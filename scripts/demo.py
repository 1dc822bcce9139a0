"""Make the bundled demo corpus from Python's own files."""

import logging
from pathlib import Path

from corpusmill.mill.demo.corpus import make_demo
from corpusmill.run.job import run


def demo(truth: Path) -> None:
    """truth: one of the files; the others are written beside it."""
    counts = make_demo(truth.parent, logging.info)
    logging.info("demo corpus: %s", counts)


if __name__ == "__main__":
    run(demo)
