"""Confirm that all jobs of a step are done.

One small file represents the files of all parts, so that jobs that read all parts need one edge.
It holds their digests: when the content of one part changes, so does this file.
"""

import logging
from pathlib import Path

from corpusmill.mill.storage.files import load_json, save_json
from corpusmill.run.job import run


def complete(counts: list[Path], listing: Path) -> None:
    save_json(listing, {"parts": [load_json(file) for file in counts]})
    logging.info("%d parts complete", len(counts))


if __name__ == "__main__":
    run(complete)
