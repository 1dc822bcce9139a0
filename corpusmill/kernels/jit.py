"""How every kernel is compiled."""

import contextlib
import os
import sys
from collections.abc import Iterator

import numba
import numba.core.entrypoints

from corpusmill.kernels.cache import cache_folder


@contextlib.contextmanager
def _without_linear_algebra() -> Iterator[None]:
    """Let `import scipy.linalg` fail in this block, unless it is there already."""
    absent = "scipy.linalg" not in sys.modules
    if absent:
        sys.modules["scipy.linalg"] = None
    try:
        yield
    finally:
        if absent:
            del sys.modules["scipy.linalg"]


# Before its first kernel numba imports scipy, to see whether it can do linear algebra, and every
# installed package that extends it (awkward does). Kernels here use neither, and a job would wait
# for them: 0.7 s from its start to the first result, 0.3 s without (measured).
with _without_linear_algebra():
    import numba.np.arraymath
numba.core.entrypoints._already_initialized = True


if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(cache_folder())

# nogil: the progress line of a job is written by a second thread while a kernel runs.
# error_model numpy: division does not branch to an exception.
# No fastmath, no parallel: integers only, and a job's threads are other documents' jobs.
kernel = numba.njit(cache=True, nogil=True, error_model="numpy")

# Without counts of references to arrays, so it can make none and keep none: the caller holds them.
# For kernels of many small ones, which count at every call by atomic operations otherwise.
counting_nothing = numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
