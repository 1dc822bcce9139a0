"""The configuration of a workflow that Snakemake reads."""

import sys
from pathlib import Path
from typing import Any

from corpusmill.messages.plain_text import told_lines
from corpusmill.run.config import Config
from corpusmill.run.config_files import (
    as_in_files,
    laid_over,
    refuse_config_without_sources,
    refuse_repeated_keys,
    replaced_lists,
)


def workflow_config(workflow: Any, config: dict) -> Config:
    """Return the checked configuration; raise ValueError with one line per fault.

    config: Snakemake's.
    """
    told = workflow.config_settings
    given = as_in_files(config, told.config)
    refuse_repeated_keys(told.configfiles)
    refuse_config_without_sources(told.configfiles, told.overwrite_config)
    if workflow.is_main_process:
        for notice in replaced_lists(told.configfiles):
            print(told_lines(f"NOTE: {notice}"), file=sys.stderr)
    return Config.checked(given)


def module_config(shipped: Path, config: dict) -> Config:
    """Return the checked configuration if another workflow uses ours as a module."""
    given = laid_over(shipped, config)
    refuse_config_without_sources([Path("the module's config")], config)
    return Config.checked(given)
