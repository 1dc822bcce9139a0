"""Checks before the first job that include exports: needed disk space and faults.

`run` itself does not know exports.
"""

import time
from pathlib import Path

from corpusmill.run.clock import clock_faults
from corpusmill.run.config import Config
from corpusmill.run.disk import Disk, disk_faults, expected_disk
from corpusmill.run.early_checks import EarlyCheck, faults_of, told_of_tokenizer
from corpusmill.run.early_shortages import certain_shortages
from corpusmill.run.layout import Layout


def wanted_disk(config: Config, layout: Layout) -> Disk:
    exports = config.output.exports
    if not exports:
        return expected_disk(config, layout, 0)
    from corpusmill.tools.export.exporting import disk_share  # imports numpy and pyarrow

    return expected_disk(config, layout, disk_share(exports))


def faults_before_run(
    config: Config,
    layout: Layout,
    checks: list[EarlyCheck],
    results: Path,
    knows_packages: bool = True,
) -> list[str]:
    """Return why a run would fail. knows_packages: whether jobs have the packages of this
    process."""
    faults = faults_of(checks)
    if config.output.exports and knows_packages:
        from corpusmill.tools.export.exporting import faults_ahead

        told = {} if faults else told_of_tokenizer(config, checks, results)
        faults += faults_ahead(config.output.exports, told.get("vocabulary"), config.output)
    faults += certain_shortages(config, layout.inputs.milled)
    faults += disk_faults(wanted_disk(config, layout).least, results)
    return faults + clock_faults(layout.inputs.every, results, time.time_ns())
