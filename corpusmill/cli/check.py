"""All checks before the first job, with all faults reported together."""

import platform
from importlib.metadata import version
from pathlib import Path

import yaml

from corpusmill.messages import disk_errors
from corpusmill.messages.sentences import sentence
from corpusmill.mill.demo.files import GENERATED
from corpusmill.mill.storage.regular_files import NotRegularError
from corpusmill.run.config import Config
from corpusmill.run.config_files import (
    ConfigFile,
    laid_over,
    read_config_file,
    refuse_config_without_sources,
)
from corpusmill.run.disk import amount, free_bytes
from corpusmill.run.early_checks import early_checks, faults_of, notes_of, told_of_tokenizer
from corpusmill.run.early_shortages import likely_shortages
from corpusmill.run.layout import Layout
from corpusmill.run.workflow_files import PACKAGE, workflow_home
from corpusmill.tools.export.before_run import faults_before_run, wanted_disk

RESULTS = Path("results")


def checked(configs: list[Path]) -> tuple[list[str], list[str]]:
    """Return (facts, faults) of a configuration."""
    try:
        config, layout = planned(configs)
    except ValueError as error:
        return [], str(error).splitlines()
    checks = early_checks(config, layout.inputs, RESULTS, PACKAGE.parent, ask_hub=True)
    faults = faults_before_run(config, layout, checks, RESULTS)
    told = {} if faults_of(checks) else told_of_tokenizer(config, checks, RESULTS)
    notes = [*layout.inputs.skipped]
    if not faults:
        notes += [*notes_of(checks), *likely_shortages(config, layout.inputs.milled)]
    about = facts(config, layout, told.get("end_of_text"))
    return about + [f"NOTE: {note}" for note in notes], faults


def planned(configs: list[Path]) -> tuple[Config, Layout]:
    """Return the configuration of these files and the layout of its run in this folder. Raise
    ValueError, one line per fault, if it cannot run."""
    config = checked_config(configs)
    return config, Layout.planned(config, RESULTS, GENERATED)


def checked_config(configs: list[Path]) -> Config:
    """Merge the config files over the shipped one, as Snakemake does. Raise ValueError, one line
    per fault, if they cannot be run."""
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
    """Read a config file. Raise ValueError if it is not YAML or has no keys."""
    try:
        found = read_config_file(path)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8. Save it as UTF-8.") from error
    except NotRegularError:
        raise  # its message is complete
    except OSError as error:
        raise ValueError(disk_errors.in_words(error)) from error
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {sentence(' '.join(str(error).split()))} Correct it.") from error
    except RecursionError:
        raise ValueError(
            f"{path}: lists or mappings are nested too deeply to be read. Nest them less."
        ) from None
    if not isinstance(found.value, dict):
        kind = "nothing" if found.value is None else f"a {type(found.value).__name__}"
        raise ValueError(f"{path}: expected a mapping of keys to values, found {kind}.")
    return found


def facts(config: Config, layout: Layout, end_of_text: str | None) -> list[str]:
    """Describe what would run, and with which versions."""
    ends = end_of_text or "the eos_token of the tokenizer, which is not downloaded yet"
    inputs = layout.inputs
    wanted = wanted_disk(config, layout).likely
    return [
        f"sources      {len(config.milled)}; files: {len(inputs.milled):,}, about "
        f"{inputs.text_bytes / 1e6:,.0f} MB of text; parts: {len(inputs.parts):,}",
        f"held out     files: {len(inputs.held_out):,}",
        f"tokenizer    {config.tokenizer.source}; documents end with {ends}",
        f"shards       {', '.join(f'{split} {n}' for split, n in layout.shards.items())}",
        f"disk         about {amount(wanted)} needed, {amount(free_bytes(RESULTS))} free",
        f"versions     Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in ("snakemake", "numpy", "pyarrow")),
    ]
