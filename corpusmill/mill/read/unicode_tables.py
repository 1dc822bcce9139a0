"""Tables of the running Python's Unicode rules, so that kernels agree with `str`.

Every entry comes from Python (`str.lower`, `str.isspace`, `string.punctuation`), not from a copy of
a Unicode version. Kernels lower-case as this interpreter does.
"""

import functools
import hashlib
import platform
import re
import string
from collections.abc import Callable, Mapping
from pathlib import Path

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
from corpusmill.kernels.jit import kept_beside_kernels
from corpusmill.mill.storage.files import replacing

SIZE = 0x110000


def points_of(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


def text_of(points: np.ndarray) -> str:
    return points.astype("<u4").tobytes().decode("utf-32-le")


def scalars() -> np.ndarray:
    """Return uint32: every code point that can occur in a text."""
    points = np.arange(SIZE, dtype=np.uint32)
    return points[(points < 0xD800) | (points >= 0xE000)]


def flags_of(tests: Mapping[int, Callable[[str], object]]) -> np.ndarray:
    """Return uint16 (0x110000,): the flags whose test each character passes."""
    table, characters = np.zeros(SIZE, np.uint16), text_of(scalars())
    for flag, test in tests.items():
        table[points_of("".join(filter(test, characters)))] |= flag
    return table


def kept_table(name: str, built: Callable[[], np.ndarray], *of: str) -> np.ndarray:
    """Return a table, cached beside the compiled kernels for this Python and the table's inputs.

    Building takes longer than a small job. of: code files that build it beside this one, and
    package versions used.
    """
    made_of = b"".join(
        Path(one).read_bytes() if one.endswith(".py") else one.encode() for one in (__file__, *of)
    )
    digest = hashlib.sha256(made_of).hexdigest()[:16]
    kept = kept_beside_kernels() / f"{name}-{platform.python_version()}-{digest}.npy"
    if not kept.exists():
        with replacing(kept, shared=True) as temporary, open(temporary, "wb") as file:
            np.save(file, built(), allow_pickle=False)
    return np.load(kept)


def _ends_final(pattern: list, scalars: np.ndarray) -> np.ndarray:
    """Return for every code point c whether `pattern`, with c for None, lowers its sigma to a final
    sigma."""
    probes = np.empty((scalars.size, len(pattern)), np.uint32)
    for column, point in enumerate(pattern):
        probes[:, column] = scalars if point is None else point
    sigma = pattern.index(CAPITAL_SIGMA)
    return points_of(text_of(probes.ravel()).lower()).reshape(probes.shape)[:, sigma] == 0x3C2


@functools.cache
def character_table() -> np.ndarray:
    """Return uint32 (0x110000,): lowered code points and flags of `kernels.clean`."""
    return kept_table("characters", built_table, clean.__file__)


def built_table() -> np.ndarray:
    """Build the table of `character_table`."""
    all_scalars = scalars()
    regular = all_scalars[(all_scalars != DOTTED_CAPITAL_I) & (all_scalars != CAPITAL_SIGMA)]
    lowered = points_of(text_of(regular).lower())
    if lowered.size != regular.size:
        raise RuntimeError(
            "this Python lower-cases a character other than U+0130 to several; "
            "kernels.clean.clean_text handles only U+0130"
        )
    table = np.zeros(SIZE, np.uint32)
    table[regular] = lowered
    table[[DOTTED_CAPITAL_I, CAPITAL_SIGMA]] |= np.uint32(IRREGULAR)
    # A sigma is final after a cased character, looking through case-ignorable ones. Probe Python to
    # find both kinds.
    others = regular[regular != ord(" ")]
    cased = _ends_final([0x20, None, CAPITAL_SIGMA, 0x20], others)
    transparent = _ends_final([0x20, ord("a"), None, CAPITAL_SIGMA, 0x20], others) & ~cased
    table[others[cased]] |= np.uint32(CASED)
    table[others[transparent]] |= np.uint32(CASE_IGNORABLE)
    table[[DOTTED_CAPITAL_I, CAPITAL_SIGMA]] |= np.uint32(CASED)
    spaces = [ord(space) for space in re.findall(r"\s", text_of(all_scalars))]
    table[spaces] = table[spaces] & ~np.uint32(0x1FFFFF) | np.uint32(SPACE | ord(" "))
    table[[ord(mark) for mark in string.punctuation]] |= np.uint32(DROP)
    return table
