"""Input files read as `normalize` reads them, to find what is wrong; no text is kept."""

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
"""Of reasons that are told apart; a file may have a reason of its own in every line."""

OTHERS = "other reasons"
VARYING = re.compile(r'"(?:[^"\\]|\\.)*+"|\d[\d.,]*')


class Reading(NamedTuple):
    """How files are read: as the settings of `normalize`."""

    keep_surrogates: bool
    readers: Sequence[str]
    limits: ReadLimits
    shown: int
    """Malformed records of a file that are kept to be shown."""


class Scanned(NamedTuple):
    """What was found in a file."""

    records: int
    malformed: int
    reasons: dict[str, int]
    """Kind of reason -> records."""
    first: list[Malformed]
    text_bytes: int
    """Of the records, before they are normalized."""
    fault: str | None
    """Why it cannot be read to its end."""


def kind_of(reason: str) -> str:
    """A reason without what is another in every record."""
    return VARYING.sub("…", reason)


def scanned(file: dict, most_text_bytes: int, reading: Reading, progress: Progress) -> Scanned:
    """file: as in normalize. most_text_bytes: of its part; a file with more is read no further."""
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
