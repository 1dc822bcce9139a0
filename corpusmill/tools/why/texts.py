"""The text of a document, from a text part if it still exists, else from its input file."""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from corpusmill.mill.read.ids import ROW_BITS, ROW_MASK
from corpusmill.mill.storage.regular_files import regular_state
from corpusmill.mill.storage.streams import ReadLimits
from corpusmill.mill.storage.sums import DamagedError, load_sums
from corpusmill.mill.storage.untrusted import MOST_BYTES
from corpusmill.run.typed import as_given
from corpusmill.tools.why.results import Results

PARTS = ("edited/{}.arrow", "cut/{}.arrow", "text/{}.arrow")
"""Text parts, the latest first: after filters' cuts, after cuts of repeated spans, as read."""

SPANS_CUT, WHOLE = PARTS[1:]


class Text(NamedTuple):
    """A text, and where it was read. Without one, the place says why."""

    text: str | None
    where: str
    is_whole: bool = False
    """Whether it is the text before cuts."""


def text_of(results: Results, row: dict[str, Any]) -> Text:
    """Return the text of a document as the later steps saw it, or the closest that is available."""
    part, number = row["id"] >> ROW_BITS, row["id"] & ROW_MASK
    for pattern in PARTS:
        path = results.path(pattern, part)
        if is_at_hand(path):
            # It may be of earlier settings: the digest tells.
            text = text_in_part(path, number)
            if text is not None and digest_of(text) == row["digest"]:
                return Text(text, str(path))
    if (whole := whole_text_of(results, row)).text is None:
        return whole
    return whole._replace(is_whole="cuts" in row)


def whole_text_of(results: Results, row: dict[str, Any]) -> Text:
    """Return the text before anything was cut."""
    expected = row.get("whole_digest", row["digest"])
    path = results.path(WHOLE, row["id"] >> ROW_BITS)
    if is_at_hand(path):
        text = text_in_part(path, row["id"] & ROW_MASK)
        if text is not None and digest_of(text) == expected:
            return Text(text, str(path))
    return text_of_input(results, row, expected)


def is_at_hand(path: Path) -> bool:
    """Say whether a text part exists and is readable. A copy of the results may lack checksums or
    be renamed; then the input file is used."""
    try:
        load_sums(path)
    except DamagedError:
        return False
    return path.exists()


def text_in_part(path: Path, row: int) -> str | None:
    """Return a row's text; None if the part has no such row."""
    from corpusmill.mill.read.parts import TextPart

    try:
        return TextPart(path, ["text"]).text(row)
    except IndexError:
        return None


def digest_of(text: str) -> int:
    """Return the digest as in the ledger."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big")


def text_of_input(results: Results, row: dict[str, Any], expected: int) -> Text:
    """Return the current text of the line, if it is the one that the run read."""
    from corpusmill.mill.read.normalization import normalizer

    path, line = results.input_file(row["file"]), row["line"]
    why = "has no checksums" if (results.folder / "text").exists() else "has been removed"
    gone = f"{results.folder}/text {why}"
    if not path.exists():
        return Text(None, f"{gone}, and {path} is missing")
    _, planned = results.files[row["file"]]
    state = regular_state(path)
    then = planned.bytes, planned.mtime_ns
    if planned.bytes is not None and (state.st_size, state.st_mtime_ns) != then:
        changed = f"{path} has changed since the run read it"
    else:
        changed = f"{path}:{line} is not the text that the run read"
    try:
        record = record_at(results, row["source"], path, line)
    except (ValueError, OSError) as error:
        return Text(None, f"{gone}, and the input cannot be read: {error}")
    if record is not None:
        text = normalizer(**as_given(results.config.normalize))(record)
        if digest_of(text) == expected:
            return Text(text, f"{path}:{line}")
    return Text(None, f"{gone}, and {changed}")


def record_at(results: Results, source: str, path: Path, line: int) -> str | None:
    """Return the original text of the record at a line; None if there is none."""
    from corpusmill.messages.progress import Silence
    from corpusmill.mill.read.input_format import ReadOptions
    from corpusmill.mill.read.readers import format_of, formats
    from corpusmill.mill.read.records import Record

    field, mends = (
        results.sources[source].text_field,
        results.config.normalize.mode == "ftfy",
    )
    known = formats(results.readers)
    if not results.readers and not path.name.endswith(tuple(known)):
        raise ValueError(
            f"{path} is not in a format that corpusmill knows. Pass the file that defines your "
            "reader: "
            "corpusmill why --reader FILE"
        )
    options = ReadOptions(Silence(), mends, limits_of(results))
    found = format_of(str(path), known).record_at(str(path), line, field, options)
    return found.text if isinstance(found, Record) else None


def limits_of(results: Results) -> ReadLimits:
    """Return the read limits of the run, capped, as its configuration is untrusted."""

    limits = results.config.input.limits
    return limits._replace(line_bytes=min(limits.line_bytes, MOST_BYTES))
