"""Read the records of one part, normalize their texts, and quarantine malformed records."""

import json
import logging
import os
from collections import Counter
from pathlib import Path
from typing import Any

from corpusmill.mill.read.parts import TextWriter
from corpusmill.mill.read.readers import SeenBytes, read_normal_records, refuse_changed
from corpusmill.mill.read.records import Malformed, too_much_text
from corpusmill.mill.storage.files import save_json, writing
from corpusmill.mill.storage.streams import ReadLimits
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase

SAY_FIRST = 20  # malformed records per source in the log; the quarantine file has all


def quarantined(file: dict, record: Malformed, said: bool) -> str:
    """Return the quarantine line of a malformed record; with said, log it too."""
    if said:
        logging.warning("%s:%d: %s. It starts %r.", file["path"], record.line, record.reason,
                        record.start)  # fmt: skip
    return json.dumps({"source": file["source"], "file": file["path"]} | record._asdict()) + "\n"


def normalize(
    files: list[dict],
    normalizing: dict[str, Any],
    readers: list[str],
    limits: ReadLimits,
    most_text_bytes: int,
    text: Path,
    quarantine: Path,
    counts: Path,
) -> None:
    """files: {"source", "path", "text_field", "bytes", "mtime_ns"} of each input file, in order;
    also "sha256" if it was replaced with equal size and time.

    normalizing: mode, of `normalizer`. readers: the user's Python files that read other
    formats. most_text_bytes: limit for the part, as memory and disk are planned from estimates.
    """
    by_source: dict[str, Counter] = {file["source"]: Counter() for file in files}
    total = sum(os.path.getsize(file["path"]) for file in files)
    seen = [SeenBytes(file) for file in files]
    named = [{"source": file["source"], "path": file["path"]} for file in files]
    with (
        writing(text) as text_file,
        writing(quarantine, kept=True) as put_aside,
        phase("normalizing", total) as progress,
    ):
        writer = TextWriter(text_file, named)
        for number, file in enumerate(files):
            count = by_source[file["source"]]
            for record in read_normal_records(
                file["path"], file["text_field"], progress, normalizing["mode"], readers,
                seen[number], limits,
            ):  # fmt: skip
                count["records"] += 1
                if isinstance(record, Malformed):
                    count["malformed"] += 1
                    line = quarantined(file, record, count["malformed"] <= SAY_FIRST)
                    put_aside.write(line.encode("utf-8"))
                    continue
                count["text_bytes"] += len(record.text)
                writer.add(record.text, record.rest, number, record.line)
                if writer.text_bytes > most_text_bytes:
                    raise ValueError(too_much_text(file, record.line, most_text_bytes))
            refuse_changed(file)
            logging.info("%s read", file["path"])
        writer.close()
    save_counts(counts, by_source, writer.largest, seen)


def save_counts(
    counts: Path, by_source: dict[str, Counter], largest: int, seen: list[SeenBytes]
) -> None:
    documents = sum(count["records"] - count["malformed"] for count in by_source.values())
    figures = {name: dict(count) for name, count in by_source.items()}
    files = [one.told() for one in seen]
    read = {"documents": documents, "largest": largest, "by_source": figures, "files": files}
    save_json(counts, read)
    logging.info("%d documents, %s", documents, figures)


if __name__ == "__main__":
    run(normalize)
