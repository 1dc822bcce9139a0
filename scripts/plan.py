"""Write down which input files make which part, so that a grown corpus keeps its numbers."""

import logging
from pathlib import Path

from corpusmill.files import replacing
from corpusmill.step_log import step_log


def plan(lines: list[str], parts: Path) -> None:
    with replacing(parts) as temporary:
        temporary.write_text("\n".join(lines) + "\n", "utf-8")
    logging.info("%d parts planned", len(lines) - 1)


if __name__ == "__main__":
    with step_log(snakemake.log[0]):
        plan(lines=snakemake.params.lines, parts=Path(snakemake.output[0]))
