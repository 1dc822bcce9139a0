"""What an input format declares. Steps, commands and docs ask it, and nothing else names an ending.

Built-in formats are the classes in the modules of `formats/`; there is no other list.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from corpusmill.messages.progress import Progress
from corpusmill.mill.read.normalization import normalizer
from corpusmill.mill.read.records import Malformed, NormalRecord, Record, too_long
from corpusmill.mill.storage.files import stored_blocks
from corpusmill.mill.storage.streams import READ_LIMITS, ReadLimits, Seen

if TYPE_CHECKING:
    import pyarrow as pa


class ReadOptions(NamedTuple):
    """How to read a file."""

    progress: Progress
    keep_surrogates: bool = False
    """Whether texts may have lone surrogates, which are not valid UTF-8 and which the caller
    repairs."""
    limits: ReadLimits = READ_LIMITS
    """Longer records are malformed."""
    seen: Seen | None = None
    """Receives all bytes of the file."""


class InputFormat:
    """The format of files with one ending. A built-in format needs `ending`, `content`, `read` and
    `first_members`.

    Its module is imported at the start of every command, so import large packages in the methods.
    """

    ending: str
    """The ending of file names, such as `.csv`."""
    text_per_byte: float = 1.0
    """Bytes of text expected per byte of file, for planning parts."""
    content: str
    """Description of the content, for docs/reference/formats.md."""
    is_plain: bool = False
    """Whether no record is longer than its file. Reading small files then takes less memory."""
    takes_stretches: bool = False
    """Whether `records_within` can read a stretch of a file, for samples."""

    def read(
        self, path: str, text_field: str, options: ReadOptions
    ) -> Iterator[Record | Malformed]:
        """Yield all records of a file in order, as `records`, which checks their size.

        It need not pass bytes to options.seen.
        """
        raise NotImplementedError

    def records(
        self, path: str, text_field: str, options: ReadOptions
    ) -> Iterator[Record | Malformed]:
        """Yield all records of a file in order, including malformed ones."""
        yield from _short_enough(self.read(path, text_field, options), options.limits.line_bytes)
        if options.seen:  # the file was perhaps not read in order
            for block in stored_blocks(path):
                options.seen.update(block)

    def normal_records(
        self, path: str, text_field: str, options: ReadOptions, mode: str
    ) -> Iterator[NormalRecord | Malformed]:
        """Yield all records as `records`, with normalized texts. mode: of `normalizer`."""
        mend = normalizer(mode)
        for one in self.records(path, text_field, options):
            if isinstance(one, Record):
                yield NormalRecord(one.line, mend(one.text).encode("utf-8"), one.rest)
            else:
                yield one

    def records_within(
        self, path: str, text_field: str, stretch: tuple[int, int], options: ReadOptions
    ) -> Iterator[Record | Malformed]:
        """Yield the records that start in a stretch (from byte, to byte) of a file.

        The number of a record is the offset of its start.
        """
        raise NotImplementedError

    def record_at(
        self, path: str, line: int, text_field: str, options: ReadOptions
    ) -> Record | Malformed | None:
        """Return the record with a number; None if there is none."""
        records = self.records(path, text_field, options)
        return next((one for one in records if one.line == line), None)

    def first_members(self, path: str, limits: ReadLimits) -> Iterator[dict[str, int | None]]:
        """Yield the members of the first records: name -> approximate bytes, None if not a text.

        A dictionary may stand for some records. A format without named members yields none.
        """
        return iter(())

    def schema(self, path: str) -> "pa.Schema | None":
        """Return the types that a file declares; None if they have to be inferred."""
        return None


def _short_enough(records: Iterator[Record | Malformed], most: int) -> Iterator[Record | Malformed]:
    """Yield the records; those of more than `most` bytes become malformed."""
    for one in records:
        if isinstance(one, Record):
            size = len(one.text) + len(one.rest)
            if size > most // 4:  # a character has at most four bytes
                size += len(one.text.encode("utf-8", "surrogatepass")) - len(one.text)
            if size > most:
                one = Malformed(one.line, None, too_long(size, most), one.text[:80])
        yield one
