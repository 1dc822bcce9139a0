"""The results of a finished run, opened for look-ups. Missing files are reported at once."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpusmill.mill.storage.untrusted import load_plain_json, whole_file
from corpusmill.run.config import Config
from corpusmill.run.config_files import laid_over
from corpusmill.run.plan import InputFile, Part, parts_of
from corpusmill.run.workflow_files import workflow_home

MOST_PARTS = 100_000
"""Numbers of parts have five digits."""


def refuse_unfinished(folder: Path) -> None:
    """Raise ValueError if a folder has no results of a finished run."""
    if (folder / "summary.json").is_file() and (folder / "plan/parts.jsonl").is_file():
        return
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}. Name your results folder: --results DIR")
    if not (folder / "plan").is_dir():
        raise ValueError(
            f"{folder} has no results of corpusmill, expected {folder}/summary.json and "
            f"{folder}/plan. Name the results folder: --results DIR"
        )
    raise ValueError(
        f"{folder} has results of a run that is not finished: there is no {folder}/summary.json. "
        "Finish it first: corpusmill run"
    )


def configuration_of(folder: Path, given: Any) -> Config:
    """Return the configuration of a finished run from its summary."""
    try:
        return Config.read(laid_over(workflow_home() / "config.yaml", given))
    except (ValueError, TypeError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise ValueError(
            f"{folder}/summary.json: the configuration cannot be read: {first}"
        ) from error


class Results:
    """A folder of results."""

    def __init__(self, folder: Path, readers: Sequence[str] = ()) -> None:
        """Open it. Raise ValueError if no run has finished there. readers: the user's own. Readers
        named by the results are untrusted and never run."""
        refuse_unfinished(folder)
        self.folder, self.readers = folder, readers
        summary = load_plain_json(folder / "summary.json")
        if not isinstance(summary, dict) or "configuration" not in summary:
            raise ValueError(
                f"{folder}/summary.json was written by an earlier version of corpusmill and does "
                "not contain the configuration of its run. Run again: corpusmill run"
            )
        self.config = configuration_of(folder, summary["configuration"])
        self.sources = {source.name: source for source in self.config.sources}

    def path(self, pattern: str, part: int) -> Path:
        """Return the file of a part, by a pattern such as `ledger/{}.parquet`."""
        return self.folder / pattern.format(f"{part:05d}")

    @functools.cached_property
    def parts(self) -> int:
        """Return the number of parts. Lines are counted, not parsed: they may be long."""
        return len(self._plan) - 1

    @functools.cached_property
    def _plan(self) -> list[bytes]:
        path = self.folder / "plan/parts.jsonl"
        lines = whole_file(path).split(b"\n", MOST_PARTS + 1)
        if len(lines) > MOST_PARTS + 1:  # one of them is the header
            raise ValueError(
                f"{path}: expected at most {MOST_PARTS:,} lines, found more. Copy it again."
            )
        return [line for line in lines if line]

    @functools.cached_property
    def files(self) -> dict[str, tuple[Part, InputFile]]:
        """Return every input file by its path, as it was when the run began, with its part."""
        parts = parts_of(self._plan[1:], self.folder / "plan/parts.jsonl")
        return {file.path: (part, file) for part in parts for file in part.files}

    def input_file(self, path: str) -> Path:
        """Return the path of an input file: relative ones start at the folder that contains the
        results."""
        return self.folder.parent / path

    @functools.cached_property
    def shards(self) -> dict[str, int]:
        """Return the number of shards of each split."""
        found = {}
        for split in self.config.written_splits:
            count = 0
            while (self.folder / f"placements/{split}/{count:05d}.parquet").exists():
                count += 1
            found[split] = count
        return found

    @property
    def text_ending(self) -> str:
        return str(self.config.output.format)
