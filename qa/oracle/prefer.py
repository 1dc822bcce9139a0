"""The preferred field of a record: its kind, where its value stands among the others, its key.

Places are Python values that sort as docs/reference says, keys the bytes of internals/files.md;
the order of documents comes of the places alone.
"""

import re
from datetime import datetime, timedelta
from decimal import Decimal

from qa.oracle.strict_json import Member, Parser, decode_string

DATE = re.compile(
    r"([+-]?\d{4,})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?", re.ASCII)
PAST_9999 = "9999-12-31T23:59:59"
NEGATIVE = "0000-01-01T00:00:0/"
AFTER_ALL_CHARACTERS = 0x110000


def place_of(member: Member | None) -> tuple[str, tuple] | None:
    """(`number` or `text`, what sorts as the value does); None if it has no value."""
    if member is None or member.raw[0] in "tfn{[":
        return None
    if member.raw[0] != '"':
        return "number", number_place(member.raw)
    text = decode_string(member.raw)
    if text == "NaN":
        return None
    if text in ("Infinity", "-Infinity"):
        return "number", ((-2,) if text[0] == "-" else (2,))
    return "text", time_place(text) or text_place(text)


def value_at(members: list[Member], path: str) -> str | None:
    """The value of a member, of a nested one for `a.b`, as a text; None if it has none."""
    name, *deeper = path.split(".", 1)
    # Of nested members of one name the last counts.
    raw = next((member.raw for member in reversed(members) if member.name == name), "null")
    if deeper:
        inner = [member for member, _ in Parser(raw).members()] if raw[0] == "{" else []
        return value_at(inner, deeper[0])
    if raw == "null":
        return None
    return decode_string(raw) if raw[0] == '"' else {"{": "{}", "[": "[]"}.get(raw[0], raw)


def text_place(text: str) -> tuple:
    return tuple(map(ord, text))


def integer(digits: str) -> int:
    """`int(digits)`, which by itself refuses more than 4,300 digits."""
    return int(Decimal(digits))


def number_place(raw: str) -> tuple:
    """0.ddd x 10**e as (sign, e, ddd), which sorts as the numbers do; negative ones mirrored."""
    sign, whole, fraction, exponent = NUMBER.fullmatch(raw).groups()
    digits = whole + (fraction or "")
    scale = integer(exponent or "0") + len(whole)
    scale -= len(digits) - len(digits.lstrip("0"))
    digits = digits.strip("0")
    if not digits:
        return (0,)
    if sign:
        mirrored = "".join(str(9 - int(digit)) for digit in digits)
        return (-1, -scale, mirrored + "~")  # "~" is after all digits: -0.12 is above -0.123
    return (1, scale, digits)


def time_place(text: str) -> tuple | None:
    """Where a date or time stands among other texts; None if `text` is none."""
    found = DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    cycles, year_of_cycle = divmod(integer(year), 400)  # the calendar repeats after 400 years
    try:
        time = datetime(
            2000 + year_of_cycle, int(month), int(day), int(hour or 0), int(minute or 0),
            int(second or 0),
        )  # fmt: skip
        time -= offset_of(zone)
    except ValueError:
        return None
    full_year = time.year - 2000 + cycles * 400
    rest = time.strftime("-%m-%dT%H:%M:%S")
    if decimals := (fraction or "").rstrip("0"):
        rest += "." + decimals
    if 0 <= full_year <= 9999:
        return text_place(f"{full_year:04d}{rest}")
    beside = PAST_9999 if full_year > 9999 else NEGATIVE
    return (*text_place(beside), AFTER_ALL_CHARACTERS, full_year, rest)


def offset_of(zone: str | None) -> timedelta:
    if zone is None or zone == "Z":
        return timedelta(0)
    hours, minutes = int(zone[1:3]), int(zone[3:].lstrip(":") or 0)
    if hours > 23 or minutes > 59:
        raise ValueError(zone)
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if zone[0] == "-" else offset


def ranks(places: list[tuple | None], highest: bool) -> list[int]:
    """A number for every value, less is better, equal values alike; those without one come last."""
    values = sorted({place for place in places if place is not None}, reverse=highest)
    rank_of = {value: rank for rank, value in enumerate(values)}
    return [len(values) if place is None else rank_of[place] for place in places]


def key_of(place: tuple[str, tuple] | None, highest: bool) -> bytes | None:
    """The key of results/filter for a value."""
    if place is None:
        return None
    key = number_key(place[1]) if place[0] == "number" else text_key(place[1])
    return key[:1] + mirrored(key[1:]) if highest else key


def mirrored(key: bytes) -> bytes:
    return bytes(255 - byte for byte in key)


def number_key(place: tuple) -> bytes:
    sign = bytes([1, place[0] + 2])
    if len(place) == 1:
        return sign
    _, scale, digits = place
    if place[0] > 0:
        return sign + integer_key(scale) + digits.encode() + b"\0"
    digits = "".join(str(9 - int(digit)) for digit in digits[:-1])
    return sign + mirrored(integer_key(-scale) + digits.encode() + b"\0")


def integer_key(number: int) -> bytes:
    digits = format(Decimal(abs(number)), "f").encode()
    length = len(digits).to_bytes((len(digits).bit_length() + 7) // 8, "big")
    key = bytes([len(length)]) + length + digits
    return b"\3" + key if number >= 0 else b"\1" + mirrored(key)


def text_key(place: tuple) -> bytes:
    written = place
    behind = b""
    if AFTER_ALL_CHARACTERS in place:
        *written, _, year, rest = place
        behind = b"\xff" + integer_key(year) + rest.encode()
    text = "".join(map(chr, written)).encode() + behind
    return b"\2" + text.replace(b"\0", b"\0\1") + b"\0\0"
