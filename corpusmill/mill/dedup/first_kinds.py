"""Check first records for both numbers and texts in the preferred field.

A run would refuse these too, but only after reading everything. Runs in its own process while a run
starts.
"""

import sys
from collections import Counter
from collections.abc import Sequence

from corpusmill.mill.dedup.mixed_kinds import refuse_mixed
from corpusmill.mill.dedup.preferences import KINDS, preference_key
from corpusmill.mill.read.first_records import Asked, asked_for, first_records
from corpusmill.mill.read.records import Record
from corpusmill.mill.storage.streams import ReadLimits


def refuse_mixed_first(
    field: str, files: Sequence[Asked], readers: Sequence[str], limits: ReadLimits
) -> None:
    """Raise ValueError if the field is a number in one first record and a text in another."""
    counts, places = Counter[str](), dict[str, str]()
    for file in files:
        try:
            for record in first_records(file, readers, limits):
                if not isinstance(record, Record):
                    continue
                if key := preference_key(record.rest, field, "lowest"):
                    kind = KINDS[key[0]]
                    counts[kind] += 1
                    places.setdefault(kind, f"{file.path}:{record.line}")
        except (ValueError, OSError):
            continue  # first_records.py reports faults of the file
    refuse_mixed(counts, places)


def main() -> None:
    """Check the files of `asked_for`, with a "field"; on a fault, print it and exit with code 1."""
    asked, files, limits = asked_for()
    try:
        refuse_mixed_first(asked["field"], files, asked["readers"], limits)
    except ValueError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
