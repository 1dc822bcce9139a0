"""Where compiled kernels are kept, and what else takes long to make."""

import hashlib
import os
from pathlib import Path


def home() -> Path:
    """The folder of this user for what can be made again."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "corpusmill"


def cache_folder() -> Path:
    """A folder that belongs to exactly these kernel sources, where they lie.

    Numba renews a cached function when its own file changes, not when a kernel that it calls
    does; a folder named by the digest of all kernel files closes that trap.
    """
    here = Path(__file__).resolve().parent
    digest = hashlib.sha256(os.fsencode(here))
    for source in sorted(here.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return home() / f"kernels-{digest.hexdigest()[:16]}"


def are_compiled() -> bool:
    """Whether some were compiled before, as far as this can know."""
    return "NUMBA_CACHE_DIR" in os.environ or cache_folder().exists()
