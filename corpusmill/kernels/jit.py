"""How every kernel is compiled."""

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from corpusmill.kernels.cache import cache_folder


@contextlib.contextmanager
def _without(module: str) -> Iterator[None]:
    """Let the import of a module fail in this block."""
    before = sys.modules.get(module)
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]
        if before is not None:
            sys.modules[module] = before


# With yaml, numba obeys .numba_config.yaml of the working folder. That may be a stranger's, and it
# can name files to write. Without yaml, numba warns of such a file.
with _without("yaml"), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import numba
    import numba.core.entrypoints

# Before its first kernel numba imports scipy, to see whether it can do linear algebra, and every
# installed package that extends it (awkward does). Kernels here use neither, and a job would wait
# for them: 0.7 s from its start to the first result, 0.3 s without (measured).
with _without("scipy.linalg"):
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


def kept_beside_kernels() -> Path:
    """The folder of compiled kernels, which keeps tables that take long to compute too."""
    return Path(numba.config.CACHE_DIR)  # type: ignore[attr-defined]
