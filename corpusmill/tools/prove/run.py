"""A finished run prepared for rebuilding: configuration, plan and steps, with the findings."""

import functools
import importlib.metadata
import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from corpusmill.mill.storage.regular_files import regular_state
from corpusmill.mill.storage.sha256 import file_sha256
from corpusmill.mill.storage.untrusted import load_plain_json, whole_file
from corpusmill.run.code_digest import code_digest
from corpusmill.run.config import Config, config_digest
from corpusmill.run.config_files import laid_over
from corpusmill.run.inputs import Inputs
from corpusmill.run.job import bound
from corpusmill.run.layout import Layout
from corpusmill.run.plan import InputFile, Part, parts_of
from corpusmill.run.step_settings import StepSettings
from corpusmill.run.steps import STEPS
from corpusmill.run.workflow_files import PACKAGE, workflow_home
from corpusmill.tools.verify.findings import Findings, NoCorpusError
from corpusmill.tools.verify.listing import Listing, read_listing
from corpusmill.tools.verify.locations import LocalPlace


class Finished(NamedTuple):
    """A run to prove, and the folder in which it is rebuilt."""

    results: Path
    scratch: Path
    """The folder is also named `results`, because checksum files contain paths that begin with this
    name."""
    config: Config
    layout: Layout
    settings: StepSettings
    shards: dict[str, int]
    listing: Listing
    findings: Findings

    @property
    def config_digest(self) -> str:
        return str(self.listing.content.get("config_digest"))

    def kept(self, name: str) -> bool:
        """Say whether a results file matches the manifest; report if not."""
        if self.findings.damaged(name):
            return False
        listed = self.listing.files.get(name)
        if listed is None:
            self.findings.damage("manifest.json", f"does not list {name}")
            return False
        try:
            found = file_sha256(self.results / name)
        except FileNotFoundError:
            self.findings.damage(name, "it is missing")
            return False
        if found != listed.sha256:
            self.findings.damage(name, f"expected SHA-256 {listed.sha256}, found {found}")
            return False
        return True

    def step(self, name: str, **given: Any) -> None:
        """Run a step in this process. given: its inputs, outputs and parameters."""
        function = getattr(step_module(name), name)
        told = json.loads(json.dumps(given, default=str))
        function(**bound(function, told))


@functools.cache
def step_module(name: str) -> Any:
    """Load scripts/<name>.py, which is not in the package."""
    path = workflow_home() / f"scripts/{name}.py"
    spec = importlib.util.spec_from_file_location(f"corpusmill_step_{name}", path)
    assert spec, path
    assert spec.loader, path
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def opened(results: Path, scratch: Path, named: Config | None) -> Finished:
    """Open a finished run. Raise NoCorpusError if it cannot be rebuilt.

    named: the configuration given by the user; None: that of the summary.
    """
    findings = Findings()
    listing = read_listing(LocalPlace(results), findings)
    config = config_of(results, listing, named)
    parts, held_out = plan_of(results, listing, config)
    shards = {
        split: sum(1 for name in listing.files if name.startswith(f"placements/{split}/"))
        for split in config.written_splits
    }
    layout = Layout(config, Inputs(config, parts, held_out))
    settings = StepSettings(config, layout.inputs)
    shards = {split: count for split, count in shards.items() if count}
    return Finished(results, scratch, config, layout, settings, shards, listing, findings)


def config_of(results: Path, listing: Listing, named: Config | None) -> Config:
    """Return the configuration of the corpus. Its digest is in the manifest."""
    if named:
        where, config, given = "the configuration that you named", named, named.given
    else:
        path = results / "summary.json"
        where = str(path)
        try:
            given = load_plain_json(path)["configuration"]
            # The summary omits keys that affect no results.
            config = Config.read(laid_over(workflow_home() / "config.yaml", given))
            refuse_own_code(path, config)
            config.refuse_faults()
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, NoCorpusError):
                raise
            said = (str(error).splitlines() or [""])[0]
            raise NoCorpusError(
                f"{path} does not contain the configuration of the run ({type(error).__name__}: "
                f"{said}). Name its config file: corpusmill prove CONFIG"
            ) from error
    expected, found = listing.content.get("config_digest"), config_digest(given)
    if found != expected:
        raise NoCorpusError(
            f"{where}: expected the digest in manifest.json, {expected}, found {found}. Name all "
            "config files of the run, in the same order."
        )
    return config


def refuse_own_code(path: Path, config: Config) -> None:
    """Raise NoCorpusError if a configuration beside results names Python files, other files that
    filters read, or regular expressions: it may be a stranger's."""
    way = "Name the config files of the run: corpusmill prove CONFIG"
    filters = [one.file for one in config.filters if one.file is not None]
    for file in [*config.input.readers, *filters]:
        raise NoCorpusError(
            f"{path} uses custom code, {file}, which runs only if you name the config. {way}"
        )
    for one in config.filters:
        for file in one.named_files:
            raise NoCorpusError(
                f"{path} names a file for the filter {one.name}, {file}, which is read only if you "
                f"name the config. {way}"
            )
        if one.patterns:
            raise NoCorpusError(
                f"{path} has a regular expression for the filter {one.name}, and regular "
                f"expressions can run forever. {way}"
            )


def plan_of(results: Path, listing: Listing, config: Config) -> tuple[list[Part], list[InputFile]]:
    """Return the parts and the held-out files of the run."""
    path = results / "plan/parts.jsonl"
    try:
        lines = whole_file(path).splitlines()[1:]
    except OSError as error:
        raise NoCorpusError(
            f"{path} is missing. This file lists the input files of each part: restore it."
        ) from error
    parts = [
        # Copied inputs have another time, but the same SHA-256.
        part._replace(files=[file._replace(bytes=None, mtime_ns=None) for file in part.files])
        for part in parts_of(lines, path)
    ]
    for file in (file for part in parts for file in part.files):
        if os.path.lexists(file.path):
            regular_state(file.path)
    inputs = listing.content.get("inputs", [])
    milled = [file.path for part in parts for file in part.files]
    if [one["path"] for one in inputs[: len(milled)]] != milled:
        raise NoCorpusError(
            f"{path} lists different input files from manifest.json, so it is from a different "
            "run. Restore the original file of this corpus."
        )
    rest = inputs[len(milled) :]
    return parts, [InputFile(one["source"], one["path"], 0) for one in rest]


def other_code(run: Finished) -> list[str]:
    """Return the steps whose code differs from the one that made the corpus."""
    known = run.listing.content.get("code", {})
    scripts = workflow_home() / "scripts"
    return [
        name
        for name, step in STEPS.items()
        if step.is_proved
        and name in known
        and code_digest(PACKAGE.parent, scripts / f"{name}.py", *step.plugin_files(run.config))
        != known[name]
    ]


def other_versions(results: Path, find: Callable[[str], str] = importlib.metadata.version) -> str:
    """Name the packages whose versions differ from those that made the corpus."""
    try:
        known = load_plain_json(results / "summary.json")["versions"]
        told = {str(name): str(version) for name, version in known.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ""

    def found(name: str) -> str:
        try:
            return find(name)
        except (importlib.metadata.PackageNotFoundError, ValueError):
            return "not installed"

    ours = {name: found(name) for name in told if name not in ("corpusmill", "python")}
    return ", ".join(
        f"{name} {version} ({told[name]} then)"
        for name, version in ours.items()
        if version != told[name]
    )
