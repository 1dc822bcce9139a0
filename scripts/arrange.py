"""Find the place of each band of a curriculum, or of each part, in every split."""

import logging
from pathlib import Path

from corpusmill.mill.decide.curriculum import Arranging
from corpusmill.mill.shuffle.arranging import arrange as arrange_splits
from corpusmill.mill.shuffle.arranging import lines_of
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.files import load_listing, save_json
from corpusmill.run.job import run


def arrange(listing: list[Path], arranging: Arranging, arrangement: Path, starts: Path) -> None:
    """listing: the tables of values of all blocks of parts."""
    blocks = load_listing(listing)
    arranged = arrange_splits([Path(block["file"]) for block in blocks], arranging)
    save_array(starts, arranged.starts)
    save_json(arrangement, {"corpusmill.order": 1, "splits": arranged.told})
    for line in lines_of(arranged.told):
        logging.info("%s", line)


if __name__ == "__main__":
    run(arrange)
