"""The variables that jobs inherit from the Snakemake of their run."""

import sys
from pathlib import Path

from corpusmill.run.step_log import SAY_KILLED


def job_environment(home: Path, root: Path, in_conda: bool) -> dict[str, str]:
    """Return the variables. home: the folder of scripts/; root: the folder of the package."""
    return {
        "CORPUSMILL_PYTHON": "python" if in_conda else sys.executable,
        "CORPUSMILL_ROOT": str(root),
        "CORPUSMILL_SCRIPTS": str(home / "scripts"),
        "CORPUSMILL_KILLED": SAY_KILLED,
        # Cluster jobs start with `python -m snakemake`, which would import modules from the folder
        # of the run.
        "PYTHONSAFEPATH": "1",
        # Jobs hold a few large buffers for a short time. pyarrow's allocator returns each to the
        # system at once; a third of a scatter job was page faults. glibc's allocator keeps them,
        # and with this tunable uses huge pages if it can (2.35 and later, others ignore it).
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    }
