"""Write members of records as Parquet columns with types of their own, where possible.

A Parquet file declares its column types. Those of other files are inferred from the first records.
A member enters its column only if the column gives back the same JSON; otherwise it stays JSON.
"""

import base64
import itertools
import logging
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from corpusmill.messages.progress import Silence
from corpusmill.mill.read.json_records import joined_members, raw_members
from corpusmill.mill.read.parquet_values import Column, is_bytes, is_listed, is_text, retyped
from corpusmill.mill.read.readers import format_of, formats, read_records
from corpusmill.mill.read.records import Record
from corpusmill.mill.storage.streams import READ_LIMITS, ReadLimits

LOOKED_AT = 100
"""Number of records from which types are inferred, for files that declare no types."""

MOST_COLUMNS = 1000
"""Maximum number of typed columns. Member names that are data differ in every record, and must not
add columns without end."""

TYPES = {bool: pa.bool_(), int: pa.int64(), Decimal: pa.float64(), str: pa.large_string()}
"""Types for JSON values as decoded here."""

UNITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
"""Decimal places of each unit of time."""

PLAIN = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal,
         types.is_fixed_size_binary, types.is_date32, types.is_time, types.is_timestamp,
         types.is_duration)  # fmt: skip

NO_VALUE = (pa.ArrowException, ValueError, TypeError, OverflowError, InvalidOperation)
"""Errors raised for a value that does not fit its column's type."""

_exactly = msgspec.json.Decoder(float_hook=Decimal)
_encode = msgspec.json.Encoder().encode

NOT_HELD: Any = object()
"""Stands for a value that no column can store: a lone surrogate or thousands of digits."""

Kept: TypeAlias = pa.DataType | None
"""The type of a column; None if its values stay JSON."""


def _value(raw: bytes) -> Any:
    try:
        return _exactly.decode(raw)
    except (msgspec.MsgspecError, InvalidOperation):
        return NOT_HELD


def _members(rest: bytes) -> dict[str, msgspec.Raw]:
    """Return the members; none if a name cannot be decoded."""
    try:
        return raw_members(b"{%s}" % rest)
    except msgspec.MsgspecError:
        return {}


def kept_type(type: pa.DataType) -> Kept:
    """Return the type for writing values of a Parquet column of this type."""
    if isinstance(type, pa.UuidType) or is_text(type):
        return pa.large_string()
    if isinstance(type, pa.BaseExtensionType):
        return kept_type(type.storage_type)
    if types.is_dictionary(type):
        return kept_type(type.value_type)
    if is_bytes(type):
        return pa.large_binary()
    if types.is_float16(type):
        return pa.float32()
    if types.is_date64(type):
        return pa.date32()
    if is_listed(type):
        inner = kept_type(type.value_type)
        return inner and pa.list_(inner)
    if types.is_map(type):
        key, item = kept_type(type.key_type), kept_type(type.item_type)
        return pa.map_(key, item) if key and item else None
    if types.is_struct(type):
        fields = [(field.name, kept_type(field.type)) for field in type]
        return pa.struct(fields) if fields and all(kept for _, kept in fields) else None
    return type if any(of_kind(type) for of_kind in PLAIN) else None


def common_type(one: Kept, other: Kept) -> Kept:
    """Return a plain type that holds the values of both; None if there is none."""
    if one == other or one is None or other is None:
        return one if one == other else None
    both = one, other
    if all(map(types.is_signed_integer, both)) or all(map(types.is_unsigned_integer, both)):
        return max(both, key=lambda type: type.bit_width)
    if all(map(types.is_integer, both)):
        return pa.int64()
    if all(types.is_integer(type) or types.is_floating(type) for type in both):
        return pa.float64()
    if all(map(types.is_timestamp, both)) and one.tz == other.tz:
        return max(both, key=lambda type: UNITS[type.unit])
    return None


def types_of(
    path: str, text_field: str, readers: Sequence[str], limits: ReadLimits = READ_LIMITS
) -> dict[str, Kept]:
    """Return name -> type of the members of a file's records, except the text.

    readers: users' files that read other formats.
    """
    if (schema := format_of(path, formats(readers)).schema(path)) is not None:
        return {field.name: kept_type(field.type) for field in schema if field.name != text_field}
    found: dict[str, Kept] = {}
    records = read_records(path, text_field, Silence(), True, readers, None, limits)
    for record in itertools.islice(records, LOOKED_AT):
        if isinstance(record, Record):
            for name, raw in _members(record.rest).items():
                # Nested members get no column, and may be large.
                nested = bytes(memoryview(raw)[:1]) in (b"[", b"{")
                value = NOT_HELD if nested else _value(bytes(raw))
                if value is not None:
                    kept = TYPES.get(type(value))
                    found[name] = common_type(found.get(name, kept), kept)
    return found


def columns_of(files: Iterable[dict[str, Kept]], taken: Sequence[str]) -> pa.Schema:
    """Return the columns for the members of all files, in order of first occurrence.

    taken: names of other columns.
    """
    found: dict[str, Kept] = {}
    for file in files:
        for name, kept in file.items():
            found[name] = common_type(found.get(name, kept), kept)
    typed = [(name, kept) for name, kept in found.items() if kept and name not in taken]
    stays = sorted(found.keys() - dict(typed[:MOST_COLUMNS]).keys())
    if stays:
        logging.info("%d members stay JSON, the first ones: %s", len(stays), ", ".join(stays[:20]))
    return pa.schema(typed[:MOST_COLUMNS])


def _ticks(text: str, unit: str) -> int:
    """Return a time of day in units since midnight."""
    hours, minutes, seconds = text.split(":")
    whole, _, fraction = seconds.partition(".")
    minutes_gone = int(hours) * 60 + int(minutes)
    digits = UNITS[unit]
    return (minutes_gone * 60 + int(whole)) * 10**digits + int(fraction.ljust(digits, "0") or 0)


def _whole(value: Decimal) -> int:
    """Return 1e3 as an integer. Arrow would write out every digit of 1e400000."""
    if value.adjusted() > 20 or value != value.to_integral_value():
        raise ValueError(f"{value} is not a 64-bit integer")
    return int(value)


def _for_arrow(value: Any, type: pa.DataType) -> Any:
    """Convert a JSON value to what Arrow takes for a type; raises NO_VALUE if it does not fit."""
    if value is None:
        return None
    if isinstance(value, Decimal) and not (types.is_floating(type) or types.is_decimal(type)):
        return _whole(value)
    if types.is_floating(type):
        return float(value)
    if types.is_decimal(type):
        return Decimal(value)
    if types.is_large_binary(type) or types.is_fixed_size_binary(type):
        return base64.b64decode(value, validate=True)
    if types.is_time(type):
        return _ticks(str(value), type.unit)
    if types.is_map(type):
        return [(_for_arrow(k, type.key_type), _for_arrow(v, type.item_type)) for k, v in value]
    if types.is_list(type):
        return [_for_arrow(inner, type.value_type) for inner in value]
    if types.is_struct(type):
        members = dict(value)
        return {field.name: _for_arrow(members.get(field.name), field.type) for field in type}
    return value


def _before_cast(type: pa.DataType) -> pa.DataType:
    """Return a type that Arrow can build from the JSON form and then cast."""
    if types.is_duration(type) or types.is_time(type):
        return pa.int32() if type.bit_width == 32 else pa.int64()
    return pa.string() if types.is_temporal(type) else type


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal; 1.50 and 1.5 are."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_is_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


class _TypedColumn:
    def __init__(self, field: pa.Field) -> None:
        self._type = field.type
        self._early = retyped(field.type, _before_cast)
        self._column = Column("", field)

    def array(self, raws: list[bytes | None]) -> pa.Array:
        """Return JSON values as an array. Missing values and values of another type become null."""
        if not any(raws):
            return pa.nulls(len(raws), self._type)
        values = [None if raw is None else _value(raw) for raw in raws]
        try:
            found = self._made(values)
        except NO_VALUE:
            found = pa.concat_arrays([self._made_or_null(value) for value in values])
        wrong = [
            raw is not None and raw != back and not _is_same(value, _exactly.decode(back))
            for raw, back, value in zip(raws, self._told(found), values, strict=True)
        ]
        if any(wrong):
            found = pc.if_else(pa.array(wrong), pa.scalar(None, self._type), found)
        return found

    def _made(self, values: list) -> pa.Array:
        ready = [_for_arrow(value, self._type) for value in values]
        return pa.array(ready, self._early).cast(self._type)

    def _made_or_null(self, value: Any) -> pa.Array:
        try:
            return self._made([value])
        except NO_VALUE:
            return pa.nulls(1, self._type)

    def _told(self, array: pa.Array) -> list[bytes]:
        """Return the array as JSON."""
        return [_encode(value) for value in self._column.values(array)]


def typed(rests: Sequence[bytes], columns: pa.Schema) -> tuple[list[pa.Array], list[bytes]]:
    """Return the columns of some records, and each record's members that are in none of them.

    rests: members as in Record.
    """
    members = [_members(rest) for rest in rests]
    sizes = [len(one) for one in members]
    arrays = []
    for field in columns:
        raws = [bytes(one[field.name]) if field.name in one else None for one in members]
        array = _TypedColumn(field).array(raws)
        arrays.append(array)
        for one, raw, is_null in zip(members, raws, array.is_null().to_pylist(), strict=True):
            if raw is not None and (raw == b"null" or not is_null):
                del one[field.name]
    others = [
        rest if len(one) == size else joined_members(one)
        for rest, one, size in zip(rests, members, sizes, strict=True)
    ]
    return arrays, others
