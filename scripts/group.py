"""Group documents by their pairs, and name for each the document of its group that is kept."""

import itertools
import logging
from pathlib import Path

import numpy as np

from corpusmill.components import ENGINES, Candidates, pair_blocks, winners_of
from corpusmill.document_ids import ids_of_part
from corpusmill.fates import KEPT
from corpusmill.files import load_array, load_json, save_array, save_blocks
from corpusmill.step_log import step_log
from corpusmill.tables import load_labels, load_table


def group(
    listing: Path,
    pairs: list[Path],
    verdicts: list[Path],
    priority: dict[str, int | None],
    engine: str,
    winners: Path,
    starts: Path,
) -> None:
    """verdicts: of every part, in part order. Least is best: rejected by the filter, then the
    source's `priority`, None after all; then the longer text and the lower id win."""
    rows = [part["documents"] for part in load_json(listing)["parts"]]
    part_starts = np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
    last = max((rank for rank in priority.values() if rank is not None), default=0) + 1
    ranks = {source: last if rank is None else rank for source, rank in priority.items()}

    def candidates(part: int) -> Candidates:
        sources, source = load_labels(verdicts[part], "source")
        of_source = np.array([ranks[name] for name in sources], np.uint64)
        fate, sizes = load_table(verdicts[part], "fate", "text_bytes")
        rejected = (fate != KEPT).astype(np.uint64)
        return Candidates(rejected << np.uint64(32) | of_source[source], sizes)

    roots = ENGINES[engine](pair_blocks(pairs), part_starts)
    save_array(starts, part_starts)
    elected = winners_of(roots, part_starts, candidates)
    save_blocks(winners, elected, roots.size, np.uint64)
    others = sum(
        int((load_array(winners)[start:stop] != ids_of_part(part, stop - start)).sum())
        for part, (start, stop) in enumerate(itertools.pairwise(part_starts.tolist()))
    )
    logging.info("%d documents, %d of them like another that is kept", roots.size, others)


if __name__ == "__main__":
    with step_log(snakemake.log[0]):
        group(
            listing=Path(snakemake.input.listing),
            pairs=[Path(file) for file in snakemake.input.pairs],
            verdicts=[Path(file) for file in snakemake.input.verdicts],
            priority=snakemake.params.priority,
            engine=snakemake.params.engine,
            winners=Path(snakemake.output.winners),
            starts=Path(snakemake.output.starts),
        )
