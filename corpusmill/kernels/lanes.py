"""Sum rows of a matrix in registers, in order.

A plain loop over the columns of each row stores the sum and reloads it for the next row. That takes
5 ns per row of 16 columns. The processor also sees too few rows ahead to overlap reads: 40 to 60 ns
per row outside its caches. With the sum in registers it takes 1.6 ns, and 10 to 20 ns.
"""

from collections.abc import Callable

from llvmlite import ir

import corpusmill.kernels.jit  # noqa: F401 - imports numba as we want it

# isort: split
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from corpusmill.kernels.jit import kernel

ROWS_AT_ONCE = 64
"""Number of rows to add at once: they stay in the first-level cache between the lanes of wide
rows."""


def _lanes(width: int) -> Callable:
    """Return a function that adds columns [at, at + width) of some rows to a sum.

    No fastmath: the sum equals adding row after row, bit for bit.
    """

    @intrinsic
    def add_lanes(_, matrix, rows, first, stop, total, at):
        def build(context, builder, signature, arguments):
            matrix, rows, total = (
                context.make_array(signature.args[k])(context, builder, arguments[k])
                for k in (0, 1, 4)
            )
            first, stop, at = arguments[2], arguments[3], arguments[5]
            lanes = ir.VectorType(ir.FloatType(), width)
            columns = cgutils.unpack_tuple(builder, matrix.shape)[1]
            place = builder.bitcast(builder.gep(total.data, [at]), lanes.as_pointer())
            loaded = builder.load(place)
            loaded.align = 4
            held = cgutils.alloca_once_value(builder, loaded)
            one = ir.Constant(first.type, 1)
            with cgutils.for_range_slice(builder, first, stop, one, first.type) as (k, _):
                row = builder.load(builder.gep(rows.data, [k]))
                start = builder.add(builder.mul(row, columns), at)
                numbers = builder.load(
                    builder.bitcast(builder.gep(matrix.data, [start]), lanes.as_pointer())
                )
                numbers.align = 1  # unaligned in a mapped file
                builder.store(builder.fadd(builder.load(held), numbers), held)
            builder.store(builder.load(held), place).align = 4
            return context.get_dummy_value()

        whole = types.int64
        return types.void(matrix, rows, whole, whole, total, whole), build

    return add_lanes


_add_64, _add_16, _add_4 = _lanes(64), _lanes(16), _lanes(4)


@kernel
def add_dense_rows(matrix, rows, count, total):
    """Add matrix[row] to the total for each of rows[:count], in order.

    matrix: float32 (rows, columns), contiguous. rows: int64. total: float32 (columns,), updated.
    """
    for first in range(0, count, ROWS_AT_ONCE):
        stop = min(first + ROWS_AT_ONCE, count)
        at = 0
        while at + 64 <= total.size:
            _add_64(matrix, rows, first, stop, total, at)
            at += 64
        while at + 16 <= total.size:
            _add_16(matrix, rows, first, stop, total, at)
            at += 16
        while at + 4 <= total.size:
            _add_4(matrix, rows, first, stop, total, at)
            at += 4
        for j in range(at, total.size):
            for k in range(first, stop):
                total[j] += matrix[rows[k], j]
