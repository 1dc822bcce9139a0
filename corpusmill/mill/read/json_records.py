"""Parse JSON lines into records. Members beside the text stay as written; faults get a reason."""

import functools
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec
import numpy as np

from corpusmill.messages.progress import Progress
from corpusmill.mill.read.records import Malformed, Record, too_long
from corpusmill.mill.storage.streams import (
    READ_LIMITS,
    LongLine,
    ReadLimits,
    Seen,
    lines_within,
    read_lines,
)

MARK = b"\xef\xbb\xbf"
"""UTF-8 byte order mark. Some editors start files with it; it is skipped."""

UTF_16 = b"\xff\xfe", b"\xfe\xff"

LONE_SURROGATE = "a lone surrogate in the record: not valid Unicode"
TOO_DEEP = "nested too deeply"

MAX_DEPTH = 500
"""Maximum depth of nested arrays and objects, including the record itself. Python's own recursion
limit differs between versions and calls."""

NO_MARKS = bytes(set(range(256)) - set(b'[]{}"'))
PIECE_MARKS = 1 << 16

LEAST_MEMBER = 5
"""Minimum number of bytes that one more member adds to an object: a comma, two quotes, a colon, a
digit."""

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
decoded_string = msgspec.json.Decoder(str).decode


class Members(list):
    """All (name, value) pairs of a JSON object."""


IN_JSON = {
    Members: "an object", list: "an array", str: "a string", int: "a number", float: "a number",
    bool: "a boolean", type(None): "null",
}  # fmt: skip


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


# The numbers are not used, and Python refuses to parse more than 4,300 digits.
_strict = json.JSONDecoder(
    parse_constant=_refuse_constant,
    parse_int=lambda digits: 0,
    parse_float=lambda digits: 0.0,
    object_pairs_hook=Members,
)


def _why_malformed(line: bytes, text_field: str) -> str:
    """Return the reason, by a slow parse that only bad records need."""
    if not line.strip():
        return "blank line"
    if line.startswith(MARK):
        return "a byte order mark (EF BB BF) before the record; JSON has none"
    try:
        value = _strict.decode(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return f"not UTF-8 at byte {error.start} of the line"
    except ValueError as error:
        return f"not JSON: {error}"
    except RecursionError:
        return TOO_DEEP
    if _depth(line) > MAX_DEPTH:
        return TOO_DEEP
    if not isinstance(value, Members):
        return f"expected a JSON object, found {IN_JSON[type(value)]}"
    if (doubled := _doubled_name(value)) is not None:
        quoted = json.dumps(doubled, ensure_ascii=False)
        # A lone surrogate in a name cannot be written to a log.
        quoted = quoted.encode("utf-8", "backslashreplace").decode("utf-8")
        return f"member {quoted} stands twice"
    members = dict(value)
    if text_field not in members:
        return f'no "{text_field}" field'
    if not isinstance(members[text_field], str):
        return f'"{text_field}" is {IN_JSON[type(members[text_field])]}, not a string'
    return LONE_SURROGATE


def _doubled_name(members: Members) -> str | None:
    """Return the first name that occurs twice."""
    seen = set()
    for name, _ in members:
        if name in seen:
            return name
        seen.add(name)
    return None


def raw_members(line: bytes) -> dict[str, msgspec.Raw]:
    """Return name -> raw JSON value of an object; raises msgspec.MsgspecError if it is not one."""
    return _members.decode(line)


def joined_members(members: dict[str, msgspec.Raw]) -> bytes:
    """Join raw members as between the braces of a JSON object."""
    return b",".join([msgspec.json.encode(name) + b":" + raw for name, raw in members.items()])


class Layout(NamedTuple):
    """How members of certain names are written. Every second piece is for a value."""

    text_place: int
    framing_bytes: int  # of a line without white space, beside `rest` and the text's value
    rest: list[bytes]  # without the text and without white space
    spaced: list[bytes]  # the whole object as Python's json.dumps writes it


@functools.lru_cache(1024)
def _layout(names: tuple[str, ...], text_field: str) -> Layout:
    encoded = [msgspec.json.encode(name) for name in names]
    place = names.index(text_field)
    others = encoded[:place] + encoded[place + 1 :]
    comma = b"," if others else b""
    framing = b"{" + encoded[place] + b":" + comma + b"}"
    rest = [piece for name in others for piece in (b"," + name + b":", b"")]
    rest[:1] = [piece[1:] for piece in rest[:1]]
    spaced = [piece for name in encoded for piece in (b", " + name + b": ", b"")]
    spaced[0] = b"{" + spaced[0][2:]
    return Layout(place, len(framing), rest, [*spaced, b"}"])


def _filled(pieces: list[bytes], values: list[msgspec.Raw]) -> bytes:
    pieces = pieces.copy()
    pieces[1::2] = values
    return b"".join(pieces)


def _text_and_rest(
    line: bytes, text_field: str, text_of: Callable[[msgspec.Raw], Any] = decoded_string
) -> tuple[Any, bytes]:
    """Return text and rest of a record; raises if the line is malformed."""
    members = _members.decode(line)
    raw_text = members[text_field]
    text = text_of(raw_text)
    layout = _layout(tuple(members), text_field)
    values = list(members.values())
    others = values.copy()
    del others[layout.text_place]
    rest = _filled(layout.rest, others)
    if not rest.isascii():
        rest.decode("utf-8")  # copied unparsed, so check that it is UTF-8
    if len(rest) >= MAX_DEPTH and _depth(rest) >= MAX_DEPTH:
        raise RecursionError
    # White space and escapes in names only make a line longer. With less than a member's bytes to
    # spare there is no duplicate member, nor if the line is in Python's style.
    spare = len(line) - len(rest) - len(raw_text) - layout.framing_bytes
    if spare >= LEAST_MEMBER and not line.startswith(_filled(layout.spaced, values)):
        _refuse_doubled(line)
    return text, rest


def _depth(json_text: bytes) -> int:
    """Return the nesting depth of arrays and objects; 0 if it is below MAX_DEPTH."""
    if json_text.count(b"[") + json_text.count(b"{") < MAX_DEPTH:
        return 0
    marks = json_text.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, NO_MARKS)
    depth = deepest = in_string = 0
    # In pieces, because each bracket takes an object.
    for at in range(0, len(marks), PIECE_MARKS):
        pieces = marks[at : at + PIECE_MARKS].split(b'"')
        brackets = np.frombuffer(b"".join(pieces[in_string::2]), np.uint8)
        in_string = (in_string + len(pieces) - 1) % 2
        steps = np.where((brackets == ord("[")) | (brackets == ord("{")), 1, -1)
        depths = depth + np.cumsum(steps)
        deepest = int(depths.max(initial=deepest))
        depth = int(depths[-1]) if depths.size else depth
    return deepest


def _refuse_doubled(line: bytes) -> None:
    """Raise if two members of the object in `line` have the same name."""
    if _doubled_name(_strict.decode(line.decode("utf-8"))) is not None:
        raise ValueError("a member stands twice")


def _lone_surrogates_kept(line: bytes, text_field: str) -> tuple[str, bytes] | None:
    """Return a record whose only fault is lone surrogates in its text, for a mode that repairs
    them.

    The members are cut out of the line by hand, so that the others stay byte-identical.
    """
    source = line.decode("utf-8")
    members: dict[str, str] = {}
    at = source.index("{") + 1
    while True:
        start = source.index('"', at)
        name, colon = _strict.raw_decode(source, start)
        value = source.index(":", colon) + 1
        while source[value] in " \t\r\n":
            value += 1
        _, at = _strict.raw_decode(source, value)
        members[name] = source[value:at]
        while source[at] in " \t\r\n":
            at += 1
        if source[at] == "}":
            break
    text = json.loads(members.pop(text_field))
    try:
        raw = {name: msgspec.Raw(value.encode("utf-8")) for name, value in members.items()}
        rest = joined_members(raw)
        _members.decode(b"{%s}" % rest)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return None  # another field is faulty too
    return text, rest


def fault_of_line(line: bytes, text_field: str) -> str | None:
    """Return why a line is malformed; None if it is a record."""
    try:
        _text_and_rest(line, text_field)
    except RecursionError:
        return TOO_DEEP
    except (msgspec.MsgspecError, ValueError, KeyError):
        return _why_malformed(line, text_field)
    return None


def record_of_line(
    number: int, offset: int, line: bytes, text_field: str, keep_surrogates: bool
) -> Record | Malformed:
    """Parse a line. number, offset: its position in the file."""
    try:
        return Record(number, *_text_and_rest(line, text_field))
    except RecursionError:
        reason = TOO_DEEP
    except (msgspec.MsgspecError, ValueError, KeyError):
        reason = _why_malformed(line, text_field)
        if keep_surrogates and reason == LONE_SURROGATE:
            mended = _lone_surrogates_kept(line, text_field)
            if mended:
                return Record(number, *mended)
    return Malformed(number, offset, reason, _shown(line))


def _shown(line: bytes) -> str:
    return line[:80].decode("utf-8", "backslashreplace")


def long_record(number: int, offset: int, line: LongLine, limits: ReadLimits) -> Malformed:
    """Return the fault of a line that was too long to be held."""
    reason = too_long(line.bytes, limits.line_bytes, line.ended)
    return Malformed(number, offset, reason, _shown(line.start))


def _behind_mark(path: str, line: bytes | LongLine) -> tuple[int, bytes | LongLine]:
    """Return the offset of the first record in a file, and its line from there on."""
    start = line.start if isinstance(line, LongLine) else line
    if start.startswith(UTF_16):
        raise ValueError(
            f"{path}: expected UTF-8, found UTF-16. Convert the file: "
            f"iconv -f UTF-16 -t UTF-8 {path}"
        )
    mark = len(MARK) if start.startswith(MARK) else 0
    if isinstance(line, LongLine):
        return mark, LongLine(start[mark:], line.bytes - mark, line.ended)
    return mark, line[mark:]


def json_records(
    path: str,
    text_field: str,
    keep_surrogates: bool,
    progress: Progress,
    seen: Seen | None = None,
    limits: ReadLimits = READ_LIMITS,
    text_of: Callable[[msgspec.Raw], Any] = decoded_string,
) -> Iterator[Record | Malformed]:
    """Yield the records of a JSON lines file. seen: receives the bytes of the file.

    text_of: makes the text of a record from its JSON; raises as `decoded_string` does.
    """
    offset = 0
    for number, line in enumerate(read_lines(path, progress, seen, limits), 1):
        if number == 1:
            offset, line = _behind_mark(path, line)
        # Inlined from record_of_line: the call would take a tenth of the time for short records.
        found: Record | Malformed
        if isinstance(line, LongLine):
            yield long_record(number, offset, line, limits)
            offset += line.bytes + 1
            continue
        try:
            found = Record(number, *_text_and_rest(line, text_field, text_of))
        except (RecursionError, msgspec.MsgspecError, ValueError, KeyError):
            found = record_of_line(number, offset, line, text_field, keep_surrogates)
        yield found
        offset += len(line) + 1


def json_records_within(
    path: str,
    text_field: str,
    keep_surrogates: bool,
    stretch: tuple[int, int],
    progress: Progress,
    limits: ReadLimits = READ_LIMITS,
) -> Iterator[Record | Malformed]:
    """Yield the records of an uncompressed file whose lines start in a range of bytes.

    Lines before the range are not counted, so a record's number is its offset.
    """
    for offset, line in lines_within(path, *stretch, progress, limits):
        if isinstance(line, LongLine):
            yield long_record(offset, offset, line, limits)
            continue
        mark = len(MARK) if offset == 0 and line.startswith(MARK) else 0
        yield record_of_line(offset, offset + mark, line[mark:], text_field, keep_surrogates)
