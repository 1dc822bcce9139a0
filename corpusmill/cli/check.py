"""Everything that can be known before the first job, all of it at once."""

import platform
import time
from importlib.metadata import version
from pathlib import Path

import yaml

from corpusmill.messages import disk_errors
from corpusmill.messages.sentences import sentence
from corpusmill.mill.demo.files import EVALUATION_FILES
from corpusmill.mill.demo.files import FILES as DEMO_FILES
from corpusmill.mill.storage.regular_files import NotRegularError
from corpusmill.run.clock import clock_faults
from corpusmill.run.config import Config
from corpusmill.run.config_files import (
    ConfigFile,
    laid_over,
    read_config_file,
    refuse_config_without_sources,
)
from corpusmill.run.disk import Disk, amount, disk_faults, expected_disk, free_bytes
from corpusmill.run.early_checks import (
    early_checks,
    faults_of,
    notes_of,
    told_of_tokenizer,
)
from corpusmill.run.layout import Layout
from corpusmill.run.workflow_files import PACKAGE, workflow_home

RESULTS = Path("results")
GENERATED = {f"results/demo/{name}": n for name, n in (DEMO_FILES | EVALUATION_FILES).items()}


def checked(configs: list[Path]) -> tuple[list[str], list[str]]:
    """(facts, faults): what is there, and what is wrong with it."""
    try:
        config = checked_config(configs)
        layout = Layout.planned(config, RESULTS, GENERATED, lambda: False)
    except ValueError as error:
        return [], str(error).splitlines()
    checks = early_checks(config, layout, RESULTS, PACKAGE.parent, ask_hub=True)
    faults = faults_of(checks)
    told = {} if faults else told_of_tokenizer(config, checks, RESULTS)
    faults += faults_ahead(config, told.get("vocabulary"))
    faults += disk_faults(wanted_disk(config, layout).least, RESULTS)
    faults += clock_faults(layout.input_files, RESULTS, time.time_ns())
    notes = layout.skipped + ([] if faults else notes_of(checks))
    about = facts(config, layout, told.get("end_of_text"))
    return about + [f"NOTE: {note}" for note in notes], faults


def checked_config(configs: list[Path]) -> Config:
    """The config files over one another and over the shipped one, as Snakemake lays them;
    ValueError, a line per fault, if they cannot be run."""
    config = laid_over(workflow_home() / "config.yaml", {})
    given: dict = {}
    faults: list[str] = []
    for path in configs:
        found, repeated_keys = loaded(path)
        faults += repeated_keys
        given |= found
        config = laid_over(config, found)
    if faults:
        raise ValueError("\n".join(faults))
    refuse_config_without_sources(configs, given)
    return Config.checked(config)


def loaded(path: Path) -> ConfigFile:
    """ValueError for a file that is none, or has no keys."""
    try:
        found = read_config_file(path)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8. Save it as UTF-8.") from error
    except NotRegularError:
        raise  # it names the file, and says what to do
    except OSError as error:
        raise ValueError(disk_errors.in_words(error)) from error
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {sentence(' '.join(str(error).split()))} Correct it.") from error
    except RecursionError:
        raise ValueError(f"{path}: lists in lists deeper than YAML is read. Correct it.") from None
    if not isinstance(found.value, dict):
        kind = "nothing" if found.value is None else f"a {type(found.value).__name__}"
        raise ValueError(f"{path}: expected keys and values, found {kind}.")
    return found


def wanted_disk(config: Config, layout: Layout) -> Disk:
    from corpusmill.tools.export.exporting import disk_share  # and with it numpy and pyarrow

    return expected_disk(config, layout, disk_share(config.output.exports))


def faults_ahead(config: Config, vocabulary: int | None) -> list[str]:
    from corpusmill.tools.export.exporting import faults_ahead  # and with it numpy and pyarrow

    return faults_ahead(config.output.exports, vocabulary)


def facts(config: Config, layout: Layout, end_of_text: str | None) -> list[str]:
    """What would be run, and with what."""
    ends = end_of_text or "the eos_token of the tokenizer, which is not here yet"
    files = [file for part in layout.parts for file in part.files]
    wanted = wanted_disk(config, layout).likely
    return [
        f"sources      {len(layout.weights)}; files: {len(files):,}, about "
        f"{layout.text_bytes / 1e6:,.0f} MB of text; parts: {len(layout.parts):,}",
        f"held out     files: {len(layout.held_out):,}",
        f"tokenizer    {config.tokenizer.source}; documents end with {ends}",
        f"shards       {', '.join(f'{split} {n}' for split, n in layout.shards.items())}",
        f"disk         about {amount(wanted)} wanted, {amount(free_bytes(RESULTS))} free",
        f"versions     Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in ("snakemake", "numpy", "pyarrow")),
    ]
