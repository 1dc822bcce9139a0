"""The output of `corpusmill export`."""

from pathlib import Path

from corpusmill.run.job_progress import phase
from corpusmill.tools.export.exporting import Exporting, format_of, known_formats
from corpusmill.tools.export.target import DEFAULT


def table() -> list[str]:
    """Return one or two lines for each format."""
    lines = []
    for name in known_formats():
        form = format_of(name)
        lines += [f"{name:14} {form.read_by}", f"{'':14} {form.layout}"]
    return lines


def export(name: str, results: Path, to: Path | None, length: int, packed: bool) -> str:
    """Write the export and return the message."""
    exporting = Exporting(name, results, to or DEFAULT / name, length, packed)
    with phase(f"exporting {name}", exporting.bytes, "MB") as progress:
        record = exporting.write(progress)
    splits = ", ".join(
        f"{split} {facts['documents']:,} documents, {facts['tokens']:,} tokens"
        for split, facts in record["splits"].items()
    )
    size = sum(file["bytes"] for file in record["files"])
    return f"{exporting.folder}: {len(record['files'])} files, {size / 1e6:,.1f} MB. {splits}."
