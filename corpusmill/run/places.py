"""Where the workflow's files are: around the package in a checkout, inside it when installed."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def workflow_home() -> Path:
    """The folder of Snakefile, config.yaml, rules/ and scripts/."""
    installed = PACKAGE / "workflow"
    return installed if installed.is_dir() else PACKAGE.parent
