"""Make the bundled demo corpus from what this Python brings along."""

import logging
from pathlib import Path

from corpusmill.demo import make_demo
from corpusmill.step_log import step_log


def demo(folder: Path) -> None:
    counts = make_demo(folder, logging.info)
    logging.info("demo corpus: %s", counts)


if __name__ == "__main__":
    with step_log(snakemake.log[0]):
        demo(folder=Path(snakemake.output.truth).parent)
