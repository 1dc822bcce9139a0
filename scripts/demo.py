"""Make the bundled demo corpus from what this Python brings along."""

import logging
from pathlib import Path

from corpusmill.demo.corpus import make_demo
from corpusmill.run.job import this_job


def demo(folder: Path) -> None:
    counts = make_demo(folder, logging.info)
    logging.info("demo corpus: %s", counts)


if __name__ == "__main__":
    with this_job() as job:
        demo(folder=job.output.truth.parent)
