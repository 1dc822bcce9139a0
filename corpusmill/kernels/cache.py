"""The cache folder of compiled kernels and other data that is slow to build."""

import hashlib
import os
from pathlib import Path


def home() -> Path:
    """Return this user's cache folder for corpusmill."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "corpusmill"


def cache_folder() -> Path:
    """Return the cache folder of exactly these kernel sources at this path.

    Numba recompiles a cached function when its own file changes, but not when a kernel that it
    calls changes. Naming the folder by a digest of all kernel files avoids that trap.
    """
    here = Path(__file__).resolve().parent
    digest = hashlib.sha256(os.fsencode(here))
    for source in sorted(here.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return home() / f"kernels-{digest.hexdigest()[:16]}"


def are_compiled() -> bool:
    """Return whether kernels were probably compiled before."""
    return "NUMBA_CACHE_DIR" in os.environ or cache_folder().exists()
