"""Remove files of earlier runs from this run's folders; list files of unknown origin."""

import logging
import sys
from pathlib import Path

from corpusmill.messages.plain_text import shown
from corpusmill.mill.storage.sums import sums_path
from corpusmill.run.record import Made, foreign_files, stale_files

SHOW = 10  # foreign files to list on the terminal; the log lists all


def remove_stale(made: Made, record: Path) -> None:
    """Remove files that earlier runs made and this one does not; list other files."""
    for path in stale_files(record, made):
        path.unlink()
        sums_path(path).unlink(missing_ok=True)
        logging.info("removed %s: of an earlier run", path)
    foreign = list(foreign_files(made))
    for path in foreign:
        logging.warning("%s: not made by a known run; left in place", path)
    if foreign:
        some = ", ".join(shown(str(path)) for path in foreign[:SHOW])
        print(
            f"WARNING: {len(foreign)} files in the folders of this run do not belong to the run "
            f"and were left in place: {some}{', ...' * (len(foreign) > SHOW)}. Programs that read "
            "a whole folder would also read these files: move them away.",
            file=sys.stderr,
        )
