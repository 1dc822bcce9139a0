"""Look-up of a document's copies in the shards, and of the document at a place."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corpusmill.mill.account.ledger_columns import copies_in
from corpusmill.mill.decide.fates import TRAIN
from corpusmill.mill.storage.regular_files import regular_state
from corpusmill.tools.why.parquet_rows import Rows
from corpusmill.tools.why.results import Results


class Copy(NamedTuple):
    """A copy of a document in the shards. copy and row count from 0."""

    copy: int
    split: str
    shard: int
    row: int
    token_start: int
    token_end: int


def placements(results: Results, split: str, shard: int) -> Rows:
    path = results.folder / f"placements/{split}/{shard:05d}.parquet"
    if not path.exists():
        raise ValueError(
            f"{path} is missing. This file lists the documents of a shard. Rebuild it: corpusmill "
            "run"
        )
    index = results.folder / f"tokens/{split}/{shard:05d}.idx"
    documents = regular_state(index).st_size // 8 - 1 if index.exists() else None
    return Rows(path, documents)


def copies_of(results: Results, row: dict[str, Any]) -> list[Copy]:
    """Return all copies of a kept document. Raise ValueError if a copy is missing."""
    stages = [stage.name for stage in results.config.stages]
    if row["split"] == TRAIN and stages:
        by_split = {stage: row.get(copies_in(stage), 0) for stage in stages}
    else:
        by_split = {row["split"]: row["copies"]}
    arranging = results.config.arranging
    arranged = arranging.splits if arranging else []
    found = []
    for split, number in by_split.items():
        look = searched if split in arranged else hashed
        found += look(results, row["id"], split, number)
    return found


def hashed(results: Results, id: int, split: str, number: int) -> list[Copy]:
    """Return the copies of a document in a shuffled split. Their shards follow from the id, so one
    file is read per copy."""
    from corpusmill.mill.shuffle.targets import emissions, first_targets

    first = first_targets(results.shards)[split]
    _, copies, _, targets = emissions(
        np.array([id], np.uint64),
        {split: np.array([number], np.uint16)},
        results.shards,
        results.config.seeds,
    )
    placed = sorted(zip(copies.tolist(), targets.tolist(), strict=True))
    return [copy_in(results, id, copy, split, target - first) for copy, target in placed]


def searched(results: Results, id: int, split: str, number: int) -> list[Copy]:
    """Return the copies of a document in a split that is not shuffled: its shards are read until
    all copies are found."""
    found: list[Copy] = []
    for shard in range(results.shards.get(split, 0)):
        if len(found) == number:
            break
        file = placements(results, split, shard)
        places = file.at(file.places_with({"id": id}))
        found += [Copy(*(place[name] for name in Copy._fields)) for place in places]
    if sorted(one.copy for one in found) != list(range(number)):
        raise ValueError(
            f"{results.folder}/placements/{split} has {len(found):,} copies of document {id}, but "
            f"the ledger has {number:,}: these are results of two runs. Finish the later run: "
            "corpusmill run"
        )
    return sorted(found)


def copy_in(results: Results, id: int, copy: int, split: str, shard: int) -> Copy:
    """Return a copy of a document from the placements of its shard."""
    file = placements(results, split, shard)
    places = file.places_with({"id": id, "copy": copy})
    if places.size != 1:
        raise ValueError(
            f"{results.folder}/placements/{split}/{shard:05d}.parquet has document {id} "
            f"{places.size:,} times, but the ledger has it once: these are results of two runs. "
            "Finish the later run: corpusmill run"
        )
    (place,) = file.at(places)
    return Copy(*(place[name] for name in Copy._fields))


def document_at(results: Results, split: str, shard: int, row: int) -> tuple[int, int]:
    """Return (id, copy) of the document at a row, from 0, of a shard. Raise ValueError if there are
    fewer rows."""
    file = placements(results, split, shard)
    rows = file.count
    if row >= rows:
        raise ValueError(
            f"{split}/{shard:05d} has {rows} documents, so there is no line {row + 1}."
        )
    (found,) = file.at(np.array([row]))
    return found["id"], found["copy"]


def row_of_token(index: Path, position: int) -> int:
    """Return the row, from 0, of the document at a position of a token shard. Raise ValueError if
    the position is beyond the end."""
    starts = np.memmap(index, "<u8", "r")
    if position >= starts[-1]:
        raise ValueError(
            f"{index.with_suffix('.bin')} has {starts[-1]} tokens, numbered 0 to "
            f"{int(starts[-1]) - 1}: there is no token {position}."
        )
    # Every document has a token, so no two start at the same position.
    return int(np.searchsorted(starts, np.uint64(position), "right")) - 1


def shard_of_joined(results: Results, split: str, position: int) -> tuple[int, int]:
    """Return shard and position in it of a token of a joined file. Raise ValueError if it is beyond
    the end."""
    at = position
    for shard in range(results.shards[split]):
        tokens = int(np.memmap(token_file(results, split, shard, "idx"), "<u8", "r")[-1])
        if at < tokens:
            return shard, at
        at -= tokens
    total = position - at
    raise ValueError(
        f"{split} has {total} tokens, numbered 0 to {total - 1}: there is no token {position}."
    )


def token_file(results: Results, split: str, shard: int, ending: str) -> Path:
    path = results.folder / f"tokens/{split}/{shard:05d}.{ending}"
    if not path.exists():
        known = results.shards[split]
        raise ValueError(f"there is no {path}; {split} has {known} shards, numbered from 0.")
    regular_state(path)
    return path
