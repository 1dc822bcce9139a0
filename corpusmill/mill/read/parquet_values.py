"""Convert values of Parquet columns to JSON by their types.

Texts, numbers, and lists and structs of them are unchanged. Times become Arrow's text, and decimals
numbers with all their digits. Floats without a JSON number become the texts "NaN", "Infinity" and
"-Infinity".
"""

import logging
import math
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import types

FIRST_SECOND, LAST_SECOND = -1096193779200, 971890963199
"""Range of times that Arrow can print, years -32767 to 32767, in seconds since 1970."""

TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def is_listed(type: pa.DataType) -> bool:
    kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view,
             types.is_large_list_view)  # fmt: skip
    return any(of_kind(type) for of_kind in kinds)


def _inner_fields(type: pa.DataType) -> list[pa.Field]:
    """Return the fields of a nested type; none if it is not nested."""
    if isinstance(type, pa.BaseExtensionType):
        return [pa.field("storage", type.storage_type)]
    if types.is_dictionary(type):
        return [pa.field("values", type.value_type)]
    return [type.field(k) for k in range(type.num_fields)]


def doubled_field(fields: Iterable[pa.Field]) -> str | None:
    """Return a name that two columns share, or two fields of one struct at any depth."""
    fields = list(fields)
    names = [field.name for field in fields]
    for field in fields:
        if names.count(field.name) > 1:
            return field.name
        if (inner := doubled_field(_inner_fields(field.type))) is not None:
            return inner
    return None


def is_text(type: pa.DataType) -> bool:
    if types.is_dictionary(type):
        return is_text(type.value_type)
    return types.is_string(type) or types.is_large_string(type) or types.is_string_view(type)


def is_bytes(type: pa.DataType) -> bool:
    """Return whether a type is variable-length bytes. Writers without a text type store UTF-8 in
    these."""
    if types.is_dictionary(type):
        return is_bytes(type.value_type)
    return types.is_binary(type) or types.is_large_binary(type) or types.is_binary_view(type)


def _leaf_types(type: pa.DataType) -> Iterator[pa.DataType]:
    inner = _inner_fields(type)
    if not inner or isinstance(type, pa.UuidType):
        yield type
    for field in inner:
        yield from _leaf_types(field.type)


def _leaves(array: pa.Array) -> Iterator[pa.Array]:
    """Yield the innermost arrays of a nested array."""
    type = array.type
    if isinstance(array, pa.ExtensionArray):
        yield from _leaves(array.storage)
    elif types.is_dictionary(type):
        yield from _leaves(array.dictionary_decode())
    elif types.is_map(type):
        yield from _leaves(array.keys)
        yield from _leaves(array.items)
    elif types.is_struct(type):
        for child in array.flatten():
            yield from _leaves(child)
    elif is_listed(type):
        yield from _leaves(array.flatten())
    else:
        yield array


def retyped(type: pa.DataType, of_leaf: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """Return the type with other leaf types. Types that cannot be changed stay."""
    if isinstance(type, pa.BaseExtensionType) or types.is_dictionary(type):
        (field,) = _inner_fields(type)
        inner = retyped(field.type, of_leaf)
        return type if inner == field.type else inner
    if types.is_map(type):
        return pa.map_(retyped(type.key_type, of_leaf), retyped(type.item_type, of_leaf))
    fields = [field.with_type(retyped(field.type, of_leaf)) for field in _inner_fields(type)]
    if types.is_struct(type):
        return pa.struct(fields)
    if types.is_fixed_size_list(type):
        return pa.list_(fields[0], type.list_size)
    if types.is_large_list(type) or types.is_large_list_view(type):
        return pa.large_list(fields[0])
    if types.is_list(type) or types.is_list_view(type):
        return pa.list_(fields[0])
    return of_leaf(type)


def _in_utc(type: pa.DataType) -> pa.DataType:
    """Use UTC, because local time would depend on the machine's time zone tables."""
    if types.is_timestamp(type) and type.tz is not None:
        return pa.timestamp(type.unit, "UTC")
    return type


def _as_text(type: pa.DataType) -> pa.DataType:
    """Use Arrow's text: Python's dates and times lack nanoseconds and the year 10000."""
    if types.is_duration(type):
        return pa.int64()
    return pa.string() if types.is_temporal(type) else type


def _bounds(type: pa.DataType) -> tuple[int, int] | None:
    """Return the smallest and largest printable value, for dates and timestamps."""
    if types.is_date32(type):
        return FIRST_SECOND // 86400, LAST_SECOND // 86400
    if types.is_date64(type) or types.is_timestamp(type):
        ticks = TICKS["ms" if types.is_date64(type) else type.unit]
        return FIRST_SECOND * ticks, LAST_SECOND * ticks + ticks - 1
    return None


def _written_as(type: pa.DataType) -> str | None:
    """Return `text` or `base64` if values of a non-text type are written as text."""
    if isinstance(type, pa.UuidType) or (types.is_temporal(type) and not types.is_duration(type)):
        return "text"
    kinds = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary,
             types.is_binary_view)  # fmt: skip
    return "base64" if any(of_kind(type) for of_kind in kinds) else None


def _json_value(value: Any) -> Any:
    """Return the value with decimals as exact numbers, and non-finite floats as texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Decimal):
        return msgspec.Raw(format(value, "f").encode())
    if isinstance(value, dict):
        return {name: _json_value(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(inner) for inner in value]
    return value


class BytesAsText:
    """A text column stored as bytes, which must be UTF-8."""

    def __init__(self, name: str) -> None:
        self.name = name

    def values(self, array: pa.Array) -> list[str | None]:
        """Return the texts; raises UnicodeDecodeError if one is not UTF-8."""
        return [None if value is None else value.decode("utf-8") for value in array.to_pylist()]


class Column:
    """A column of a file and its conversions. Texts and integers need none."""

    def __init__(self, path: str, field: pa.Field) -> None:
        self.name = field.name
        self._path, self._type = path, field.type
        leaves = list(_leaf_types(field.type))
        utc = retyped(field.type, _in_utc)
        text = retyped(utc, _as_text)
        self._casts = [new for old, new in ((field.type, utc), (utc, text)) if new != old]
        self._bounded = any(_bounds(leaf) for leaf in leaves)
        self._is_number = types.is_floating(field.type)
        self._floating = any(types.is_floating(leaf) for leaf in leaves)
        self._decimal = any(types.is_decimal(leaf) for leaf in leaves)
        self._told = False

    def tell_if_written_as_text(self) -> None:
        found = set(filter(None, map(_written_as, _leaf_types(self._type))))
        if found:
            logging.info('%s: column "%s" is %s, written as %s', self._path, self.name, self._type,
                         " and ".join(sorted(found)))  # fmt: skip

    def values(self, array: pa.Array) -> list:
        """Return values that msgspec writes as JSON; UnicodeDecodeError if a text is not UTF-8."""
        if self._bounded:
            self._check_times(array)
        values = self._cast(array).to_pylist()
        special = self._floating and not self._is_finite(array, values)
        if special and not self._told:
            self._told = True
            logging.info('%s: column "%s" has NaN or infinities, written as text', self._path,
                         self.name)  # fmt: skip
        if special or self._decimal:
            return [_json_value(value) for value in values]
        return values

    def _cast(self, array: pa.Array) -> pa.Array:
        for type in self._casts:
            array = array.cast(type)
        return array

    def _check_times(self, array: pa.Array) -> None:
        for leaf in _leaves(array):
            if (bounds := _bounds(leaf.type)) is None:
                continue
            whole = pa.int32() if types.is_date32(leaf.type) else pa.int64()
            found = leaf.cast(whole).drop_null().to_numpy()
            least, most = (found.min(), found.max()) if found.size else bounds
            if not bounds[0] <= least <= most <= bounds[1]:
                raise ValueError(
                    f'{self._path}: column "{self.name}" has a time outside the years -32767 to '
                    f"32767 ({least if least < bounds[0] else most} as {leaf.type}), which "
                    "cannot be written as text. Write the column as text or as a number."
                )

    def _is_finite(self, array: pa.Array, values: list) -> bool:
        if self._is_number:  # numpy is slower for so few
            if array.null_count:
                values = [value for value in values if value is not None]
            return all(map(math.isfinite, values))
        floats = (leaf for leaf in _leaves(array) if types.is_floating(leaf.type))
        return all(np.isfinite(leaf.drop_null().to_numpy()).all() for leaf in floats)
