"""Rebuilds shards from the input files of all parts and the ledger.

The order of the shuffle is computed again from the ids. The ledger says which documents are kept
and how often. So no intermediate file is needed. If splits are not shuffled, the placements say
which documents a shard has, in which order.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.messages.progress import Silence
from corpusmill.mill.account.ledger_columns import (
    columns_of_copies,
    copies_of_rows,
    kept_rows,
)
from corpusmill.mill.read.ids import ROW_BITS, ROW_MASK
from corpusmill.mill.shuffle.scattering import write_scattered
from corpusmill.mill.shuffle.targets import Emissions, emissions, first_targets
from corpusmill.mill.storage.files import replacing_folder, save_json
from corpusmill.mill.tokens.bounded import Bounds, in_bounded_process
from corpusmill.mill.tokens.tokenizers import TokenizerFacts, try_received
from corpusmill.tools.prove.parts_again import ChangedError, PartAgain
from corpusmill.tools.prove.run import Finished


def emitted(run: Finished, part: int, targets: list[int]) -> Emissions:
    """Return the documents of a part in these shards. Raise ChangedError if its ledger has
    changed."""
    name = f"ledger/{part:05d}.parquet"
    if not run.kept(name):
        raise ChangedError
    stages = [stage.name for stage in run.config.stages]
    file = pq.ParquetFile(run.results / name)
    columns = columns_of_copies(stages)
    groups = range(file.num_row_groups)
    tables = [kept_rows(file.read_row_group(group, columns)) for group in groups]
    kept = pa.concat_tables([file.schema_arrow.empty_table().select(columns), *tables])
    ids = kept["id"].to_numpy()
    arranged = run.layout.arranged_splits
    hashed = {
        split: copies for split, copies in copies_of_rows(kept, stages).items()
        if split not in arranged
    }  # fmt: skip
    copied = emissions(ids, hashed, run.shards, run.config.seeds)
    copied = copied.where(np.isin(copied.target, targets))
    # `ids` has the kept documents only, but a row is a place in the part.
    copied = copied._replace(row=(ids[copied.row] & np.uint64(ROW_MASK)).astype(np.int64))
    return with_placed(run, part, targets, copied) if arranged else copied


def with_placed(run: Finished, part: int, targets: list[int], copied: Emissions) -> Emissions:
    """Return the documents, and those of the part in the shards that are not shuffled, which are
    in the order of their placements. Raise ChangedError if these have changed."""
    found = [copied]
    for split in run.layout.arranged_splits:
        first = first_targets(run.shards)[split]
        for target in (one for one in targets if first <= one < first + run.shards.get(split, 0)):
            name = f"placements/{split}/{target - first:05d}.parquet"
            if not run.kept(name):
                raise ChangedError
            table = pq.read_table(run.results / name, columns=["id", "copy"])
            ids, copies = table["id"].to_numpy(), table["copy"].to_numpy()
            mine = np.flatnonzero(ids >> np.uint64(ROW_BITS) == part)
            found.append(
                Emissions(
                    (ids[mine] & np.uint64(ROW_MASK)).astype(np.int64),
                    copies[mine],
                    mine.astype(np.uint64),
                    np.full(mine.size, target, np.int64),
                )
            )
    every = Emissions(*map(np.concatenate, zip(*found, strict=True)))
    return every.where(np.argsort(every.target, kind="stable"))


def scatter(run: Finished, part: PartAgain, those: Emissions) -> Path:
    """Write them as the step scatter does. Return the counts, which name the files."""
    data, index = part.path("scatter/{}.arrows"), part.path("scatter/{}.npy")
    targets = first_targets(run.shards)["end"]
    write_scattered(data, index, part.text, part.part, those, targets, Silence())
    counts = part.path("scatter/{}.json")
    save_json(counts, {"data": str(data), "index": str(index)})
    return counts


def tokenizer(run: Finished) -> Path:
    """Return the tokenizer of the run, copied to where it is used. Raise ChangedError if it has
    changed, ValueError if the library fails on it."""
    names = [name for name in run.listing.files if name.startswith("tokenizer/")]
    damaged = [name for name in names if not run.kept(name)]
    if damaged:
        raise ChangedError
    folder = run.scratch / "tokenizer"
    with replacing_folder(folder) as temporary:
        for name in names:
            path = temporary / name.removeprefix("tokenizer/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((run.results / name).read_bytes())
    try_received(folder, TokenizerFacts.load(folder))
    return folder


def columns(run: Finished) -> list[Path]:
    """Return the file of Parquet column types, made again from all input files."""
    if run.config.output.format != "parquet":
        return []
    path = run.scratch / "plan/columns.arrow"
    files = run.layout.inputs.milled_states(None)
    run.step(
        "columns", files=files, readers=run.config.input.readers,
        limits=run.config.input.read_limits, columns=path,
    )  # fmt: skip
    return [path]


def make(
    run: Finished, split: str, shard: int, scattered: list[Path], typed: list[Path]
) -> list[str]:
    """Gather and encode a shard; return the names of its files. scattered: from `scatter`."""
    which = f"{split}/{shard:05d}"
    text = f"corpus/{which}.{run.config.output.format}"
    names = [text, f"corpus/{which}.json", *(f"tokens/{which}.{e}" for e in ("bin", "idx", "json")),
             f"placements/{which}.parquet"]  # fmt: skip
    of_text, facts, bin, idx, token_facts, placements = (run.scratch / name for name in names)
    run.step(
        "gather", listing=scattered, split=split, shard=shard, shards=run.shards, columns=typed,
        options=run.settings.of("text_shards"), text=of_text, facts=facts,
    )  # fmt: skip
    given = {"listing": scattered, "split": split, "shard": shard, "shards": run.shards,
             "folder": run.scratch / "tokenizer", "bin": bin, "idx": idx, "facts": token_facts,
             "placements": placements}  # fmt: skip
    bounds = Bounds.of_call(of_text.stat().st_size)
    in_bounded_process(run.results / "tokenizer", bounds, lambda: run.step("encode", **given))
    return names
