"""Check tokenizer and input files before any job, in other processes while the workflow is read."""

import atexit
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from corpusmill.messages.progress import awaiting
from corpusmill.mill.read.plugins import ENDED
from corpusmill.mill.storage.files import load_json
from corpusmill.run.config import TRAINED_END_OF_TEXT, Config
from corpusmill.run.inputs import Inputs
from corpusmill.run.plan import fault_of_name
from corpusmill.run.tokenizer_source import (
    SETTING_FILE,
    is_kept,
    kept_source,
    local_tokenizer,
    tokenizer_files,
)  # fmt: skip
from corpusmill.run.typed import as_given

NOTE = "NOTE: "
"""Prefix of the lines of a check that are notes, not faults."""


class EarlyCheck:
    """A check in its own process, which is killed when this process ends."""

    answers = False
    """Whether the check prints a result besides faults. Such a check runs no user code."""

    awaited = "the first records of the input files"

    def __init__(
        self, module: str, arguments: Sequence[str | Path], asked: str, root: Path
    ) -> None:
        """Start the check.

        module: prints one line per fault, then exits with code 1. asked: its standard input. root:
        the folder of the package.
        """
        path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
        self._module = module
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
            env=os.environ | {"PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if self.answers else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        atexit.register(self._process.kill)
        # Written now, so that the check works while the workflow is read; communicate() waits.
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError), self._process.stdin as standard_input:
            standard_input.write(asked)
        self._process.stdin = None

    def faults(self) -> list[str]:
        """Wait for the check and return its faults."""
        lines = self._said
        code = self._process.returncode
        if code < 0:
            return [self._killed(-code)]
        if (not code or not lines) and not self.answers and not self._ended:
            return [f"{self._module}: one of your readers ended the process. Correct the reader."]
        return lines if code else []

    def _killed(self, signal: int) -> str:
        return (
            f"{self._module}: killed (signal {signal}), most likely for lack of memory. Free some "
            "memory."
        )

    def notes(self) -> list[str]:
        """Return notes about likely mistakes that do not stop the run."""
        return []

    @cached_property
    def _answer(self) -> tuple[str, str]:
        with awaiting(self.awaited):
            return self._process.communicate()

    @property
    def _ended(self) -> bool:
        return self._answer[1].endswith(f"{ENDED}\n")

    @property
    def _said(self) -> list[str]:
        return self._answer[1].removesuffix(f"{ENDED}\n").strip().splitlines()


class TokenizerCheck(EarlyCheck):
    """A check that the tokenizer encodes plain text, and which token ends documents."""

    answers = True
    awaited = "the tokenizer"

    def faults(self) -> list[str]:
        return super().faults()[-1:]  # the library may print other lines first

    def _killed(self, signal: int) -> str:
        return (
            "tokenizer.source: the tokenizer took too much time or memory to encode a few words "
            f"(signal {signal}). Choose another tokenizer."
        )

    def told(self) -> dict[str, Any]:
        """Return `end_of_text` and `vocabulary`, if the check found no fault.

        A value is None if it is unknown until the tokenizer is loaded.
        """
        return dict(json.loads(self._answer[0].strip().splitlines()[-1]))

    def notes(self) -> list[str]:
        return [line.removeprefix(NOTE) for line in self._said if line.startswith(NOTE)]


class InputCheck(EarlyCheck):
    """A check that the first records of input files can be read and have a text."""

    def __init__(self, files: list[list], config: Config, root: Path) -> None:
        """files: as Asked in corpusmill/mill/read/first_records.py."""
        asked = {"milled": [source.name for source in config.milled]}
        super().__init__(
            "corpusmill.mill.read.first_records", [], _about(files, config, asked), root
        )
        more = f" and {len(files) - 1} more files" if files[1:] else ""
        readers = config.input.readers
        own = f", with {', '.join(readers)}" if readers else ""
        self.awaited = f"the first records of {files[0][1]}{more}{own}"


class KindCheck(EarlyCheck):
    """A check whether the preferred field has both numbers and texts in first records."""

    def __init__(self, files: list[list], config: Config, root: Path) -> None:
        """files: as for InputCheck, of milled sources."""
        asked = {"field": config.dedup.prefer.field}
        super().__init__(
            "corpusmill.mill.dedup.first_kinds", [], _about(files, config, asked), root
        )


class MemberCheck(EarlyCheck):
    """A check that first records have the members that filters, dedup.within, mixtures and orders
    use, and URLs if crawled."""

    def __init__(self, files: list[list], config: Config, root: Path) -> None:
        """files: as for InputCheck, of milled sources."""
        others: list[tuple[str, list[str], list[str]]] = []
        if config.dedup.within:
            exempt = [source.name for source in config.milled if source.duplicates == "none"]
            others.append(("dedup.within", [config.dedup.within], exempt))
        unused = [name for name, weight in config.weights.items() if not weight]
        others.append(("mixture.by", config.mixture_members, unused))
        if member := config.shuffle.order.member:
            others.append(("shuffle.order", [member], unused))
        asked = {
            "filters": as_given(config.filters), "others": others, "crawled": config.crawled,
        }  # fmt: skip
        super().__init__("corpusmill.run.absent_members", [], _about(files, config, asked), root)

    def faults(self) -> list[str]:
        return []  # InputCheck reports unreadable files

    def notes(self) -> list[str]:
        lines = self._said
        if faults := super().faults():
            return [f"could not check if records have the fields that are used: {faults[-1]}"]
        return lines


def _about(files: list[list], config: Config, asked: dict) -> str:
    """Return the standard input of a check of first records, as JSON."""
    about = {"files": files, "readers": config.input.readers, "limits": config.input.read_limits}
    return json.dumps(about | asked)


def early_checks(
    config: Config, inputs: Inputs, results: Path, root: Path, ask_hub: bool
) -> list[EarlyCheck]:
    """Start and return the checks of a run. ask_hub: whether to use the network."""
    checks: list[EarlyCheck] = []
    source, kept = config.tokenizer.source, results / "tokenizer"
    end_of_text, engine = config.tokenizer.end_of_text, config.tokenizer.engine
    for file in tokenizer_files(source):
        if told := fault_of_name(file):
            raise ValueError(f"tokenizer.source: {told}")
    if folder := local_tokenizer(source):
        state = "kept" if is_kept(folder, kept) else "new"
        arguments = [str(folder), end_of_text, state, engine]
        checks.append(TokenizerCheck("corpusmill.mill.tokens.tokenizer_check", arguments, "", root))
    elif source != "train" and (ask_hub or kept_source(kept) == source):
        state = "kept" if kept_source(kept) == source else "new"
        what = "vocabulary" if config.output.exports else "end"
        arguments = [source, end_of_text, state, what]
        checks.append(TokenizerCheck("corpusmill.mill.tokens.hub_check", arguments, "", root))
    if files := inputs.found_files():
        checks.append(InputCheck(files, config, root))
    milled = {source.name for source in config.milled}
    of_milled = [file for file in files if file[0] in milled]
    if of_milled and config.dedup.prefer.field:
        checks.append(KindCheck(of_milled, config, root))
    uses = config.members or config.crawled or any(one.members for one in config.filters)
    if of_milled and uses:
        checks.append(MemberCheck(of_milled, config, root))
    return checks


def faults_of(checks: list[EarlyCheck]) -> list[str]:
    return [fault for check in checks for fault in check.faults()]


def told_of_tokenizer(config: Config, checks: list[EarlyCheck], results: Path) -> dict[str, Any]:
    """Return `end_of_text` and `vocabulary` of the tokenizer; None for a value that is not known
    yet."""
    of_tokenizer = config.tokenizer
    if of_tokenizer.source == "train":
        return {
            "end_of_text": TRAINED_END_OF_TEXT, "vocabulary": of_tokenizer.train_vocabulary
        }  # fmt: skip
    found = [check.told() for check in checks if isinstance(check, TokenizerCheck)]
    told = found[0] if found else {"end_of_text": None, "vocabulary": None}
    if told["vocabulary"] is None and kept_source(results / "tokenizer") == named(config):
        told["vocabulary"] = load_json(results / "tokenizer" / SETTING_FILE).get("vocabulary")
    return told


def named(config: Config) -> str:
    """Return the name under which the run records its tokenizer."""
    source = config.tokenizer.source
    folder = local_tokenizer(source)
    return folder.resolve().name if folder else str(source)


def notes_of(checks: list[EarlyCheck]) -> list[str]:
    """Return the notes of checks that found no fault."""
    return [note for check in checks for note in check.notes()]
