"""How every kernel is compiled, and where the compiled code is kept."""

import hashlib
import os
from pathlib import Path

import numba


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
