"""Checks one shard: text, tokens, index and placements against each other, by document."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.mill.decide.fates import STAGE_NAME, in_order
from corpusmill.mill.read.digests import digest_words, digests_of
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.storage.tables import in_one_piece
from corpusmill.reader.open_shards import cut_by
from corpusmill.tools.verify.copies import CopySums
from corpusmill.tools.verify.decoding import Decoder
from corpusmill.tools.verify.locations import PlaceFile
from corpusmill.tools.verify.reading import UNLIKE, Corpus

BLOCK_DOCUMENTS = 4096
"""Documents per block if there is no text."""

TOLD = 3
"""Maximum number of documents of a shard that are named. All are counted."""

PLACED = ["id", "copy", "source", "split", "shard", "row", "token_start", "token_end"]


class Shard(NamedTuple):
    """The names of a shard's files."""

    split: str
    number: int
    ending: str

    @property
    def text(self) -> str:
        return f"corpus/{self.split}/{self.number:05d}{self.ending}"

    @property
    def text_facts(self) -> str:
        return f"corpus/{self.split}/{self.number:05d}.json"

    def token_file(self, ending: str) -> str:
        return f"tokens/{self.split}/{self.number:05d}.{ending}"

    @property
    def placements(self) -> str:
        return f"placements/{self.split}/{self.number:05d}.parquet"


class Placed(NamedTuple):
    """The placements of a shard's documents."""

    id: np.ndarray
    copy: np.ndarray
    source: pa.Array


class Counted:
    """Figures of a shard per source, counted from its content."""

    def __init__(self) -> None:
        self.texts: dict[str, Counter[str]] = {}
        self.tokens: dict[str, Counter[str]] = {}
        self.ends = 0
        self.highest = -1
        self.unlike = Faults()
        """Documents that do not decode to their text, although no characters were lost."""
        self.losing = Faults()
        """Documents with lost characters, which the run has counted too."""
        self.moved = Faults()
        """Documents that contradict the placements."""
        self.badly_ended = Faults()
        self.documents = 0
        self.tokens_known = False
        """Whether all text and tokens could be counted."""


class Faults:
    """Documents of a shard, the first few by number."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[int] = []

    def add(self, rows: list[int]) -> None:
        self.count += len(rows)
        self.first += rows[: TOLD - len(self.first)]

    def __str__(self) -> str:
        more = ", ..." if self.count > len(self.first) else ""
        return f"{self.count:,} documents ({', '.join(map(str, self.first))}{more})"


def added(table: dict[str, Counter[str]], sources: pa.Array, **numbers: np.ndarray) -> None:
    """Add numbers, one per document, to the figures of the documents' sources."""
    places = sources.dictionary_encode()
    names, rows = places.dictionary.to_pylist(), places.indices.to_numpy()
    for figure, values in numbers.items():
        totals = np.zeros(len(names), np.int64)
        np.add.at(totals, rows, values)
        for name, total in zip(names, totals.tolist(), strict=True):
            table.setdefault(name, Counter())[figure] += total


def index_of(corpus: Corpus, shard: Shard, itemsize: int) -> np.ndarray | None:
    """Return int64 (documents + 1,); None if the index does not match the tokens, which is
    reported."""
    name, tokens = shard.token_file("idx"), corpus.listing.files[shard.token_file("bin")]
    size = tokens.bytes // itemsize
    starts = cut_by(corpus.array(name, "<u8"), size)
    fault = None
    if starts is None:
        fault = f"does not divide the {size:,} tokens of {tokens.name} into documents"
    elif tokens.documents is not None and starts.size - 1 != tokens.documents:
        fault = f"{starts.size - 1:,} documents, but the manifest lists {tokens.documents:,}"
    if fault:
        corpus.findings.damage(name, fault)
        return None
    return starts


def placed_of(corpus: Corpus, shard: Shard, starts: np.ndarray | None) -> Placed | None:
    """Return the placements, checked against the index; None if they do not match, which is
    reported."""
    name = shard.placements
    none = np.zeros(0, np.uint64)
    ids, copies, sources, done = [none], [none], [], 0
    for table in corpus.parquet(name, PLACED):
        rows = np.arange(done, done + table.num_rows)
        own = (
            table["split"].to_pylist() == [shard.split] * table.num_rows
            and (table["shard"].to_numpy() == shard.number).all()
            and (table["row"].to_numpy() == rows).all()
        )
        if not own:
            corpus.findings.damage(name, f"rows from {done:,} on are from another shard")
            return None
        if starts is not None and not placed_as_in(table, starts, rows):
            told = f"tokens from row {done:,} on are not where {shard.token_file('idx')} says"
            corpus.findings.damage(name, told)
            return None
        ids.append(table["id"].to_numpy())
        copies.append(table["copy"].to_numpy().astype(np.uint64))
        sources += table["source"].chunks
        done += table.num_rows
    if starts is not None and done != starts.size - 1:
        corpus.findings.damage(name, f"{done:,} documents, but the index has {starts.size - 1:,}")
        return None
    of_source = pa.chunked_array(sources, pa.string()).combine_chunks()
    return Placed(np.concatenate(ids), np.concatenate(copies), of_source)


def placed_as_in(table: pa.Table, starts: np.ndarray, rows: np.ndarray) -> bool:
    if rows.size and rows[-1] >= starts.size - 1:
        return False
    begins, ends = (
        table[name].to_numpy().astype(np.int64) for name in ("token_start", "token_end")
    )
    return bool((begins == starts[rows]).all() and (ends == starts[rows + 1]).all())


class ShardLook:
    """Checks the documents of a shard, block by block."""

    def __init__(
        self, corpus: Corpus, shard: Shard, decoder: Decoder | None, sums: CopySums
    ) -> None:
        """Prepare the check. sums: gets the copies in the shard."""
        self._corpus, self._shard, self._decoder, self._sums = corpus, shard, decoder, sums
        self._place = sums.place(shard.split, shard.number)
        self.counted = Counted()
        self._tokens: PlaceFile | None = None
        self._starts: np.ndarray | None = None
        self.placed: Placed | None = None
        """The placements, once they are read."""

    def look(self) -> Iterator[int]:
        """Check all documents; yield the number checked from time to time. If a file is malformed,
        that is reported and nothing is counted."""
        corpus, shard = self._corpus, self._shard
        bin, idx = shard.token_file("bin"), shard.token_file("idx")
        for name, look in (
            (idx, self._index if self._decoder and corpus.has(bin) else None),
            (shard.placements, self._placements),
            (shard.text, self._documents),
        ):
            if look and corpus.has(name):
                try:
                    yield from look()
                except UNLIKE as error:
                    corpus.unlike(name, error)
        if not corpus.has(shard.text):
            why = f"{shard.text} is damaged or missing"
            corpus.findings.unseen(f"whether {bin} matches the text", why)
            self._tokens_alone()
        self._tell()

    def _index(self) -> Iterator[int]:
        assert self._decoder
        yield 0
        self._starts = index_of(self._corpus, self._shard, self._decoder.dtype.itemsize)
        if self._starts is not None:
            self._tokens = self._corpus.file(self._shard.token_file("bin"))

    def _placements(self) -> Iterator[int]:
        yield 0
        self.placed = placed_of(self._corpus, self._shard, self._starts)
        if self.placed:
            self._sums.add_held(self._place, self.placed.id, self.placed.copy)

    def _documents(self) -> Iterator[int]:
        expected = None if self._starts is None else self._starts.size - 1
        more = ""
        for table in self._corpus.documents(self._shard.text):
            self._add(table)
            yield self.counted.documents
            if expected is not None and self.counted.documents > expected + BLOCK_DOCUMENTS:
                more = " at least"  # a few bytes can unpack to any number of them
                break
        if expected is not None and self.counted.documents != expected:
            told = f"{self.counted.documents:,} documents{more}, the index has {expected:,}"
            self._corpus.findings.damage(self._shard.text, told)
        self.counted.tokens_known = self.counted.documents == expected

    def _add(self, table: pa.Table) -> None:
        """Add documents to the figures. table: COLUMNS of the next ones."""
        texts = TextColumn.of(in_one(table["text"]))
        sources = in_one(table["source"])
        ids, copies = (table[name].to_numpy().astype(np.uint64) for name in ("id", "copy"))
        first = self.counted.documents
        rows = np.arange(first, first + ids.size)
        self.counted.documents += ids.size
        ones = np.ones(ids.size, np.int64)
        added(self.counted.texts, sources, documents=ones, text_bytes=texts.sizes())
        digests = digest_words(digests_of(texts))
        self._sums.add_texts(self._place, ids, copies, digests)
        if self.placed and rows.size:
            self._hold_against_placements(rows, ids, copies, sources)
        if self._starts is not None and rows.size and rows[-1] < self._starts.size - 1:
            self._hold_against_tokens(rows, texts, sources)

    def _hold_against_placements(
        self, rows: np.ndarray, ids: np.ndarray, copies: np.ndarray, sources: pa.Array
    ) -> None:
        assert self.placed
        there = int((rows < self.placed.id.size).sum())
        known = rows[:there]
        same = np.zeros(rows.size, bool)
        same[:there] = (
            (self.placed.id[known] == ids[:there])
            & (self.placed.copy[known] == copies[:there])
            & pc.equal(
                self.placed.source.slice(int(rows[0]), there), sources.slice(0, there)
            ).to_numpy(zero_copy_only=False)
        )
        self.counted.moved.add(rows[~same].tolist())

    def _hold_against_tokens(
        self, rows: np.ndarray, texts: TextColumn | None, sources: pa.Array | None
    ) -> None:
        """Check documents against tokens. rows: consecutive rows of the shard; without texts, only
        tokens are checked."""
        assert self._tokens
        assert self._decoder
        assert self._starts is not None
        setting, dtype, counted = self._decoder.setting, self._decoder.dtype, self.counted
        starts = self._starts[rows[0] : rows[-1] + 2]
        self._tokens.seek(int(starts[0]) * dtype.itemsize)
        data = self._tokens.read(int(starts[-1] - starts[0]) * dtype.itemsize)
        tokens, lengths = np.frombuffer(data, dtype), np.diff(starts)
        firsts = starts[:-1] - starts[0]
        is_end = tokens == setting.end_of_text_id
        last = is_end[firsts + lengths - 1]
        one_end = np.add.reduceat(is_end, firsts, dtype=np.int64) == 1
        counted.badly_ended.add(rows[~(one_end & last)].tolist())
        counted.highest = max(counted.highest, int(tokens.max()))
        if counted.highest >= setting.vocabulary:
            self._starts = None  # Out-of-range ids cannot be decoded.
            return
        if texts is None or sources is None:
            return
        lost = np.zeros(rows.size, np.int64)
        for one in self._decoder.unequal(texts, tokens, lengths):
            lost[one.row] = one.lost
            counted.unlike.add([int(rows[one.row])] * one.faulty)
            counted.losing.add([int(rows[one.row])] * (one.lost > 0))
        unknown = np.isin(tokens, np.array(setting.unknown_ids, tokens.dtype))
        added(
            counted.tokens, sources, documents=np.ones(rows.size, np.int64), tokens=lengths,
            characters=pc.utf8_length(texts.array()).to_numpy(), lost_characters=lost,
            unknown_tokens=np.add.reduceat(unknown, firsts, dtype=np.int64),
            documents_without_token=(lengths == 1).astype(np.int64),
        )  # fmt: skip

    def _tokens_alone(self) -> None:
        """Check the tokens of a shard whose text cannot be read."""
        at = 0
        while self._starts is not None and at < self._starts.size - 1:
            stop = min(at + BLOCK_DOCUMENTS, self._starts.size - 1)
            self._hold_against_tokens(np.arange(at, stop), None, None)
            at = stop

    def _tell(self) -> None:
        """Report the faults of the documents."""
        counted, shard, findings = self.counted, self._shard, self._corpus.findings
        bin = shard.token_file("bin")
        if counted.moved.count:
            told = f"documents that contradict {shard.placements}: {counted.moved}"
            findings.damage(shard.text, told)
        if counted.badly_ended.count:
            told = "documents without an end-of-text id, or with more than one"
            findings.damage(bin, f"{told}: {counted.badly_ended}")
        if counted.unlike.count:
            told = f"documents whose tokens are not those of {shard.text}: {counted.unlike}"
            findings.damage(bin, told)
        if self._decoder and counted.highest >= self._decoder.setting.vocabulary:
            known = self._decoder.setting.vocabulary
            findings.damage(bin, f"token id {counted.highest:,}, the tokenizer has {known:,}")


def in_one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else in_one_piece(column)


def shards_of(corpus: Corpus) -> list[Shard]:
    """Return every shard with a listed file, in order."""
    found: dict[tuple[str, int], str] = {}
    for name in corpus.listing.files:
        path = re.fullmatch(rf"(corpus|tokens|placements)/({STAGE_NAME})/(\d{{5}})(\..+)", name)
        if path:
            place = path[2], int(path[3])
            is_text = path[1] == "corpus" and path[4] != ".json"
            found[place] = path[4] if is_text else found.get(place, ".jsonl.zst")
    order = {split: place for place, split in enumerate(in_order({split for split, _ in found}))}
    shards = [Shard(split, number, ending) for (split, number), ending in found.items()]
    return sorted(shards, key=lambda shard: (order[shard.split], shard.number))
