"""Group documents by their pairs, and name for each the document of its group that is kept."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.components import ENGINES, Candidates, pair_blocks, winners_of
from corpusmill.document_ids import ids_of_part
from corpusmill.fates import KEPT
from corpusmill.files import array_writer, load_json, save_array
from corpusmill.step_log import step_log
from corpusmill.tables import load_labels, load_table


def group(
    listing: Path,
    pairs: list[Path],
    priority: dict[str, int | None],
    weights: dict[str, float],
    engine: str,
    winners: Path,
    starts: Path,
) -> None:
    """listing: the band files and the verdicts of all parts.

    Who is kept: first not rejected by the filter nor of a source with weight 0, then by the
    source's `priority` (None after all), then the longer text, then the lower id.
    """
    parts = load_json(listing)["parts"]
    rows = [part["documents"] for part in parts]
    verdicts = [Path(part["verdicts"]) for part in parts]
    part_starts = np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
    last = max((rank for rank in priority.values() if rank is not None), default=0) + 1
    ranks = {source: last if rank is None else rank for source, rank in priority.items()}

    def candidates(part: int) -> Candidates:
        sources, source = load_labels(verdicts[part], "source")
        of_source = np.array([ranks[name] for name in sources], np.uint64)
        fate, sizes = load_table(verdicts[part], "fate", "text_bytes")
        unused = np.array([weights[name] == 0 for name in sources])[source]
        rejected = ((fate != KEPT) | unused).astype(np.uint64)
        return Candidates(rejected << np.uint64(32) | of_source[source], sizes)

    roots = ENGINES[engine](pair_blocks(pairs), part_starts)
    save_array(starts, part_starts)
    others = 0
    with array_writer(winners, (roots.size,), np.uint64) as append:
        for part, ids in enumerate(winners_of(roots, part_starts, candidates)):
            append(ids)
            others += int((ids != ids_of_part(part, ids.size)).sum())
    logging.info("%d documents, %d of them like another that is kept", roots.size, others)


if __name__ == "__main__":
    with step_log(snakemake.log[0]):
        group(
            listing=Path(snakemake.input.listing),
            pairs=[Path(file) for file in snakemake.input.pairs],
            priority=snakemake.params.priority,
            weights=snakemake.params.weights,
            engine=snakemake.params.engine,
            winners=Path(snakemake.output.winners),
            starts=Path(snakemake.output.starts),
        )
