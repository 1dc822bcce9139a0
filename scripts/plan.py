"""Write which files make which part, so that parts keep their numbers when files are added."""

import logging
from pathlib import Path

from corpusmill.mill.storage.files import save_text
from corpusmill.run.job import run


def plan(lines: list[str], parts: Path) -> None:
    save_text(parts, "\n".join(lines) + "\n")
    logging.info("%d parts planned", len(lines) - 1)


if __name__ == "__main__":
    run(plan)
