"""The compiler settings of all kernels."""

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from corpusmill.kernels.cache import cache_folder


@contextlib.contextmanager
def _without(module: str) -> Iterator[None]:
    """Make the import of a module fail in this block."""
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

# Before its first kernel, numba imports scipy for linear algebra, and every installed package that
# extends numba, such as awkward. Kernels use neither, and would delay each job: 0.7 s from start to
# the first result, 0.3 s without (measured).
with _without("scipy.linalg"):
    import numba.np.arraymath
numba.core.entrypoints._already_initialized = True


if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(cache_folder())

# nogil: a second thread writes the progress line while a kernel runs. error_model numpy: division
# does not branch to an exception. No fastmath: results are exact. No parallel: other threads run
# other jobs.
kernel = numba.njit(cache=True, nogil=True, error_model="numpy")

# Does not count references to arrays, so it cannot create or keep any; the caller holds them. For
# kernels that call many small ones, where atomic counting would be expensive.
counting_nothing = numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=False)


def kept_beside_kernels() -> Path:
    """The folder of compiled kernels, which keeps tables that take long to compute too."""
    return Path(numba.config.CACHE_DIR)  # type: ignore[attr-defined]
