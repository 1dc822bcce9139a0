"""Count the distributions of values in a block of parts."""

import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.mill.decide.decided import BlockDecisions, load_decided
from corpusmill.mill.report.tallies import (
    STAGES,
    Tally,
    added,
    dropped_by_language,
    tally_of_part,
)
from corpusmill.mill.storage.files import save_json
from corpusmill.mill.storage.tables import load_arrow, save_parquet
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def tally(
    measures: list[Path],
    decided: BlockDecisions,
    first_part: int,
    bins: Path,
    totals: Path,
    languages: Path,
) -> None:
    """measures: of the block's parts, from number `first_part` on."""
    dropped: dict[str, Counter] = {}
    with phase("counting", len(measures), "parts") as progress:

        def of_parts() -> Iterator[Tally]:
            tables = zip(measures, decided.of_parts(), strict=True)
            for part, (file, decisions) in enumerate(tables, first_part):
                fates = load_decided(decisions, part).fates
                of_part = load_arrow(file)
                of_languages = dropped_by_language(of_part, fates.array().cast(pa.string()))
                for language, counts in of_languages.items():
                    dropped.setdefault(language, Counter()).update(counts)
                yield tally_of_part(of_part, fates.kept)
                progress.advance(1)

        of_block = added(of_parts())
    save_parquet(bins, of_block.bins)
    save_parquet(totals, of_block.totals)
    save_json(languages, languages_of(of_block.totals, dropped))
    logging.info("%d values of %d parts", of_block.totals.num_rows, len(measures))


def languages_of(totals: pa.Table, dropped: dict[str, Counter]) -> dict[str, dict]:
    """Return documents and bytes per language, read and kept, and drops by fate.

    Empty if no filter detects languages.
    """
    found: dict[str, Counter] = {}
    for row in totals.filter(pc.equal(totals["value"], "text_bytes")).to_pylist():
        if row["language"] is not None:
            figures = found.setdefault(row["language"], Counter())
            figures[row["stage"]] += row["documents"]
            figures[f"{row['stage']}_bytes"] += int(row["sum"])
    names = [name for stage in STAGES for name in (stage, f"{stage}_bytes")]
    return {
        one: {name: found[one][name] for name in names}
        | {"dropped": dict(sorted(dropped.get(one, {}).items()))}
        for one in found
    }


if __name__ == "__main__":
    run(tally)
