"""Where the workflow's files are: around the package in a checkout, inside it when installed."""

import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def workflow_home() -> Path:
    """The folder of Snakefile, config.yaml, rules/ and scripts/."""
    installed = PACKAGE / "workflow"
    return installed if installed.is_dir() else PACKAGE.parent


def snakemake_with_workflow() -> list[str]:
    """The beginning of a command that runs Snakemake with our workflow.

    -P: modules in the folder of the run, a random.py beside the data, are nobody's to import. Nor
    is a profile there, profiles/default, anybody's to obey.
    """
    home = workflow_home()
    command = [sys.executable, "-P", "-m", "snakemake", "-s", str(home / "Snakefile")]
    return [*command, "--workflow-profile", str(home / "profiles/default")]
