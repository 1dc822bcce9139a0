"""Find the documents of a block of parts whose text is held out."""

import logging
from pathlib import Path

from corpusmill.mill.decide.decided import save_marks
from corpusmill.mill.decide.holdout import origins_of_part
from corpusmill.mill.storage.arrays import load_array
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def decontaminate(
    digests: list[Path],
    whole: list[Path],
    unedited: list[Path],
    held_out: Path,
    first_part: int,
    marks: Path,
) -> None:
    """digests: of the block's parts, from number `first_part` on.

    whole, unedited: for each part the digests before spans and before filters were applied, if they
    cut texts. With them a held-out text stays out of train even if it lost a line.
    """
    texts = load_array(held_out)
    found = []
    with phase("comparing", len(digests), "parts") as progress:
        for place, digest in enumerate(digests):
            before = [files[place] for files in (whole, unedited) if files]
            origins = origins_of_part(digest, before, texts)
            found.append(origins)
            logging.info("%s: the texts of %d of %d documents are held out", digest.stem,
                         (origins > 0).sum(), origins.size)  # fmt: skip
            progress.advance(1)
    save_marks(marks, first_part, found)


if __name__ == "__main__":
    run(decontaminate)
