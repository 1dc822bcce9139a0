"""Refuse the corpus if more of its records are malformed than the config allows."""

import itertools
import logging
from pathlib import Path

from corpusmill.messages.progress import Silence
from corpusmill.mill.account.accounts import added
from corpusmill.mill.read.records import too_many_malformed
from corpusmill.mill.storage.files import load_json, save_json
from corpusmill.mill.storage.streams import read_written_lines
from corpusmill.run.job import run

SHOW = 10
LIMIT = "input.max_record_bytes"


def admit(
    counts: list[Path],
    quarantine: list[Path],
    max_malformed_fraction: dict[str, float],
    admitted: Path,
) -> None:
    """max_malformed_fraction: by source."""
    totals = added([load_json(file)["by_source"] for file in counts])
    faults = []
    for source, count in totals.items():
        bad, records = count["malformed"], count["records"]
        logging.info("%s: %d of %d records malformed", source, bad, records)
        if fault := too_many_malformed(source, bad, records, max_malformed_fraction[source]):
            faults.append(fault)
    if faults:
        records = (
            line.decode("utf-8").strip()
            for file in quarantine
            for line in read_written_lines(file, Silence())
        )
        shown = list(itertools.islice(records, SHOW))
        limit = f"{LIMIT}, or " if any(LIMIT in one for one in shown) else ""
        raise ValueError(
            "\n".join(faults) + "\nresults/quarantine/*.jsonl has all of them, with file, "
            "line, offset and reason. The first:\n" + "\n".join(shown) + "\n"
            f"Repair these records, or raise {limit}max_malformed_fraction of the source."
        )
    save_json(admitted, {source: dict(count) for source, count in totals.items()})


if __name__ == "__main__":
    run(admit)
