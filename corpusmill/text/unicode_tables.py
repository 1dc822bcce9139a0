"""The running Python's own Unicode rules as one table, so that kernels agree with `str`.

Every entry is asked from Python (`str.lower`, `str.isspace`, `string.punctuation`), never copied
from a Unicode version: whatever `lower()` does in this interpreter, the kernels do too.
"""

import functools
import hashlib
import platform
import re
import string
from pathlib import Path

import numba
import numpy as np

from corpusmill.kernels import clean
from corpusmill.kernels.clean import (
    CAPITAL_SIGMA,
    CASE_IGNORABLE,
    CASED,
    DOTTED_CAPITAL_I,
    DROP,
    IRREGULAR,
    SPACE,
)
from corpusmill.storage.files import replacing

_SIZE = 0x110000


def _points(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


def _text(points: np.ndarray) -> str:
    return points.astype("<u4").tobytes().decode("utf-32-le")


def _ends_final(pattern: list, scalars: np.ndarray) -> np.ndarray:
    """For every code point c: does `pattern` with c at None lower its sigma to a final sigma?"""
    probes = np.empty((scalars.size, len(pattern)), np.uint32)
    for column, point in enumerate(pattern):
        probes[:, column] = scalars if point is None else point
    sigma = pattern.index(CAPITAL_SIGMA)
    return _points(_text(probes.ravel()).lower()).reshape(probes.shape)[:, sigma] == 0x3C2


@functools.cache
def character_table() -> np.ndarray:
    """uint32 (0x110000,): the lowered code point and the flags of `kernels.clean`.

    Kept beside the compiled kernels, for this Python and this code: asking takes longer than a
    small job.
    """
    code = Path(__file__).read_bytes() + Path(clean.__file__).read_bytes()
    name = f"characters-{platform.python_version()}-{hashlib.sha256(code).hexdigest()[:16]}.npy"
    kept = Path(numba.config.CACHE_DIR) / name  # type: ignore[attr-defined]
    if not kept.exists():
        with replacing(kept, shared=True) as temporary, open(temporary, "wb") as file:
            np.save(file, built_table(), allow_pickle=False)
    return np.load(kept)


def built_table() -> np.ndarray:
    """`character_table` asked anew."""
    scalars = np.arange(_SIZE, dtype=np.uint32)
    scalars = scalars[(scalars < 0xD800) | (scalars >= 0xE000)]
    regular = scalars[(scalars != DOTTED_CAPITAL_I) & (scalars != CAPITAL_SIGMA)]
    lowered = _points(_text(regular).lower())
    if lowered.size != regular.size:
        raise RuntimeError(
            "this Python lowers more characters to several than U+0130; "
            "kernels.clean.clean_text knows only that one"
        )
    table = np.zeros(_SIZE, np.uint32)
    table[regular] = lowered
    table[[DOTTED_CAPITAL_I, CAPITAL_SIGMA]] |= np.uint32(IRREGULAR)
    # What follows a capital sigma's cased or case-ignorable neighbours is found by asking:
    # a sigma is final after a cased character, seen through case-ignorable ones.
    others = regular[regular != ord(" ")]
    cased = _ends_final([0x20, None, CAPITAL_SIGMA, 0x20], others)
    transparent = _ends_final([0x20, ord("a"), None, CAPITAL_SIGMA, 0x20], others) & ~cased
    table[others[cased]] |= np.uint32(CASED)
    table[others[transparent]] |= np.uint32(CASE_IGNORABLE)
    table[[DOTTED_CAPITAL_I, CAPITAL_SIGMA]] |= np.uint32(CASED)
    spaces = [ord(space) for space in re.findall(r"\s", _text(scalars))]
    table[spaces] = table[spaces] & ~np.uint32(0x1FFFFF) | np.uint32(SPACE | ord(" "))
    table[[ord(mark) for mark in string.punctuation]] |= np.uint32(DROP)
    return table
