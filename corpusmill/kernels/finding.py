"""Find the next match of some patterns in a text, 64 bytes at a time.

A loop over single bytes takes 0.5 to 2 ns per byte. Its end, which the processor cannot predict,
costs as much as ten bytes more. Comparing 64 at once takes 0.1 ns per byte.
"""

from collections.abc import Callable, Sequence

import numpy as np
from llvmlite import ir

import corpusmill.kernels.jit  # noqa: F401 - imports numba as we want it

# isort: split
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WIDTH = 64
BYTES = ir.VectorType(ir.IntType(8), WIDTH)
BITS = ir.IntType(WIDTH)

Pattern = tuple[tuple[int, int], ...]
"""Minimum and maximum of each byte of a match. Zero is excluded, because it pads the data."""


def literal(text: str) -> Pattern:
    return tuple((byte, byte) for byte in text.encode())


def any_of(marks: str) -> list[Pattern]:
    return [literal(mark) for mark in marks]


def literal_rows(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return uint8 (texts, bytes of the longest): a text per row; and the bytes of each."""
    padded = np.array([text.encode() for text in texts])
    rows = padded.view(np.uint8).reshape(len(texts), padded.itemsize)
    return rows, np.array([len(text.encode()) for text in texts])


def _all_equal(byte: int) -> ir.Constant:
    return ir.Constant(BYTES, [byte] * WIDTH)


def _begins(
    builder: ir.IRBuilder, start: ir.Value, patterns: list[Pattern], or_bits: int
) -> ir.Value:
    """Return one bit for each of 64 positions from `start` on: whether a pattern begins there."""
    blocks = []
    for k in range(max(map(len, patterns))):
        place = builder.gep(start, [ir.Constant(ir.IntType(64), k)])
        block = builder.load(builder.bitcast(place, BYTES.as_pointer()))
        block.align = 1
        blocks.append(builder.or_(block, _all_equal(or_bits)) if or_bits else block)
    found = ir.Constant(ir.VectorType(ir.IntType(1), WIDTH), [0] * WIDTH)
    for pattern in patterns:
        here = None
        for block, (low, high) in zip(blocks, pattern, strict=False):
            above = builder.sub(block, _all_equal(low)) if high > low else block
            same = (
                builder.icmp_unsigned("<=", above, _all_equal(high - low))
                if high > low
                else builder.icmp_unsigned("==", block, _all_equal(low))
            )
            here = same if here is None else builder.and_(here, same)
        found = builder.or_(found, here)
    return builder.bitcast(found, BITS)


def _readable(builder: ir.IRBuilder, start: ir.Value, left: ir.Value, needed: int) -> ir.Value:
    """Return an address with `needed` readable bytes: `start`, or a copy padded with zeros."""
    room = ir.ArrayType(ir.IntType(8), needed)
    padded = cgutils.alloca_once(builder, room)
    place = cgutils.alloca_once_value(builder, start)
    is_end = builder.icmp_signed("<", left, ir.Constant(left.type, needed))
    with builder.if_then(is_end, likely=False):
        builder.store(ir.Constant(room, None), padded)
        first = builder.bitcast(padded, start.type)
        cgutils.raw_memcpy(builder, first, start, left, 1)
        builder.store(first, place)
    return builder.load(place)


def finder(patterns: list[Pattern], or_bits: int = 0) -> Callable:
    """Return a function for kernels: find(data, start, stop) is the first match at or after
    `start`.

    It is `stop` if no match begins before; a match may end after `stop`. data: uint8. or_bits: set
    in each byte before comparison; 0x20 makes letters lower-case.
    """
    needed = WIDTH + max(map(len, patterns)) - 1

    @intrinsic
    def find(_, data, start, stop):
        def build(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0])
            start, stop = arguments[1:]
            (size,) = cgutils.unpack_tuple(builder, data.shape)
            place = cgutils.alloca_once_value(builder, start)
            heading, looking, done = (builder.append_basic_block() for _ in range(3))
            builder.branch(heading)
            builder.position_at_end(heading)
            at = builder.load(place)
            builder.cbranch(builder.icmp_signed("<", at, stop), looking, done)
            builder.position_at_end(looking)
            here = builder.gep(data.data, [at])
            here = _readable(builder, here, builder.sub(size, at), needed)
            bits = _begins(builder, here, patterns, or_bits)
            # 64 if no bit is set, which is the next position to search.
            zeros = builder.cttz(bits, ir.Constant(ir.IntType(1), 0))
            builder.store(builder.add(at, zeros), place)
            none = builder.icmp_unsigned("==", bits, ir.Constant(BITS, 0))
            builder.cbranch(none, heading, done)
            builder.position_at_end(done)
            at = builder.load(place)
            return builder.select(builder.icmp_signed("<", at, stop), at, stop)

        whole = types.int64
        return whole(data, whole, whole), build

    return find
