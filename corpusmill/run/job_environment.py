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
    }
