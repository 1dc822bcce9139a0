"""Paths of the workflow's files: around the package in a checkout, inside it when installed."""

import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def workflow_home() -> Path:
    """Return the folder of Snakefile, config.yaml, rules/ and scripts/."""
    installed = PACKAGE / "workflow"
    return installed if installed.is_dir() else PACKAGE.parent


def snakemake_with_workflow() -> list[str]:
    """Return the start of a command that runs Snakemake with our workflow.

    With -P no module in the folder of the run is imported, such as a random.py beside the data. A
    folder profiles/default there is ignored too.
    """
    home = workflow_home()
    command = [sys.executable, "-P", "-m", "snakemake", "-s", str(home / "Snakefile")]
    return [*command, "--workflow-profile", str(home / "profiles/default")]
