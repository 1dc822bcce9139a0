"""Spans that stand earlier in the corpus already, and the texts without them."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from qa.oracle.texts import collapse

BLANK = " \t\n\v\f\r"
PARAGRAPH_END = re.compile(r"\n[ \t\n\v\f\r]*\n")
MARKS = ".!?。！？"
WIDE_MARKS = "。！？"
CLOSERS = "\"')]}»’”」』）"
MARKS_RUN = re.compile(f"[{re.escape(MARKS)}][{re.escape(MARKS + CLOSERS)}]*")
BLANKS = re.compile(f"[{BLANK}]*")


@dataclass
class Cut:
    """A span that was cut: bytes of the text before, its key, who has the first occurrence."""

    unit: int
    start: int
    end: int
    key: int
    first: int


def separators(text: str, unit: str) -> list[tuple[int, int]]:
    """Where the units of a text are separated, as (start, end) in characters."""
    if unit == "line":
        return [(k, k + 1) for k, character in enumerate(text) if character == "\n"]
    begin = len(text) - len(text.lstrip(BLANK))
    end = len(text.rstrip(BLANK))
    if unit == "paragraph":
        found = [match.span() for match in PARAGRAPH_END.finditer(text)]
        return [(a, b) for a, b in found if begin <= a and b <= end]
    found = []
    for run in MARKS_RUN.finditer(text):
        blanks = BLANKS.match(text, run.end())
        wide = any(mark in run[0] for mark in WIDE_MARKS)
        if (blanks[0] or wide) and blanks.end() < end:
            found.append(blanks.span())
    return found


def units_of(text: str, unit: str) -> list[tuple[int, int, int]]:
    """(start, end, end of the separator after it) of every unit."""
    between = separators(text, unit)
    starts = [0] + [end for _, end in between]
    ends = [start for start, _ in between] + [len(text)]
    afters = [end for _, end in between] + [len(text)]
    return list(zip(starts, ends, afters, strict=True))


def spans_of(text: str, unit: str, width: int, min_chars: int) -> Iterator[tuple[int, int]]:
    """(first unit, key) of all spans that are long enough."""
    units = units_of(text, unit)
    together = width if unit == "sentence" else 1
    for first in range(len(units) - together + 1):
        span = text[units[first][0] : units[first + together - 1][1]]
        compared = collapse(span.lower())
        if len(compared) >= min_chars:
            digest = hashlib.blake2b(compared.encode(), digest_size=8).digest()
            yield first, int.from_bytes(digest, "little")


def cut_text(text: str, unit: str, together: int, firsts: list[int]) -> str:
    """The text without the units of the spans that begin at `firsts`."""
    units = units_of(text, unit)
    gone = {first + k for first in firsts for k in range(together)}
    stays = [number for number in range(len(units)) if number not in gone]
    kept = []
    for number in stays:
        start, end, after = units[number]
        ends_text = number == stays[-1] and number != len(units) - 1
        kept.append(text[start : end if ends_text else after])
    left = "".join(kept)
    return left if left.strip(BLANK) else ""


def cut_corpus(texts: list[tuple[int, str, bool]], settings: dict) -> dict[int, list[Cut]]:
    """Document id -> the spans that are cut of it. texts: (id, text, takes part), by id."""
    unit, width = settings["unit"], settings["width"]
    together = width if unit == "sentence" else 1
    first_of: dict[int, int] = {}
    cuts: dict[int, list[Cut]] = {}
    for id_, text, takes_part in texts:
        if not takes_part:
            continue
        units = units_of(text, unit)
        for first, key in spans_of(text, unit, width, settings["min_chars"]):
            if key not in first_of:
                first_of[key] = id_
                continue
            start, end = units[first][0], units[first + together - 1][1]
            place = (len(text[:start].encode()), len(text[:end].encode()))
            cuts.setdefault(id_, []).append(Cut(first, *place, key, first_of[key]))
    return cuts
