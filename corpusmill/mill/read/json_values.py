"""JSON as Python objects, whatever its numbers: what code of users is given of a record."""

import json
import math
import sys
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec


def decoded(written: bytes) -> Any:
    """An integer as an int, any other number as the float next to it. What these cannot hold is a
    Decimal: an integer of thousands of digits and a number beyond the floats exactly, one beyond
    the Decimals too as an infinite one."""
    try:
        return msgspec.json.decode(written)
    except msgspec.ValidationError:
        # It is JSON, so a number is too large: read again by the slower decoder, which asks.
        return json.loads(written, parse_int=_whole, parse_float=_real)


def _whole(digits: str) -> int | Decimal:
    most = sys.get_int_max_str_digits()
    return int(digits) if len(digits) <= most or not most else Decimal(digits)


def _real(digits: str) -> float | Decimal:
    nearest = float(digits)
    if math.isfinite(nearest):
        return nearest
    try:
        return Decimal(digits)
    except InvalidOperation:
        return Decimal(nearest)
