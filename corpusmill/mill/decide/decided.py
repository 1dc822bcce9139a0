"""Read all decisions about the documents of a part, each from the step that made it.

`filter` writes its verdicts, `assign` its decisions about documents that passed the filters,
`decontaminate` which texts are held out. Row i of each table is row i of the part's text.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.candidates import load_copies
from corpusmill.mill.decide.fate_columns import FateColumn
from corpusmill.mill.decide.fates import CONTAMINATED, SPLITS, TRAIN, AtDecontaminate
from corpusmill.mill.decide.splits_and_copies import copies_by_split
from corpusmill.mill.read.ids import ROW_MASK
from corpusmill.mill.storage.files import writing
from corpusmill.mill.storage.sums import CheckedFile, DamagedError
from corpusmill.mill.storage.tables import load_table

MARKS = pa.schema([("held_out_by", pa.uint8())], {"corpusmill.held_out": "1"})
FIRST = "first"


class DecisionFiles(NamedTuple):
    """The decision tables of a part. The last two are of its block of parts."""

    verdicts: Path
    assigned: Path
    marks: Path
    mixed: list[Path]
    """The copies that a mixture chose; none without a mixture."""


class BlockDecisions(NamedTuple):
    """The decision tables of a block of parts, in order."""

    verdicts: list[Path]
    assigned: list[Path]
    marks: Path
    mixed: list[Path]

    def of_parts(self) -> Iterator[DecisionFiles]:
        for verdicts, assigned in zip(self.verdicts, self.assigned, strict=True):
            yield DecisionFiles(verdicts, assigned, self.marks, self.mixed)


class Decided(NamedTuple):
    """All decisions, one value per document of a part."""

    fates: FateColumn
    winner: np.ndarray  # uint64
    similarity: np.ndarray  # float32
    stage: np.ndarray  # uint8
    split: np.ndarray  # uint8
    held_out_by: np.ndarray  # uint8: key of ORIGINS if contaminated; else 0
    copies: dict[str, np.ndarray]
    """uint16 by split that has shards: copies of the documents; 0 unless they are kept."""

    @property
    def copies_in_total(self) -> np.ndarray:
        """uint16: copies of each document in all splits."""
        return np.add.reduce([*self.copies.values()], dtype=np.uint16)


def load_decided(files: DecisionFiles, part: int) -> Decided:
    fates = load_fates(files.verdicts, files.assigned)
    names = ("winner", "similarity", "stage", "split", "copies")
    winner, similarity, stage, split, copies = load_table(files.assigned, *names)
    origins = load_marks(files.marks, part)
    known = AtDecontaminate(winner, split, copies, origins)
    fates.decide("decontaminate", known, np.ones(split.size, bool))
    by_split = copies_by_split(split, copies)
    for mixed in files.mixed:
        held_out = {name: by_split[name] for name in SPLITS if name != TRAIN}
        by_split = mixed_copies(mixed, part, split.size) | held_out
        total = np.sum([*by_split.values()], axis=0)
        fates.decide("mix", known._replace(copies=total), np.ones(split.size, bool))
    held_out_by = np.where(fates.has(CONTAMINATED), origins, 0).astype(np.uint8)
    kept = {name: np.where(fates.kept, one, 0).astype(np.uint16) for name, one in by_split.items()}
    return Decided(fates, winner, similarity, stage, split, held_out_by, kept)


def mixed_copies(path: Path, part: int, documents: int) -> dict[str, np.ndarray]:
    """Return the copies that a mixture chose, uint16 (documents,), by split."""
    ids, chosen = load_copies(path, part)
    rows = (ids & np.uint64(ROW_MASK)).astype(np.int64)
    found = {}
    for name, copies in chosen.items():
        found[name] = np.zeros(documents, np.uint16)
        found[name][rows] = copies
    return found


def load_candidates(verdicts: Path, assigned: Path, marks: Path, part: int) -> np.ndarray:
    """Return the rows of the documents that a mixture may use in train."""
    decided = load_decided(DecisionFiles(verdicts, assigned, marks, []), part)
    return np.flatnonzero(decided.fates.kept & (decided.split == SPLITS.index(TRAIN)))


def load_fates(verdicts: Path, assigned: Path) -> FateColumn:
    """Return the fates before held-out texts are taken out; the first decision wins."""
    fates, later = FateColumn.load(verdicts), FateColumn.load(assigned)
    for name in later.names[1:]:
        fates.drop(name, later.has(name))
    return fates


def save_marks(path: Path, first: int, origins: list[np.ndarray]) -> None:
    """Save the origins of held-out texts, uint8 (documents,) per part of the block; 0: none.

    first: number of the block's first part.
    """
    schema = MARKS.with_metadata({**MARKS.metadata, FIRST: str(first)})
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with writing(path) as file, pa.ipc.new_file(file, schema, options=options) as writer:
        for of_part in origins:
            writer.write_batch(pa.record_batch([pa.array(of_part)], schema=schema))


def load_marks(path: Path, part: int) -> np.ndarray:
    """Return the origins of one part of the block."""
    file = pa.ipc.open_file(CheckedFile(path))
    metadata = file.schema.metadata or {}
    if metadata.get(b"corpusmill.held_out") != b"1":
        raise DamagedError(path, "expected a table of held-out texts")
    return file.get_batch(part - int(metadata[FIRST.encode()])).column(0).to_numpy()
