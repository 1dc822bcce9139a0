"""Build and cache the tables of `kernels.languages` from py3langid's model.

Unpacking the model takes a second; its tables take 60 MB. Each table is cached in its own file
beside the compiled kernels.
"""

import functools
import importlib.util
import io
import lzma
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpusmill.kernels import languages as kernels
from corpusmill.kernels.languages import (
    BLOCK,
    NONE,
    SCALE,
    STATE_OFFSET,
    Automaton,
    Scratch,
    Weights,
)
from corpusmill.mill.filters.languages.codes import MODEL_LANGUAGES
from corpusmill.mill.read.unicode_tables import kept_table
from corpusmill.mill.storage.sha256 import file_sha256

PACKAGE = "py3langid"
VERSION = "0.4.0"
MODEL_SHA256 = "f4f4a2c3465ca1f081541037f9cac23021d68151c2f709c55ae5eedfca522963"

WIDTH = 16
"""Row lengths are multiples of this number, which fills a cache line with cells or a vector with
weights."""

OFTEN = b" eatinosrldhucm,pgbvyfwkjzqx.'-\n" + bytes(range(0xC2, 0xF5)) + bytes(range(0x80, 0xC0))
"""Bytes that are frequent in the same texts. Their cells are adjacent, to share cache lines."""

SMALL_COUNTS = 64
"""Counts below this number have their logarithms in a table."""


class Tables(NamedTuple):
    """The cached tables of the model."""

    cells: np.ndarray
    classes: np.ndarray
    feature_of: np.ndarray
    of_feature: np.ndarray
    prior: np.ndarray
    label_of: np.ndarray


def model_file() -> Path:
    """Return the model file of the installed package; ValueError if it is not the expected
    version."""
    found = importlib.util.find_spec(PACKAGE)
    folder = Path(found.origin).parent if found and found.origin else Path(PACKAGE)
    path = folder / "data/model.npz.xz"
    wanted = f"expected the model file of {PACKAGE} {VERSION}"
    repair = f"Install it: pip install {PACKAGE}=={VERSION}"
    if not path.is_file():
        raise ValueError(f"{path}: {wanted}, found no such file. {repair}")
    digest = file_sha256(path)
    if digest != MODEL_SHA256:
        raise ValueError(f"{path}: {wanted}, found a file with the SHA-256 {digest}. {repair}")
    return path


def model_arrays() -> dict[str, np.ndarray]:
    """Return the package's model."""
    with lzma.open(model_file()) as packed:
        unpacked = io.BytesIO(packed.read())
    with np.load(unpacked, allow_pickle=False) as arrays:
        return dict(arrays)


def _depths(moves: np.ndarray, row_of: np.ndarray) -> np.ndarray:
    """Return int64 (states,): the distance in bytes from the root to each state."""
    depths = np.full(row_of.size, -1)
    depths[0] = 0
    reached, depth = np.zeros(1, np.int64), 0
    while reached.size:
        depth += 1
        after = np.unique(moves[row_of[reached]])
        reached = after[depths[after] < 0]
        depths[reached] = depth
    return depths


def _classes_of(moves: np.ndarray) -> np.ndarray:
    """Return uint8 (256,): classes of bytes with equal transitions. Those in OFTEN come first."""
    _, alike = np.unique(moves, axis=1, return_inverse=True)
    order = dict.fromkeys(alike[byte] for byte in OFTEN + bytes(range(256)))
    place = {group: number for number, group in enumerate(order)}
    return np.array([place[group] for group in alike], np.uint8)


def _padded(size: int) -> int:
    return -(-size // WIDTH) * WIDTH


def _automaton(moves: np.ndarray, row_of: np.ndarray) -> tuple[Automaton, np.ndarray]:
    """Return the automaton, and each of its states' number in the model.

    moves: (rows, 256), the state after a byte. Rows are numbered by the least depth of their
    states, so that the rows used by every text are adjacent. States are numbered by their rows.
    """
    depths = _depths(moves, row_of)
    least = np.full(len(moves), depths.size)
    np.minimum.at(least, row_of, depths)
    rows = np.argsort(least, kind="stable")
    row_of = np.argsort(rows)[row_of]
    states = np.argsort(row_of, kind="stable")
    state = np.argsort(states)
    low = state - 2 * row_of + STATE_OFFSET
    assert rows.size <= 1 << 16, rows.size
    assert low.min() >= 0 and low.max() < 1 << 16, (low.min(), low.max())  # noqa: PT018
    classes = _classes_of(moves)
    cells = np.zeros((rows.size, _padded(int(classes.max()) + 1)), np.uint32)
    cells[:, classes] = (row_of << 16 | low).astype(np.uint32)[moves[rows]]
    return Automaton(cells, classes), states


def built_tables() -> Tables:
    """Build the tables from the package's model."""
    arrays = model_arrays()
    codes = arrays["classes"].tolist()
    assert tuple(dict.fromkeys(codes)) == MODEL_LANGUAGES, codes
    moves = arrays["nextmove"].reshape(-1, 256)
    automaton, states = _automaton(moves, arrays["nextmove_row"].astype(np.int64))
    feature = arrays["out_feat"][states].astype(np.int32)
    shared = np.bincount(feature[feature >= 0], minlength=len(arrays["ptc"])) > 1
    feature_of = np.where(shared[feature], -1 - feature, feature)
    feature_of[feature < 0] = NONE
    # float16 values above 2 are multiples of 1/512, so nothing is rounded.
    parts = arrays["ptc"].astype(np.float32) * SCALE
    assert (parts == np.round(parts)).all(), parts
    assert abs(parts).max() < 1 << 15, parts
    of_feature = np.zeros((len(parts), _padded(len(codes))), np.int16)
    of_feature[:, : len(codes)] = parts
    label_of = np.array([MODEL_LANGUAGES.index(code) for code in codes], np.uint8)
    return Tables(
        *automaton, feature_of.astype(np.int32), of_feature,
        arrays["pc"].astype(np.float64), label_of,
    )  # fmt: skip


@functools.cache
def tables() -> Tables:
    """Return the tables; the first call on a machine builds them."""
    built, made_of = functools.cache(built_tables), (__file__, kernels.__file__, MODEL_SHA256)

    def table(name: str) -> np.ndarray:
        return kept_table(f"language-{name}", lambda: getattr(built(), name), *made_of)

    return Tables(*map(table, Tables._fields))


def automaton() -> Automaton:
    return Automaton(*tables()[:2])


def weights(among: frozenset[str] | None) -> Weights:
    """Return the weights. among: the possible languages, None: all."""
    made = tables()
    is_among = np.array([among is None or code in among for code in MODEL_LANGUAGES])
    small = np.log1p(np.arange(SMALL_COUNTS)) / SCALE
    return Weights(*made[2:], is_among[made.label_of], small.astype(np.float32))


def scratch() -> Scratch:
    states, (features, columns) = tables().feature_of.size, tables().of_feature.shape
    return Scratch(
        np.zeros(BLOCK, np.uint32),
        np.zeros(states, np.uint32), np.zeros(states + 1, np.uint32),
        np.zeros(features, np.uint32), np.zeros(features + 1, np.int32),
        np.zeros(features, np.int32), np.zeros(features, np.float32),
        np.zeros(columns, np.float32),
    )  # fmt: skip
