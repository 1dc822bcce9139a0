"""Checks the source and cell of every document against the placements and the summary."""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.mill.account.mixture_account import copies_in
from corpusmill.mill.tokens.group_files import DTYPE, LEGEND, NUMBERS, Group, groups_of, legend_of
from corpusmill.mill.tokens.pack_files import HEADER_BYTES, npy_shape
from corpusmill.tools.verify.reading import UNLIKE, Corpus
from corpusmill.tools.verify.shard_documents import Shard
from corpusmill.tools.verify.summary import SUMMARY
from corpusmill.tools.verify.told import tell

WRONG_SOURCE = "gives documents another source than the placements"


class WrongGroupsError(ValueError):
    """Groups that a run would not write."""


def hold_groups(corpus: Corpus, shards: list[Shard], summary: dict[str, Any] | None) -> None:
    """Check the groups of every split that has them."""
    for split in dict.fromkeys(shard.split for shard in shards):
        numbers, legend = (f"tokens/{split}/{name}" for name in (NUMBERS, LEGEND))
        own = [shard for shard in shards if shard.split == split]
        if not all(map(corpus.has, (numbers, legend, *(shard.placements for shard in own)))):
            continue
        reading = legend
        try:
            told = corpus.json(legend)
            listed = [corpus.listing.files[shard.token_file("bin")].documents or 0 for shard in own]
            groups = groups_of(told, legend, sum(listed))
            reading = numbers
            counted = counted_groups(corpus, numbers, own, listed, groups)
        except WrongGroupsError as error:
            corpus.findings.damage(numbers, str(error))
            continue
        except UNLIKE as error:
            corpus.unlike(reading, error)
            continue
        by = [] if not isinstance(told.get("by"), list) else told["by"]
        tell(corpus, legend, told, legend_of(counted, by, corpus.listing.files[numbers].sha256))
        account = ((summary or {}).get("mixture") or {}).get(split)
        if account is not None:
            hold_cells(corpus, split, account, counted)


def counted_groups(
    corpus: Corpus, name: str, shards: list[Shard], documents: list[int], groups: list[Group]
) -> list[Group]:
    """Return the groups with the counts that numbers and placements give."""
    file, size = corpus.file(name), corpus.listing.files[name].bytes
    shape, at = npy_shape(file.read(HEADER_BYTES), DTYPE) or ((), 0)
    if shape != (sum(documents),) or at + sum(documents) * DTYPE.itemsize != size:
        raise WrongGroupsError(f"expected {sum(documents):,} uint32 numbers, found shape {shape}")
    file.seek(at)
    names = pa.array([group.source for group in groups], pa.string())
    found, tokens = (np.zeros(len(groups), np.int64) for _ in range(2))
    for shard, count in zip(shards, documents, strict=True):
        mine = np.frombuffer(file.read(count * DTYPE.itemsize), DTYPE)
        if mine.size != count or mine.max(initial=0) >= max(1, len(groups)):
            raise WrongGroupsError(f"expected numbers below {len(groups)}, found others")
        first = 0
        for table in corpus.parquet(shard.placements, ["source", "token_start", "token_end"]):
            some = mine[first : first + table.num_rows]
            first += table.num_rows
            sources = table["source"].combine_chunks().cast(pa.string())
            if (
                some.size < table.num_rows
                or not pc.all(pc.equal(names.take(pa.array(some)), sources), min_count=0).as_py()
            ):
                raise WrongGroupsError(WRONG_SOURCE)
            begin, end = (table[one].to_numpy() for one in ("token_start", "token_end"))
            np.add.at(found, some, 1)
            np.add.at(tokens, some, (end - begin).astype(np.int64))
        if first != count:
            raise WrongGroupsError(WRONG_SOURCE)
    return [
        group._replace(documents=documents_of, tokens=tokens_of)
        for group, documents_of, tokens_of in zip(
            groups, found.tolist(), tokens.tolist(), strict=True
        )
    ]


def hold_cells(corpus: Corpus, split: str, account: dict[str, Any], groups: list[Group]) -> None:
    """Check the copies and tokens of each cell in the summary against the shards."""
    documents: Counter[tuple[str, ...]] = Counter()
    tokens: Counter[tuple[str, ...]] = Counter()
    for group in groups:
        documents[group.cell or ()] += group.documents
        tokens[group.cell or ()] += group.tokens
    try:
        told = {tuple(cell["cell"]): copies_in(cell) for cell in account["cells"]}
        sizes = {tuple(cell["cell"]): cell["counted"] for cell in account["cells"]}
        unit = account["unit"]
    except UNLIKE as error:
        corpus.unlike(SUMMARY, error)
        return
    for cell in sorted({*told, *documents}):
        if told.get(cell, 0) != documents[cell]:
            fault = f"{told.get(cell, 0):,} copies, the shards of {split} have {documents[cell]:,}"
            corpus.findings.damage(SUMMARY, f"the cell {':'.join(cell)} has {fault}")
            return
        if unit == "tokens" and sizes.get(cell, 0) != tokens[cell]:
            fault = f"{sizes.get(cell, 0):,} tokens, the shards of {split} have {tokens[cell]:,}"
            corpus.findings.damage(SUMMARY, f"the cell {':'.join(cell)} has {fault}")
            return
