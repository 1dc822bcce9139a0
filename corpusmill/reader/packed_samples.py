"""Samples of whole documents, packed over a whole split by the run: its index says which."""

import numpy as np

from corpusmill.mill.tokens.pack_files import runs
from corpusmill.reader.pieces import copy_pieces, mapped_array
from corpusmill.reader.samples import refuse_few_shards
from corpusmill.reader.split import Split


class PackedSamples:
    """Samples of a split as `output.pack` of the run packed them: rows of length + 1 tokens.

    A row has whole documents, each with its end-of-text, or a piece of a longer document. The rest
    of a row is filled with end-of-text ids. docs/reference/formats.md has the details.

    The index stays on disk. Each call of `rows` maps it, reads what these rows need, and closes
    it. That is two places per row, and Linux maps up to 64 KiB around each.
    """

    def __init__(self, split: Split, length: int) -> None:
        packs = split.shards.packs
        if length not in packs:
            known = ", ".join(map(str, sorted(packs))) or "none"
            raise ValueError(
                f"length {length}: expected a length that {split.name} is packed to, found "
                f"{known}. Mill with output.pack: [{length}], or use Windowed(..., packed=True), "
                "which packs each shard by itself."
            )
        refuse_few_shards(split, "rows packed over a whole split have documents of every shard")
        self.split = split
        self.length = length
        self._index = packs[length]
        self._rows = self._opened()[1].size - 1
        if not self._rows and split.documents:
            raise self._damaged(f"rows for {split.documents} documents")
        if not self._rows:
            raise ValueError(
                f"{split.name}: expected documents in packed rows, found none. Take a larger split."
            )

    @property
    def digests(self) -> list[str]:
        """Return the SHA-256 of the index files, which together define every row."""
        return [file.sha256 for file in self._index]

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, number: int) -> np.ndarray:
        """Return (length + 1,)."""
        if not 0 <= number < self._rows:
            raise IndexError(f"expected a row within [0, {self._rows}), got {number}")
        row: np.ndarray = self.rows(np.array([number]))[0]
        return row

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """Return (numbers, length + 1): rows by int64 numbers, in any order."""
        vocabulary, width = self.split.vocabulary, self.length + 1
        rows = np.full((numbers.size, width), vocabulary.end_of_text, vocabulary.dtype)
        counts, spans = self._spans(numbers)
        start, size = spans[:, 0], spans[:, 1] - spans[:, 0]
        row = np.repeat(np.arange(numbers.size), counts)
        before = np.cumsum(size) - size
        first = np.cumsum(counts) - counts
        place = before - before[first][row] if row.size else before
        shard = np.searchsorted(self.split.token_starts, start, "right") - 1
        inside = spans[:, 1] <= self.split.token_starts[shard + 1]
        if not inside.all() or (place + size > width).any():
            raise self._damaged("pieces within a shard that fit into their row")
        local = start - self.split.token_starts[shard]
        copy_pieces(self.split, rows, shard, local, row * width + place, size)
        return rows

    def _spans(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return int64 (numbers,): the pieces of each row; and int64 (pieces, 2): start and end of
        each in the stream. Both are checked: an index may come from anywhere."""
        pieces, ends = self._opened()
        first, last = ends[numbers], ends[numbers + 1]
        if not ((first < last) & (last <= len(pieces))).all():
            raise self._damaged("ascending numbers of pieces")
        counts = (last - first).astype(np.int64)
        if (counts > self.length + 1).any():
            raise self._damaged(f"at most {self.length + 1} pieces in a row")
        spans = pieces[runs(first.astype(np.int64), counts)]
        if not ((spans[:, 0] < spans[:, 1]) & (spans[:, 1] <= self.split.tokens)).all():
            raise self._damaged(f"pieces within the {self.split.tokens} tokens")
        return counts, spans.astype(np.int64)

    def _opened(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the pieces, uint64 (pieces, 2), and the first piece of each row, uint64 (rows +
        1,). Drop both soon: mapped pages count as memory of the process."""
        other = self.split.shelf.other
        pieces = mapped_array(other(self._index.pieces), 2)
        ends = mapped_array(other(self._index.rows), 1)
        if pieces.shape[1] != 2 or not ends.size:
            raise self._damaged("pairs of numbers, and at least one start of a row")
        return pieces, ends

    def _damaged(self, expected: str) -> ValueError:
        path = self.split.shelf.other(self._index.pieces)
        return ValueError(
            f"{path}: expected {expected}, found an index that is not of this split. Copy this "
            "file and its .rows.npy again, or mill the corpus again."
        )
