"""JSON lines as records: every member beside the text as it came, every fault by its reason."""

import functools
import json
from collections.abc import Iterator

import msgspec

from corpusmill.records import Malformed, Record
from corpusmill.streams import read_lines

LONE_SURROGATE = "a lone surrogate in a field: not valid Unicode"

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_string = msgspec.json.Decoder(str)


def _refuse_constant(name: str):
    raise ValueError(f"{name} is not a JSON value")


_strict = json.JSONDecoder(parse_constant=_refuse_constant)


def _why_malformed(line: bytes, text_field: str) -> str:
    """The reason in words, found the slow way. Only bad records come here."""
    if not line.strip():
        return "blank line"
    if line.startswith(b"\xef\xbb\xbf"):
        return "a byte order mark (EF BB BF) before the record; JSON has none"
    try:
        value = _strict.decode(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return f"not UTF-8 at byte {error.start} of the line"
    except ValueError as error:
        return f"not JSON: {error}"
    except RecursionError:
        return "nested too deeply"
    if not isinstance(value, dict):
        return f"expected a JSON object, found {type(value).__name__}"
    if text_field not in value:
        return f'no "{text_field}" field'
    if not isinstance(value[text_field], str):
        return f'"{text_field}" is {type(value[text_field]).__name__}, not a string'
    return LONE_SURROGATE


def joined_members(members: dict[str, msgspec.Raw]) -> bytes:
    """Raw members as they stand between the braces of a JSON object."""
    return b",".join(_encoded_name(name) + raw for name, raw in members.items())


@functools.lru_cache(1024)
def _encoded_name(name: str) -> bytes:
    return msgspec.json.encode(name) + b":"


def _rest(members: dict[str, msgspec.Raw]) -> bytes:
    """`joined_members`; raises UnicodeDecodeError if they, copied unparsed, are not UTF-8."""
    rest = joined_members(members)
    if not rest.isascii():
        rest.decode("utf-8")
    return rest


def _lone_surrogates_kept(line: bytes, text_field: str) -> tuple[str, bytes] | None:
    """A record whose only fault is lone surrogates in its text, for a mode that mends them.

    The members are cut out of the line by hand, so the others stay as they are, byte for byte.
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
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return None  # another field has a fault as well
    return text, rest


def json_records(
    path: str, text_field: str, keep_surrogates: bool, progress
) -> Iterator[Record | Malformed]:
    offset = 0
    for number, line in enumerate(read_lines(path, progress), 1):
        try:
            members = _members.decode(line)
            text = _string.decode(members.pop(text_field))
            yield Record(number, text, _rest(members))
        except (msgspec.MsgspecError, UnicodeDecodeError, KeyError, RecursionError):
            reason = _why_malformed(line, text_field)
            mended = None
            if keep_surrogates and reason == LONE_SURROGATE:
                mended = _lone_surrogates_kept(line, text_field)
            if mended:
                yield Record(number, *mended)
            else:
                start = line[:80].decode("utf-8", "backslashreplace")
                yield Malformed(number, offset, reason, start)
        offset += len(line) + 1
