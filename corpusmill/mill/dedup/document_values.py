"""Values of documents by which a mixture divides them, or by which they are put in order."""

from pathlib import Path

import pyarrow as pa

from corpusmill.mill.decide.mixture import DUPLICATE_SOURCES, DUPLICATES
from corpusmill.mill.dedup.winners import clusters_of_part
from corpusmill.mill.storage.tables import load_column


def document_values(
    measures: Path, resolved: list[Path], part: int, documents: int, names: set[str]
) -> dict[str, pa.Array]:
    """Return these values of a part's documents.

    resolved: the reports of all bins, which have the clusters. documents: of the part.
    """
    found = {name: load_column(measures, name) for name in names - {DUPLICATES, DUPLICATE_SOURCES}}
    if len(found) < len(names):
        clusters = clusters_of_part(resolved, part, documents)
        found[DUPLICATES] = pa.array(clusters.documents)
        found[DUPLICATE_SOURCES] = pa.array(clusters.sources)
    return found
