"""Stop the run if filters drop too much of a source; show some of the dropped texts."""

import logging
from pathlib import Path

from corpusmill.mill.filters.allowance import dropped_by_source, too_much_dropped
from corpusmill.mill.storage.files import load_json, save_json
from corpusmill.run.job import run


def allow(
    texts: list[Path],
    verdicts: list[Path],
    counts: list[Path],
    max_dropped_fraction: dict[str, float],
    report: Path,
) -> None:
    """Each list has one file per part. max_dropped_fraction: by source."""
    parts = [load_json(file)["by_source"] for file in counts]
    if faults := too_much_dropped(parts, max_dropped_fraction, texts, verdicts):
        raise ValueError("\n".join(faults))
    dropped = {
        source: {"documents": documents, "dropped": dict(by_filter)}
        for source, (documents, by_filter) in sorted(dropped_by_source(parts).items())
    }
    save_json(report, dropped)
    logging.info("dropped by filters: %s", dropped)


if __name__ == "__main__":
    run(allow)
