"""Write down which input files make which part, so that a grown corpus keeps its numbers."""

import logging
from pathlib import Path

from corpusmill.run.job import run
from corpusmill.storage.files import replacing


def plan(lines: list[str], parts: Path) -> None:
    with replacing(parts) as temporary:
        temporary.write_text("\n".join(lines) + "\n", "utf-8")
    logging.info("%d parts planned", len(lines) - 1)


if __name__ == "__main__":
    run(plan)
