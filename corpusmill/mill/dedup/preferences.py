"""Turn the preferred field of a record into a key: bytes that compare like the values.

A key is a byte for the kind of the value, then bytes for the value. No value's bytes are a prefix
of another's, so inverting them (255 - b) reverses their order. Less is better.
"""

import re
from datetime import datetime, timedelta
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact

import msgspec
import numpy as np
import pyarrow as pa

from corpusmill.mill.dedup.mixed_kinds import refuse_mixed
from corpusmill.mill.read.text_column import TextColumn

NUMBER, TEXT = 1, 2
KINDS = {NUMBER: "number", TEXT: "text"}

LEAST, BELOW, ZERO, ABOVE, GREATEST = (bytes([place]) for place in range(5))
"""First byte of the keys of numbers: -Infinity, negative, zero, positive, Infinity."""

END = b"\0"
TURNED = bytes(255 - byte for byte in range(256))

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_text = msgspec.json.Decoder(str)
_number = re.compile(rb"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?", re.ASCII)
_time = re.compile(
    r"([+-]?)(\d{4,})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:Z|([+-])(\d\d)(?::?(\d\d))?)?)?",
    re.ASCII,
)


def _sum(digits: str, more: int) -> str:
    """Add a small integer to one of any length. Python refuses to parse 4,301 digits."""
    if len(digits) < 4000:
        return str(int(digits) + more)
    context = Context(len(digits) + 20, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[Inexact])
    return format(context.add(Decimal(digits), more), "f")


def _integer_key(digits: str) -> bytes:
    """Return the key of an integer without leading zeros: by length, then as text."""
    figures = digits.lstrip("-").encode()
    length = len(figures).to_bytes((len(figures).bit_length() + 7) // 8, "big")
    key = bytes([len(length)]) + length + figures
    return BELOW + key.translate(TURNED) if digits.startswith("-") else ABOVE + key


def _number_key(number: bytes) -> bytes:
    """Return the key of a JSON number: its sign, then n and the digits of 0.ddd * 10**n."""
    parts = _number.fullmatch(number)
    assert parts, number
    sign, whole, fraction, exponent = parts.groups()
    written = whole + (fraction or b"")
    digits = written.lstrip(b"0")
    if not digits:
        return ZERO
    power = _sum((exponent or b"0").decode(), len(whole) - len(written) + len(digits))
    key = _integer_key(power) + digits.rstrip(b"0") + END
    return BELOW + key.translate(TURNED) if sign else ABOVE + key


def _time_key(text: str) -> bytes | None:
    """Return the canonical form in UTC of an ISO 8601 date or time, which sorts among texts.

    Years of more than four digits sort just after the last second of the others, negative years
    just before the first. No text has a byte of 255.
    """
    match = _time.fullmatch(text)
    if match is None:
        return None
    sign, year, *clock, fraction, zone, zone_hours, zone_minutes = match.groups()
    month, day, hour, minute, second = (int(value or 0) for value in clock)
    # The calendar repeats every 400 years: compute in 2000 to 2399, which Python supports.
    in_cycle = 2000 + int(sign + year[-4:]) % 400
    ahead = timedelta(hours=int(zone_hours or 0), minutes=int(zone_minutes or 0))
    if int(zone_hours or 0) > 23 or int(zone_minutes or 0) > 59:
        return None
    try:
        moment = datetime(in_cycle, month, day, hour, minute, second)
    except ValueError:
        return None  # not a valid date or time
    moment += ahead if zone == "-" else -ahead
    year = _sum(sign + year, moment.year - in_cycle)
    digits = (fraction or "").rstrip("0")
    rest = f"{moment:-%m-%dT%H:%M:%S}{'.' if digits else ''}{digits}".encode()
    if len(year) <= 4 and not year.startswith("-"):
        return year.zfill(4).encode() + rest
    edge = b"0000-01-01T00:00:0/" if year.startswith("-") else b"9999-12-31T23:59:59"
    return edge + b"\xff" + _integer_key(year) + rest


def _text_key(text: str) -> bytes:
    key = _time_key(text) or text.encode("utf-8")
    return key.replace(END, b"\0\1") + END + END


def preference_key(rest: bytes, field: str, order: str) -> bytes | None:
    """Return the key of a record's field, less is better; None if it has no such value."""
    value = _members.decode(b"{%s}" % rest).get(field)
    raw = b"" if value is None else bytes(value)
    if raw.startswith(b'"'):
        text = _text.decode(raw)
        if text == "NaN":
            return None
        infinite = {"Infinity": GREATEST, "-Infinity": LEAST}.get(text)
        kind, key = (NUMBER, infinite) if infinite else (TEXT, _text_key(text))
    elif raw and raw[0] in b"-0123456789":
        kind, key = NUMBER, _number_key(raw)
    else:
        return None
    return bytes([kind]) + (key.translate(TURNED) if order == "highest" else key)


def kinds_of(keys: pa.LargeBinaryArray) -> np.ndarray:
    """Return uint8 (documents,): NUMBER, TEXT, or 0 without a key."""
    kinds = np.zeros(len(keys), np.uint8)
    there = keys.is_valid().to_numpy(zero_copy_only=False)
    column = TextColumn.of(keys)
    kinds[there] = column.data[column.offsets[:-1][there]]
    return kinds


class Preferences:
    """The keys of all documents of a part, collected as its text is read."""

    def __init__(self, files: list[dict], field: str, order: str) -> None:
        self._files, self._field, self._order = files, field, order
        self._pieces = [pa.array([], pa.large_binary())]
        self.places: dict[str, str] = {}
        """file:line of the first number and of the first text."""

    def add(self, batch: pa.RecordBatch) -> None:
        rests = batch.column("rest").to_pylist()
        keys = [preference_key(rest, self._field, self._order) for rest in rests]
        self._pieces.append(pa.array(keys, pa.large_binary()))
        for kind, name in KINDS.items():
            row = next((row for row, key in enumerate(keys) if key and key[0] == kind), None)
            if row is not None and name not in self.places:
                file = self._files[batch.column("file")[row].as_py()]["path"]
                self.places[name] = f"{file}:{batch.column('line')[row]}"

    def column(self) -> pa.LargeBinaryArray:
        """Return all keys; raise ValueError if there are both numbers and texts."""
        keys = pa.concat_arrays(self._pieces)
        counts = counted_kinds(kinds_of(keys))
        refuse_mixed(counts, self.places)
        return keys

    def notes(self, sources: pa.DictionaryArray) -> dict[str, dict]:
        """Return `places`, and counts by source and kind. sources: of all documents."""
        kinds, of_row = kinds_of(pa.concat_arrays(self._pieces)), sources.indices.to_numpy()
        names = enumerate(sources.dictionary.to_pylist())
        by_source = {name: counted_kinds(kinds[of_row == number]) for number, name in names}
        return {"places": self.places, "kinds": by_source}


def counted_kinds(kinds: np.ndarray) -> dict[str, int]:
    """Count numbers, texts and missing values."""
    none, number, text = np.bincount(kinds, minlength=3).tolist()
    return {"number": number, "text": text, "none": none}
