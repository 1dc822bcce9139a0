"""JSON lines, plain and compressed."""

from collections.abc import Iterator

import msgspec

from corpusmill.messages.progress import Silence
from corpusmill.mill.read.input_format import InputFormat, ReadOptions
from corpusmill.mill.read.json_records import (
    MARK,
    decoded_string,
    json_records,
    json_records_within,
    raw_members,
    record_of_line,
)
from corpusmill.mill.read.normalization import normalizer
from corpusmill.mill.read.records import Malformed, NormalRecord, Record
from corpusmill.mill.storage.streams import LongLine, ReadLimits, read_lines


def _text_bytes(raw: msgspec.Raw) -> int | None:
    """Return the bytes of a JSON string; None for another value."""
    value = memoryview(raw)
    return value.nbytes - 2 if bytes(value[:1]) == b'"' else None


class JsonLines(InputFormat):
    """JSON lines. The last ending of the file name says how they are compressed."""

    def records(
        self, path: str, text_field: str, options: ReadOptions
    ) -> Iterator[Record | Malformed]:
        """Yield all records. Lines are checked and passed to options.seen as they are read."""
        return json_records(
            path,
            text_field,
            options.keep_surrogates,
            options.progress,
            options.seen,
            options.limits,
        )

    def normal_records(
        self, path: str, text_field: str, options: ReadOptions, mode: str
    ) -> Iterator[NormalRecord | Malformed]:
        """Yield all records as `records`, with normalized texts."""
        # Imported here, as it imports the kernels.
        from corpusmill.mill.read.inert_text import inert_text

        mend = normalizer(mode)

        def text_of(raw: msgspec.Raw) -> bytes:
            # Most texts need no str: that takes half the time. ftfy changes more than NFC does.
            found = None if mode == "ftfy" else inert_text(raw)
            return mend(decoded_string(raw)).encode("utf-8") if found is None else found

        for one in json_records(
            path, text_field, options.keep_surrogates, options.progress, options.seen,
            options.limits, text_of,
        ):  # fmt: skip
            if isinstance(one, Malformed):
                yield one
            elif isinstance(one.text, bytes):
                yield NormalRecord(*one)
            else:  # lone surrogates, which the mode repairs
                yield NormalRecord(one.line, mend(one.text).encode("utf-8"), one.rest)

    def record_at(
        self, path: str, line: int, text_field: str, options: ReadOptions
    ) -> Record | Malformed | None:
        """Return the record of a line, without parsing the lines before it."""
        lines = read_lines(path, options.progress, limits=options.limits)
        found = next((one for number, one in enumerate(lines, 1) if number == line), None)
        if found is None or isinstance(found, LongLine):
            return None
        found = found.removeprefix(MARK) if line == 1 else found
        return record_of_line(line, 0, found, text_field, options.keep_surrogates)

    def first_members(self, path: str, limits: ReadLimits) -> Iterator[dict[str, int | None]]:
        """Yield the members of each line; none for a line that is not an object."""
        for number, line in enumerate(read_lines(path, Silence(), limits=limits), 1):
            if isinstance(line, LongLine):
                more = "" if line.ended else "more than "
                raise ValueError(
                    f"line {number} has {more}{line.bytes:,} bytes, too many for a record"
                )
            try:
                members = raw_members(line.removeprefix(MARK))
            except msgspec.ValidationError:
                members = {}
            except (ValueError, RecursionError) as error:
                raise ValueError(f"line {number} is not JSON ({error})") from error
            yield {name: _text_bytes(raw) for name, raw in members.items()}


class Plain(JsonLines):
    ending = ".jsonl"
    content = "one JSON object per line"
    is_plain = True
    takes_stretches = True

    def records_within(
        self, path: str, text_field: str, stretch: tuple[int, int], options: ReadOptions
    ) -> Iterator[Record | Malformed]:
        return json_records_within(
            path, text_field, options.keep_surrogates, stretch, options.progress, options.limits
        )


class Zstd(JsonLines):
    ending = ".jsonl.zst"
    text_per_byte = 4.0
    content = "one JSON object per line, compressed with zstd in one or more frames"


class Gzip(JsonLines):
    ending = ".jsonl.gz"
    text_per_byte = 4.0
    content = "one JSON object per line, compressed with gzip in one or more members"
