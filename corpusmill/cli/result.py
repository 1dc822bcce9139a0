"""The summary at the end of a run: what became of the documents, the time and the output files."""

import json
from pathlib import Path

from corpusmill.cli.run_progress import Run
from corpusmill.cli.watching import Folder
from corpusmill.run.job_progress import duration

LIES_WHERE = [
    ("results/tokens/", "{tokens:,} token ids for training, one folder per split"),
    ("results/corpus/", "the same documents as text"),
    ("results/ledger/", "what happened to every input record, and why"),
    ("results/summary.json", "the table above, and the time and memory of every rule"),
    ("results/manifest.json", "every file with its size and SHA-256"),
    ("results/eye_test.txt", "decoded samples: look at them"),
]


def result(run: Run) -> str:
    """Describe a successful run in this folder."""
    summary_file = Path("results/summary.json")
    if not run.total:
        return "Nothing to do: results/ is up to date."
    if not summary_file.exists():
        return f"Done: {run.finished} jobs in {duration(run.elapsed)}."
    summary = json.loads(summary_file.read_text("utf-8"))
    folder = Folder(Path())
    folder.look()
    run = folder.as_run()  # as `watch` reads it
    megabytes = folder.done.text_bytes / 1e6
    # Only what this run has read: a resumed run skips the rest of the text.
    read = f": {megabytes:,.1f} MB of text read, {megabytes / max(run.elapsed, 1e-9):.1f} MB/s"
    lines = [
        Path("results/summary.txt").read_text("utf-8").rstrip(),
        "",
        f"{run.finished} jobs in {duration(run.elapsed)}{read if megabytes else ''}",
        "",
        *(
            f"{path:22} {what.format(tokens=sum(summary['tokens'].values()))}"
            for path, what in LIES_WHERE
        ),
        "",
        "To add text later, add the files and run again. To see why documents were dropped: "
        "corpusmill why --dropped",
    ]
    return "\n".join(lines)
