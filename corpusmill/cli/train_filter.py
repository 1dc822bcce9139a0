"""`corpusmill train-filter`: trains a quality model on files of good and bad texts."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from corpusmill.messages.progress import Progress
from corpusmill.messages.sentences import sentence
from corpusmill.mill.filters.models.evaluation import Evaluation
from corpusmill.mill.filters.models.examples import Counts, ExampleFile, Examples
from corpusmill.mill.filters.models.quality_model import MAGIC, Definition, save_quality_model
from corpusmill.mill.filters.models.training import Settings, Trained, trained
from corpusmill.mill.read.normalization import nfc
from corpusmill.mill.read.readers import format_of, formats, read_records
from corpusmill.mill.read.records import Malformed
from corpusmill.mill.storage.files import save_plain_json
from corpusmill.run.job_progress import phase
from corpusmill.run.listing import files_beneath, matches

REPORT = "corpusmill.quality_report"
"""Format name at the start of a report."""


class Asked(NamedTuple):
    """Training files and the place of the model."""

    good: Sequence[str]
    bad: Sequence[str]
    text_field: str
    output: Path


def train_filter(asked: Asked, definition: Definition, settings: Settings) -> str:
    """Train the model and save it with its report. Return the report in words. Raise ValueError if
    the files are not suitable."""
    files = {True: listed(asked.good, "--good"), False: listed(asked.bad, "--bad")}
    refuse_files_of_others(asked.output)
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    examples, counts = read_examples(files, asked, definition)
    with phase("learning", settings.epochs, "epochs") as progress:
        found = trained(examples, definition, settings, progress)
    digest = save_quality_model(asked.output, found.model)
    report = report_of(found, counts, definition, settings) | {"sha256": digest}
    save_plain_json(report_path(asked.output), report)
    return in_words(found, counts, asked.output)


def read_examples(
    files: dict[bool, list[str]], asked: Asked, definition: Definition
) -> tuple[Examples, Counts]:
    with ExampleFile(asked.output.parent, definition) as collected:
        for good, paths in files.items():
            name = "good" if good else "bad"
            with phase(f"reading {name} texts", sum(map(os.path.getsize, paths))) as progress:
                for path in paths:
                    if not collected.add(texts_of(path, asked.text_field, progress), good):
                        raise ValueError(
                            f"{path}: expected {name} texts, found a file without records. Leave "
                            "the file out."
                        )
        return collected.examples()


def refuse_files_of_others(output: Path) -> None:
    """Raise ValueError if the model file exists and is not from an earlier training. Only those may
    be replaced."""
    begins = {output: MAGIC, report_path(output): f'{{\n "{REPORT}"'.encode()}
    for path, expected in begins.items():
        if path.exists():
            with open(path, "rb") as file:
                found = file.read(len(expected))
            if found != expected:
                raise ValueError(
                    f"{path} already exists, and train-filter did not write this file: it begins "
                    f"with {found!r}. Name another file with --output."
                )


def report_path(output: Path) -> Path:
    return output.with_name(f"{output.name}.json")


def listed(patterns: Sequence[str], option: str) -> list[str]:
    """Return the files of paths, patterns and folders, each once."""
    found: set[str] = set()
    for pattern in patterns:
        some = (
            files_beneath(pattern, formats(), []) if os.path.isdir(pattern)
            else matches(pattern, []) or {pattern}
        )  # fmt: skip
        if not some:
            raise ValueError(
                f"{option} {pattern}: expected files that end in {', '.join(formats())}, found "
                "none in this folder. Name another folder."
            )
        found |= some
    for path in sorted(found):
        if not os.path.isfile(path):
            raise ValueError(f"{option} {path}: expected a file, found none. Correct the path.")
        format_of(path)
    return sorted(found)


def texts_of(path: str, text_field: str, progress: Progress) -> Iterator[str]:
    """Yield the texts of a file, as `normalize` makes them."""
    for record in read_records(path, text_field, progress):
        if isinstance(record, Malformed):
            raise ValueError(
                f"{path}:{record.line}: expected a record with a text, found "
                f"{sentence(record.reason)} Repair the record, or name the field with the text "
                "with --text-field."
            )
        yield nfc(record.text)


def report_of(
    found: Trained, counts: Counts, definition: Definition, settings: Settings
) -> dict[str, Any]:
    return {
        REPORT: 1,
        "texts": counts._asdict() | {"learnt_from": found.learnt_from},
        "definition": definition._asdict(),
        "settings": settings._asdict(),
        "held_out": found.evaluation.as_json(),
    }


def in_words(found: Trained, counts: Counts, output: Path) -> str:
    tested, learnt_from = found.evaluation, found.learnt_from
    lines = [
        f"texts     {counts.read:,} read; left out: {counts.repeated:,} repeated, "
        f"{counts.in_both:,} both good and bad, {counts.without_words:,} without words",
        f"trained   on {learnt_from['good']:,} good and {learnt_from['bad']:,} bad texts",
        f"held out  {tested.good:,} good and {tested.bad:,} bad texts: accuracy "
        f"{tested.accuracy:.4f}, ROC AUC {tested.roc_auc:.4f}",
        "",
        *table(tested),
        "",
        f"Wrote {output} and {report_path(output)}. In the configuration: filters: "
        f"[{{name: quality_model, model: {output}, min_score: 0.5}}]",
    ]
    return "\n".join(lines)


def table(tested: Evaluation) -> Iterator[str]:
    yield "min_score  precision  good kept  bad kept"
    for one in tested.thresholds:
        precision = "-" if one.precision is None else f"{one.precision:.4f}"
        yield (
            f"{one.min_score:9.1f}  {precision:>9}  {100 * one.recall:7.2f} %  "
            f"{100 * one.bad_kept:6.2f} %"
        )
