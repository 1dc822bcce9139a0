"""Files of other runs in this run's folders: earlier runs' are removed, others are named."""

import logging
import sys
from pathlib import Path

from corpusmill.messages.plain_text import shown
from corpusmill.mill.storage.sums import sums_path
from corpusmill.run.record import Made, foreign_files, stale_files

SHOW = 10  # foreign files that are named on the terminal; the log names all


def remove_stale(made: Made, record: Path) -> None:
    """Remove what earlier runs made and this one does not; name what else lies in our folders."""
    for path in stale_files(record, made):
        path.unlink()
        sums_path(path).unlink(missing_ok=True)
        logging.info("removed %s: of an earlier run", path)
    foreign = list(foreign_files(made))
    for path in foreign:
        logging.warning("%s: of no run that is known; it stays where it is", path)
    if foreign:
        some = ", ".join(shown(str(path)) for path in foreign[:SHOW])
        print(
            f"WARNING: {len(foreign)} files in the folders of this run are not its own and were "
            f"left alone: {some}{', ...' * (len(foreign) > SHOW)}. "
            "Whoever reads a whole folder reads them too; move them away.",
            file=sys.stderr,
        )
