"""Counts the ledger again by row group: the accounts, and the copies in every shard."""

import re
from collections import Counter

import numpy as np
import pyarrow as pa

from corpusmill.mill.account.ledger_columns import copies_in, copies_of_rows, kept_rows
from corpusmill.mill.decide.fates import DUPLICATE, MALFORMED, SPLITS, TRAIN
from corpusmill.mill.read.ids import ROW_BITS
from corpusmill.mill.storage.streams import limited_lines
from corpusmill.mill.storage.tables import in_one_piece
from corpusmill.run.job_progress import Phase
from corpusmill.tools.verify.between import Account, Between
from corpusmill.tools.verify.copies import CopySums
from corpusmill.tools.verify.reading import UNLIKE, Corpus

READ = ["id", "source", "fate", "winner", "split", "copies", "text_bytes", "digest", "cuts",
        "cut_bytes"]  # fmt: skip


LONGEST_LINE = 1 << 20
"""Maximum length in bytes of a line of quarantine, which is kept in memory to count it."""


class LedgerLook:
    """Checks the ledger of every part, and the other files kept of a part."""

    def __init__(self, corpus: Corpus, expected: CopySums, shards: dict[str, int]) -> None:
        """Prepare the check. expected: gets the contents that shards should have. shards: their
        number per split."""
        self._corpus, self._expected, self._shards = corpus, expected, shards
        self._stages = [split for split in shards if split not in SPLITS]
        self.between = Between(corpus)
        self.account: Account = {}
        self.complete = True
        """Whether every part could be read."""

    def look(self, progress: Phase) -> None:
        """Check all parts. progress: counts parts."""
        names = [name for name in self._corpus.listing.files if name.startswith("ledger/")]
        parts = sorted(names)
        progress.total = len(parts)
        for number, name in enumerate(parts):
            if name != f"ledger/{number:05d}.parquet":
                told = f"part {number:05d} of the ledger is not listed, but later parts are"
                self._corpus.findings.damage("manifest.json", told)
                self.complete = False
                break
        for name in parts:
            progress.advance(1)
            if not self._corpus.has(name):
                self.complete = False
                continue
            try:
                self._part(name)
            except UNLIKE as error:
                self._corpus.unlike(name, error)
                self.complete = False

    def _part(self, name: str) -> None:
        read = [*READ, *map(copies_in, self._stages)]
        if missing := set(read) - set(self._corpus.columns_of(name)):
            lacking = ", ".join(sorted(missing))
            why = f"an earlier version of corpusmill wrote it, without the columns {lacking}"
            self._corpus.findings.unseen(name, why)
            self.complete = False
            return
        number = re.sub(r"\D", "", name)
        first, done = int(number) << ROW_BITS, 0
        figures: Counter[str] = Counter()
        account: Account = {}
        won: list[np.ndarray] = [np.zeros((2, 0), np.uint64)]
        for table in self._corpus.parquet(name, read):
            ids = in_one_piece(table["id"])
            documents = ids.drop_null().to_numpy()
            expected = np.arange(done, done + documents.size, dtype=np.uint64) + np.uint64(first)
            done += documents.size
            malformed = np.array(table["fate"].to_pylist(), object) == MALFORMED
            if (documents != expected).any() or (ids.is_null().to_numpy(False) != malformed).any():
                self._corpus.findings.damage(name, "its rows are not the documents of its part")
                self.complete = False
                return
            figures += self._count(table, account)
            self._expect(name, table)
            duplicate = np.array(table["fate"].to_pylist(), object) == DUPLICATE
            winners = in_one_piece(table["winner"]).fill_null(0).to_numpy()
            won.append(np.stack([in_one_piece(ids_of(table)).to_numpy(), winners])[:, duplicate])
        self._hold_others(name, number, figures, np.concatenate(won, axis=1))
        self.between.hold_part(number, account)
        for source, counted in account.items():
            self.account.setdefault(source, Counter()).update(counted)

    def _count(self, table: pa.Table, account: Account) -> Counter[str]:
        """Add a row group to the account of its part. Return its sums over all sources."""
        of_stages = [*map(copies_in, self._stages)]
        summed = ["text_bytes", "copies", "cuts", "cut_bytes", *of_stages]
        grouped = table.group_by(["source", "fate", "split"]).aggregate(
            [("fate", "count"), *((name, "sum") for name in summed)]
        )
        whole: Counter[str] = Counter()
        for row in grouped.to_pylist():
            figures = account.setdefault(row["source"], Counter())
            counts, size = row["fate_count"], row["text_bytes_sum"] or 0
            figures["documents"] += counts
            figures["text_bytes"] += size + (row["cut_bytes_sum"] or 0)
            figures["cut_bytes"] += row["cut_bytes_sum"] or 0
            figures[row["fate"]] += counts
            figures[f"{row['fate']}_bytes"] += size
            figures["copies"] += row["copies_sum"] or 0
            if row["split"] == TRAIN and of_stages:
                figures.update({name: row[f"{name}_sum"] or 0 for name in of_stages})
            elif row["split"]:
                figures[f"{row['split']}_copies"] += row["copies_sum"] or 0
            whole[row["fate"]] += counts
            whole["cuts"] += row["cuts_sum"] or 0
        return whole

    def _expect(self, name: str, table: pa.Table) -> None:
        """Record which copies the shards should contain."""
        kept = kept_rows(table)
        if not kept.num_rows:
            return
        copies = copies_of_rows(kept, self._stages)
        for gone in [split for split in copies if not self._shards.get(split)]:
            if number := int((copies.pop(gone) > 0).sum()):
                told = f"{number:,} documents of the split {gone}, but none of its shards is listed"
                self._corpus.findings.damage(name, told)
        ids, digests = (in_one_piece(kept[one]).to_numpy() for one in ("id", "digest"))
        self._expected.add_kept(ids, copies, digests)

    def _hold_others(self, name: str, number: str, figures: Counter[str], won: np.ndarray) -> None:
        """Check the other files of the part. won: uint64 (2, duplicates), ids and their winners."""
        corpus = self._corpus
        if corpus.has(clusters := f"clusters/{number}.parquet"):
            tables = list(corpus.parquet(clusters, ["id", "winner"]))
            found = [np.stack([one[k].to_numpy() for k in ("id", "winner")]) for one in tables]
            if not np.array_equal(np.concatenate([won[:, :0], *found], axis=1), won):
                corpus.findings.damage(clusters, f"other duplicates or winners than {name} has")
        if corpus.has(aside := f"quarantine/{number}.jsonl"):
            lines = sum(1 for _ in limited_lines(corpus.place.blocks(aside), LONGEST_LINE))
            if lines != figures[MALFORMED]:
                told = f"{lines:,} malformed records, but {name} counts {figures[MALFORMED]:,}"
                corpus.findings.damage(aside, told)
        names = (f"{folder}/{number}.parquet" for folder in ("cut", "edited"))
        cuts = [one for one in names if one in corpus.listing.files]
        if all(map(corpus.has, cuts)):
            rows = sum(table.num_rows for one in cuts for table in corpus.parquet(one, ["id"]))
            if rows != figures["cuts"]:
                told = f"{rows:,} cut pieces in {' and '.join(cuts) or 'no file'}"
                corpus.findings.damage(name, f"{told}, the ledger has {figures['cuts']:,}")


def ids_of(table: pa.Table) -> pa.ChunkedArray:
    return pa.chunked_array([chunk.fill_null(0) for chunk in table["id"].chunks], pa.uint64())
