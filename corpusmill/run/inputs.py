"""The input files of a run: which part has which files, in which state.

wildcards: an object with the number of a part as text. Some functions do not need them, but
Snakemake would take a brace in a literal file name for a wildcard.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

from corpusmill.mill.demo.files import DEMO
from corpusmill.run.config import Config
from corpusmill.run.input_files import replaced
from corpusmill.run.plan import (
    InputFile,
    Part,
    earlier_parts,
    list_inputs,
    plan_lines,
    plan_parts,
    refuse_other_corpus,
    refuse_too_many_parts,
)
from corpusmill.run.record import load_record, refuse_other_run

# Times the expected text: four bytes per compressed byte. Text seldom compresses to a tenth.
MOST_EXPANSION = 8


class Inputs:
    def __init__(self, config: Config, parts: list[Part], held_out: list[InputFile]) -> None:
        """held_out: the files of held_out sources."""
        self._config, self.parts, self.held_out = config, parts, held_out
        self.skipped: list[str] = []
        """One sentence per symlink to a folder that is already read."""
        self.noted: dict[str, str] = {}
        """Path -> SHA-256 of files that were replaced with equal size and time."""
        self.read_before: dict[str, str] = {}
        """Path -> SHA-256 of all files that the last finished run had read."""

    @classmethod
    def planned(cls, config: Config, results: Path, generated: dict[str, int]) -> "Inputs":
        """Return the inputs of a run in a folder, which may hold earlier results.

        Raise ValueError if these are of another corpus. generated: files that a rule makes, and
        their text bytes.
        """
        if results.exists() and not results.is_dir():
            raise ValueError(
                f"{results} is a file, but the run needs a folder of that name. Move the file."
            )
        skipped: list[str] = []
        files = list_inputs(config.sources, generated, config.input.readers, skipped)
        names = {source.name for source in config.milled}
        milled = [file for file in files if file.source in names]
        refuse_other_corpus(milled, generated, results)
        part_bytes = config.input.part_bytes
        record = load_record(results / "plan/record.json")
        refuse_other_run(record, results)
        finished = record["finished"]
        parts = plan_parts(milled, part_bytes, earlier_parts(finished, part_bytes))
        refuse_too_many_parts(parts, part_bytes)
        inputs = cls(config, parts, [file for file in files if file.source not in names])
        inputs.noted = record["noted"]
        inputs.skipped = list(dict.fromkeys(skipped))
        inputs.read_before = finished["inputs"] if finished else {}
        return inputs

    def note_replaced(self, results: Path) -> None:
        """Read all files, and note those that were replaced with equal size and time."""
        counts = [results / "text" / f"{part.name}.json" for part in self.parts]
        self.noted |= replaced(self.every, [*counts, results / "holdout/evaluation.json"])

    @property
    def milled(self) -> list[InputFile]:
        return [file for part in self.parts for file in part.files]

    @property
    def every(self) -> list[InputFile]:
        return [*self.milled, *self.held_out]

    @cached_property
    def text_bytes(self) -> int:
        """Expected text bytes of all parts."""
        return sum(part.text_bytes for part in self.parts)

    @property
    def generation(self) -> int:
        """Number of runs that added files, the first included."""
        return max(part.generation for part in self.parts)

    @property
    def grown(self) -> bool:
        """Whether files were added to those of a finished run."""
        before = self.read_before
        return bool(before) and any(file.path not in before for file in self.milled)

    @property
    def uses_demo(self) -> bool:
        """Whether an input file is one of the bundled demo corpus."""
        return any(file.path.startswith(f"{DEMO}/") for file in self.milled)

    def part_of(self, wildcards: Any) -> Part:
        return self.parts[int(wildcards.part)]

    def files_of_part(self, wildcards: Any) -> list[str]:
        return [file.path for file in self.part_of(wildcards).files]

    def states_of_part(self, wildcards: Any) -> list[dict]:
        return self._states(self.part_of(wildcards).files)

    def most_text_bytes(self, wildcards: Any) -> int:
        """Return the maximum text bytes that a part may have: part_bytes, or a multiple of the
        planned bytes.

        It stops a run early if a few bytes decompress to gigabytes.
        """
        planned = self.part_of(wildcards).text_bytes
        return max(self._config.input.part_bytes, MOST_EXPANSION * planned)

    def milled_files(self, wildcards: Any) -> list[str]:
        return [file.path for file in self.milled]

    def milled_states(self, wildcards: Any) -> list[dict]:
        return self._states(self.milled)

    def held_out_files(self, wildcards: Any) -> list[str]:
        return [file.path for file in self.held_out]

    def held_out_states(self, wildcards: Any) -> list[dict]:
        return self._states(self.held_out)

    def plan_lines(self, wildcards: Any) -> list[str]:
        return plan_lines(self.parts, self._config.input.part_bytes)

    @cached_property
    def _text_fields(self) -> dict[str, str]:
        return {source.name: source.text_field for source in self._config.sources}

    def _states(self, files: list[InputFile]) -> list[dict]:
        """Return source, path, text field and expected state of each file."""
        return [
            {
                "source": file.source,
                "path": file.path,
                "text_field": self._text_fields[file.source],
                "bytes": file.bytes,
                "mtime_ns": file.mtime_ns,
                **({"sha256": self.noted[file.path]} if file.path in self.noted else {}),
            }
            for file in files
        ]

    def found_files(self) -> list[list]:
        """Return the input files that exist before the run, as Asked in mill/read/first_records."""
        sources = {source.name: source for source in self._config.sources}
        return [
            [
                file.source,
                file.path,
                sources[file.source].text_field,
                sources[file.source].max_malformed_fraction,
            ]
            for file in self.every
            if file.mtime_ns is not None
        ]
