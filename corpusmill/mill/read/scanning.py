"""Scan input files for faults as `normalize` reads them, without keeping texts."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from corpusmill.messages.disk_errors import in_words
from corpusmill.messages.progress import Progress
from corpusmill.mill.read.readers import read_records, refuse_changed
from corpusmill.mill.read.records import Malformed, too_much_text
from corpusmill.mill.storage.streams import ReadLimits

MOST_KINDS = 50
"""Maximum number of kinds of reasons that are counted separately. A file may have a different
reason in every line."""

OTHERS = "other reasons"
VARYING = re.compile(r'"(?:[^"\\]|\\.)*+"|\d[\d.,]*')


class Reading(NamedTuple):
    """Settings of `normalize` that affect reading."""

    keep_surrogates: bool
    readers: Sequence[str]
    limits: ReadLimits
    shown: int
    """Maximum number of malformed records kept per file as examples."""


class Scanned(NamedTuple):
    """The findings for one file."""

    records: int
    malformed: int
    reasons: dict[str, int]
    """Number of malformed records for each kind of reason."""
    first: list[Malformed]
    text_bytes: int
    """Bytes of text before normalization."""
    fault: str | None
    """The reason why the file cannot be read to its end; None if it can."""


def kind_of(reason: str) -> str:
    """Return a reason without the parts that vary between records."""
    return VARYING.sub("…", reason)


def scanned(file: dict, most_text_bytes: int, reading: Reading, progress: Progress) -> Scanned:
    """Scan a file. file: as in normalize.

    most_text_bytes: of its part; scanning stops when a file exceeds it.
    """
    records = malformed = text_bytes = 0
    reasons: Counter[str] = Counter()
    first: list[Malformed] = []
    fault = None
    try:
        for record in read_records(
            file["path"], file["text_field"], progress, reading.keep_surrogates, reading.readers,
            limits=reading.limits,
        ):  # fmt: skip
            records += 1
            if isinstance(record, Malformed):
                malformed += 1
                kind = kind_of(record.reason)
                reasons[kind if kind in reasons or len(reasons) < MOST_KINDS else OTHERS] += 1
                if len(first) < reading.shown:
                    first.append(record)
                continue
            text = record.text
            text_bytes += len(text if text.isascii() else text.encode("utf-8", "surrogatepass"))
            if text_bytes > most_text_bytes:
                fault = too_much_text(file, record.line, most_text_bytes)
                break
        else:
            refuse_changed(file)
    except ValueError as error:
        fault = str(error)
    except OSError as error:
        fault = in_words(error)
    return Scanned(records, malformed, dict(reasons), first, text_bytes, fault)
