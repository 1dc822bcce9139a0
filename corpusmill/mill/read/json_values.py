"""Decode JSON into Python objects, whatever its numbers, for users' code."""

import json
import math
import sys
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec


def decoded(written: bytes) -> Any:
    """Decode integers as int and other numbers as the nearest float.

    Decimal holds what these cannot: integers of thousands of digits, and numbers beyond the floats.
    Numbers that are also beyond Decimal's range become an infinite Decimal.
    """
    try:
        return msgspec.json.decode(written)
    except msgspec.ValidationError:
        # It is valid JSON, so a number is too large. Decode again with the slower parser.
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
