"""The variables that jobs inherit from the Snakemake of their run."""

import os
import sys
from pathlib import Path

from corpusmill.run.step_log import SAY_KILLED

MALLOC = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}
"""Have glibc keep memory that a job has freed. By default it returns the buffers of each batch to
the system, and gets them again for the next batch: a sixth of the page faults of a run."""


def job_environment(home: Path, root: Path, in_conda: bool) -> dict[str, str]:
    """Return the variables. home: the folder of scripts/; root: the folder of the package.

    The user's own settings of glibc's memory remain.
    """
    own = any(name.startswith("MALLOC_") for name in os.environ)
    return ({} if own else MALLOC) | {
        "CORPUSMILL_PYTHON": "python" if in_conda else sys.executable,
        "CORPUSMILL_ROOT": str(root),
        "CORPUSMILL_SCRIPTS": str(home / "scripts"),
        "CORPUSMILL_KILLED": SAY_KILLED,
        # Cluster jobs start with `python -m snakemake`, which would import modules from the folder
        # of the run.
        "PYTHONSAFEPATH": "1",
    }
