"""Check the first records of every input file before any job.

This finds a wrong field name or a non-text file at once, not after a whole source. It runs as a
separate process while the run starts.
"""

import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpusmill.messages.disk_errors import in_words
from corpusmill.messages.progress import Silence
from corpusmill.messages.sentences import sentence
from corpusmill.mill.read.plugins import serve_another
from corpusmill.mill.read.readers import format_of, formats, read_records
from corpusmill.mill.read.records import Malformed, Record
from corpusmill.mill.storage.streams import READ_LIMITS, ReadEnoughError, ReadLimits

LOOKED_AT = 20
"""Number of records checked per file. If only some of them are malformed, the check passes, and
max_malformed_fraction decides during the run."""

LOOKED_AT_BYTES = 1 << 20
"""Maximum size of the checked records of a file, in bytes. The record that exceeds it is the last.
Every run waits for this check."""

MOST_TOLD = 20


class Asked(NamedTuple):
    """An input file and the settings of its source."""

    source: str
    path: str
    text_field: str
    max_malformed_fraction: float


def first_records(
    file: Asked, readers: Sequence[str] = (), limits: ReadLimits = READ_LIMITS
) -> Iterator[Record | Malformed]:
    """Yield up to LOOKED_AT records of a file, fewer if they are large.

    One record is held at a time, because a few bytes may unpack to gigabytes. ReadEnoughError if
    the bytes read contain no record.
    """
    left, found = LOOKED_AT_BYTES, 0
    looking = limits.for_a_look()
    records = read_records(file.path, file.text_field, Silence(), True, readers, limits=looking)
    try:
        for found, record in enumerate(itertools.islice(records, LOOKED_AT), 1):  # noqa: B007
            yield record
            left -= len(record.text) + len(record.rest) if isinstance(record, Record) else 0
            if left < 0:
                return
    except ReadEnoughError:
        if not found:
            raise


def fault_of(
    file: Asked, readers: Sequence[str] = (), limits: ReadLimits = READ_LIMITS
) -> str | None:
    """Return what is wrong with a file; None if its first records are fine, or it has none."""
    path, field = file.path, file.text_field
    wrong: list[Malformed] = []
    looked_at = 0
    try:
        for looked_at, record in enumerate(first_records(file, readers, limits), 1):  # noqa: B007
            if isinstance(record, Malformed):
                wrong.append(record)
    except PermissionError:
        return (
            f"{path}: you have no permission to read this file. Change its permissions, or remove "
            "it from the source."
        )
    except ValueError as error:
        return str(error)
    except OSError as error:
        return in_words(error)
    missing = all(f'no "{field}" field' == one.reason for one in wrong)
    some_may_be = file.max_malformed_fraction > 0 and not (missing and looked_at == LOOKED_AT)
    if not wrong or len(wrong) < looked_at or some_may_be:
        return None
    form = format_of(path, formats(readers))
    members = next(form.first_members(path, limits.for_a_look()), None) if missing else None
    if members is not None:
        return (
            f'{path}: source "{file.source}" reads the field "{field}", but none of the first '
            f"records ({len(wrong)}) has this field; these records have {_fields(members)}. Set "
            "text_field of this source."
        )
    return (
        f'{path}: none of the first records ({len(wrong)}) can be read for source "{file.source}"; '
        f"line {wrong[0].line}: {sentence(wrong[0].reason)} {_what_to_do(wrong[0])}"
    )


def _what_to_do(wrong: Malformed) -> str:
    if "input.max_record_bytes" in wrong.reason:
        return "Raise input.max_record_bytes, or leave the file out of sources[].files."
    return "Correct the file, or leave it out of sources[].files."


def all_empty(files: Sequence[Asked], readers: Sequence[str], limits: ReadLimits) -> str | None:
    """Return a fault if no file has a record. files: of milled sources, without other faults."""
    for file in files:
        if next(first_records(file, readers, limits), None) is not None:
            return None
    named = files[0].path if len(files) == 1 else f"{files[0].path} and {len(files) - 1} more"
    return (
        f"{named}: expected records, found none, so there is nothing to mill. Correct "
        "sources[].files, or put records into the files."
    )


def _fields(members: dict[str, int | None]) -> str:
    """Name the members of a record, those with texts first."""
    names = sorted(members, key=lambda name: members[name] is None)
    more = ", and more" if len(names) > MOST_TOLD else ""
    return ", ".join(f'"{name}"' for name in names[:MOST_TOLD]) + more or "no fields"


def faults_of(
    files: Sequence[Asked], readers: Sequence[str] = (), limits: ReadLimits = READ_LIMITS
) -> list[str]:
    """Return the faults of all files, shortened if there are many."""
    faults = [fault for file in files if (fault := fault_of(file, readers, limits))]
    if len(faults) > MOST_TOLD:
        faults[MOST_TOLD:] = [f"and {len(faults) - MOST_TOLD} more files"]
    return faults


def asked_for() -> tuple[dict, list[Asked], ReadLimits]:
    """Return the task of this helper process, with its files and limits.

    Standard input is {"files": [Asked], "readers": [path], "limits": ReadLimits} and more.
    """
    serve_another()
    asked = json.load(sys.stdin)
    return asked, [Asked(*one) for one in asked["files"]], ReadLimits(**asked["limits"])


def main() -> None:
    """Check the files described on standard input. Print one line per fault and exit with 1.

    The input is as for `asked_for`, and has "milled": [source].
    """
    asked, files, limits = asked_for()
    faults = faults_of(files, asked["readers"], limits)
    milled = [file for file in files if file.source in asked["milled"]]
    if not faults and milled and (fault := all_empty(milled, asked["readers"], limits)):
        faults = [fault]
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
