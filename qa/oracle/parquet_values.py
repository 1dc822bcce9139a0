"""A value of a Parquet row as JSON."""

import base64
import math
import uuid
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.types as kinds

from qa.oracle.strict_json import encode_string


class NoTextError(Exception):
    """A time for which Arrow has no text."""


def json_value(scalar: pa.Scalar) -> str:
    if not scalar.is_valid:
        return "null"
    kind = scalar.type
    if isinstance(kind, pa.BaseExtensionType):
        return extension_value(scalar)
    if kinds.is_dictionary(kind):
        return json_value(scalar.value)
    if kinds.is_map(kind):
        pairs = [f"[{json_value(pair[0])},{json_value(pair[1])}]" for pair in scalar.values]
        return "[" + ",".join(pairs) + "]"
    if kinds.is_struct(kind):
        members = [(field.name, scalar[k]) for k, field in enumerate(kind)]
        return "{" + ",".join(f"{encode_string(n)}:{json_value(v)}" for n, v in members) + "}"
    if is_list(kind):
        return "[" + ",".join(json_value(value) for value in scalar.values) + "]"
    return plain_value(scalar)


def extension_value(scalar: pa.ExtensionScalar) -> str:
    """What the type is stored as, but for two types that have a usual form."""
    if scalar.type.extension_name == "arrow.uuid":
        return encode_string(str(uuid.UUID(bytes=scalar.value.as_py())))
    if scalar.type.extension_name == "arrow.bool8":
        return "true" if scalar.value.as_py() else "false"
    return json_value(scalar.value)


def is_list(kind: pa.DataType) -> bool:
    tests = (kinds.is_list, kinds.is_large_list, kinds.is_fixed_size_list,
             kinds.is_list_view, kinds.is_large_list_view)  # fmt: skip
    return any(test(kind) for test in tests)


def is_text(kind: pa.DataType) -> bool:
    if kinds.is_dictionary(kind):
        kind = kind.value_type
    return kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind)


def is_bytes(kind: pa.DataType) -> bool:
    if kinds.is_dictionary(kind):
        kind = kind.value_type
    return kinds.is_binary(kind) or kinds.is_large_binary(kind) or kinds.is_binary_view(kind)


def plain_value(scalar: pa.Scalar) -> str:
    kind = scalar.type
    if kinds.is_boolean(kind):
        return "true" if scalar.as_py() else "false"
    if kinds.is_integer(kind):
        return str(scalar.as_py())
    if kinds.is_decimal(kind):
        return format(scalar.as_py(), "f")
    if kinds.is_floating(kind):
        return json_float(float(scalar.as_py()))
    if is_text(kind):
        return encode_string(scalar.as_py())
    if kinds.is_duration(kind):
        return str(scalar.value)
    if kinds.is_date(kind) or kinds.is_time(kind) or kinds.is_timestamp(kind):
        return time_value(scalar)
    return encode_string(base64.b64encode(scalar.as_py()).decode())


def time_value(scalar: pa.Scalar) -> str:
    if kinds.is_timestamp(scalar.type) and scalar.type.tz is not None:
        scalar = scalar.cast(pa.timestamp(scalar.type.unit, "UTC"))
    text = scalar.cast(pa.string()).as_py()
    if text.startswith("<"):
        raise NoTextError(text)
    return encode_string(text)


def json_float(value: float) -> str:
    if math.isnan(value):
        return '"NaN"'
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    return repr(value)


def refuse_doubled_names(fields: Iterable[pa.Field]) -> None:
    """Two columns, or two fields of a struct however deep, may not have one name."""
    fields = list(fields)
    names = [field.name for field in fields]
    if len(set(names)) < len(names):
        raise ValueError(f"a name stands twice: {names}")
    for field in fields:
        refuse_doubled_within(field.type)


def refuse_doubled_within(kind: pa.DataType) -> None:
    if isinstance(kind, pa.BaseExtensionType):
        refuse_doubled_within(kind.storage_type)
    elif kinds.is_struct(kind):
        refuse_doubled_names(kind)
    elif kinds.is_map(kind):
        refuse_doubled_within(kind.key_type)
        refuse_doubled_within(kind.item_type)
    elif is_list(kind) or kinds.is_dictionary(kind):
        refuse_doubled_within(kind.value_type)
