"""Stop the run if filters drop too much of a source; show some of the dropped texts."""

import logging
from pathlib import Path
from typing import Any

from corpusmill.mill.filters.allowance import dropped_by_source, too_much_dropped
from corpusmill.mill.storage.files import load_json, save_json
from corpusmill.run.job import run


def allow(
    texts: list[Path],
    verdicts: list[Path],
    counts: list[Path],
    limits: dict[str, Any],
    report: Path,
) -> None:
    """Each list has one file per part. limits: keyword arguments of `too_much_dropped`."""
    parts = [load_json(file)["by_source"] for file in counts]
    if faults := too_much_dropped(parts, texts, verdicts, **limits):
        raise ValueError("\n".join(faults))
    dropped = {
        source: {"documents": documents, "dropped": dict(by_filter)}
        for source, (documents, by_filter) in sorted(dropped_by_source(parts).items())
    }
    save_json(report, dropped)
    logging.info("dropped by filters: %s", dropped)


if __name__ == "__main__":
    run(allow)
