"""The files of an index of packed rows: which pieces of a split's token stream are in which row.

Without compiled code, as trainers read them too. docs/reference/formats.md describes them.
"""

import io
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

LEAST_LENGTH, MOST_LENGTH = 2, 1 << 20
"""Limits of output.pack: the tokens of a row that are inputs."""

NAME = re.compile(r"pack-([1-9][0-9]{0,6})\.(rows\.npy|npy|json)", re.ASCII)
PURPOSE = "pack"
"""Of the keyed hash that orders the rows."""

DTYPE = np.dtype("<u8")

HEADER_BYTES = 256
"""More than any header of an index file has."""
HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(..)\{'descr': '(\|u1|<u[248])', 'fortran_order': False, 'shape': "
    rb"\(([0-9]{1,18}),(?: ([0-9]{1,18}))?\), \} *\n",
    re.DOTALL,
)


class PackFiles(NamedTuple):
    """The files of the index of one split and length."""

    pieces: Path
    rows: Path
    facts: Path


def pack_name(name: str) -> tuple[int, str] | None:
    """Return length and ending of an index file by its name; None for other files."""
    found = NAME.fullmatch(name)
    if not found or not LEAST_LENGTH <= int(found[1]) <= MOST_LENGTH:
        return None
    return int(found[1]), found[2]


def npy_header(shape: tuple[int, ...], dtype: np.dtype = DTYPE) -> bytes:
    """Return the first bytes of a `.npy` file with unsigned numbers."""
    header = io.BytesIO()
    content = {"descr": dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, content)
    return header.getvalue()


def npy_shape(data: bytes, dtype: np.dtype = DTYPE) -> tuple[tuple[int, ...], int] | None:
    """Return the shape in such a header, and the header's bytes; None if it is another one. data:
    at least HEADER_BYTES of the file, if it has as many."""
    found = HEADER.match(data)
    if not found or int.from_bytes(found[1], "little") != found.end() - 10:
        return None
    if found[2].decode() != dtype.str:
        return None
    return tuple(int(size) for size in found.groups()[2:] if size), found.end()


def runs(first: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return int64: for each run, its `counts` numbers from `first` on."""
    before = np.cumsum(counts) - counts
    return np.arange(counts.sum()) + np.repeat(first - before, counts)
