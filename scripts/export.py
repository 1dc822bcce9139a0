"""Write the finished corpus in the format of a trainer."""

import logging
from pathlib import Path

from corpusmill.run.job import run
from corpusmill.run.job_progress import phase
from corpusmill.tools.export.exporting import Exporting, format_of


def export(manifest: Path, form: str, length: int, packed_samples: bool, folder: Path) -> None:
    """folder: made again from scratch, so that it has no files of an earlier corpus."""
    packed = packed_samples and format_of(form).samples
    exporting = Exporting(form, manifest.parent, folder, length, packed)
    with phase(f"exporting {form}", exporting.bytes) as progress:
        record = exporting.write(progress)
    logging.info("%d files", len(record["files"]))


if __name__ == "__main__":
    run(export)
