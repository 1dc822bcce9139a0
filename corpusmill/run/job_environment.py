"""The variables that jobs inherit from the Snakemake of their run."""

import sys
from pathlib import Path

from corpusmill.run.step_log import SAY_KILLED


def job_environment(home: Path, root: Path, in_conda: bool) -> dict[str, str]:
    """home: the folder of scripts/; root: where the package lies."""
    return {
        "CORPUSMILL_PYTHON": "python" if in_conda else sys.executable,
        "CORPUSMILL_ROOT": str(root),
        "CORPUSMILL_SCRIPTS": str(home / "scripts"),
        "CORPUSMILL_KILLED": SAY_KILLED,
        # Those of a cluster start with `python -m snakemake`, which would import modules that lie
        # in the folder of the run.
        "PYTHONSAFEPATH": "1",
        # Jobs hold a few large buffers for a short time. pyarrow's own allocator gives each back to
        # the system at once and a third of a scatter job went into page faults; glibc's keeps them,
        # and with this tunable (2.35 and later, others ignore it) takes huge pages where it can.
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    }
