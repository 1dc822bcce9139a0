"""A value of a Parquet row as JSON."""

import base64
import math

import pyarrow as pa
import pyarrow.types as kinds

from oracle.strict_json import encode_string


def json_value(scalar: pa.Scalar) -> str:
    if not scalar.is_valid:
        return "null"
    kind = scalar.type
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


def is_list(kind: pa.DataType) -> bool:
    tests = (kinds.is_list, kinds.is_large_list, kinds.is_fixed_size_list,
             kinds.is_list_view, kinds.is_large_list_view)  # fmt: skip
    return any(test(kind) for test in tests)


def is_text(kind: pa.DataType) -> bool:
    if kinds.is_dictionary(kind):
        kind = kind.value_type
    return kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind)


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
        return encode_string(scalar.cast(pa.string()).as_py())
    return encode_string(base64.b64encode(scalar.as_py()).decode())


def json_float(value: float) -> str:
    if math.isnan(value):
        return '"NaN"'
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    return repr(value)
