"""How every kernel is compiled, and where the compiled code is kept."""

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numba
import numba.core.entrypoints


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


def _cache_folder() -> str:
    """A folder that belongs to exactly these kernel sources.

    Numba renews a cached function when its own file changes, not when a kernel that it calls
    does; a folder named by the digest of all kernel files closes that trap.
    """
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return str(home / "corpusmill" / f"kernels-{digest.hexdigest()[:16]}")


if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = _cache_folder()

# nogil: the progress line of a job is written by a second thread while a kernel runs.
# error_model numpy: division does not branch to an exception.
# No fastmath, no parallel: integers only, and a job's threads are other documents' jobs.
kernel = numba.njit(cache=True, nogil=True, error_model="numpy")
