"""`corpusmill scan`: reads every input file before a run and lists all faults.

Each file is read by one process, several files in parallel.
"""

import contextlib
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from corpusmill.messages.progress import awaiting
from corpusmill.messages.text_tables import aligned
from corpusmill.mill.read.plugins import serve_another
from corpusmill.mill.read.records import Malformed, too_many_malformed
from corpusmill.mill.read.scanning import Reading, Scanned, scanned
from corpusmill.run.config import Config
from corpusmill.run.inputs import Inputs
from corpusmill.run.job_progress import Phase, phase
from corpusmill.run.plan import Part

TELL_SECONDS = 0.2
MOST_FAULTS = 20


class Asked(NamedTuple):
    """A file to read: its entry as in normalize, and the maximum text of its part."""

    file: dict
    most_text_bytes: int


class Source(NamedTuple):
    name: str
    max_malformed_fraction: float
    files: int
    bytes: int
    records: int
    malformed: int
    reasons: dict[str, int]


class Found(NamedTuple):
    sources: list[Source]
    shown: list[tuple[dict, Malformed]]
    """The first malformed records, each with its file, in the order of files and lines."""
    faults: list[str]
    """Reasons why a run would be refused; empty if it would start."""


class _Number:
    """Wildcards with the number of a part, formatted as in the rules."""

    def __init__(self, part: Part) -> None:
        self.part = part.name


def scan(config: Config, inputs: Inputs, cores: int, shown: int) -> Found:
    """Read all input files of a run."""
    asked = [
        Asked(state, inputs.most_text_bytes(_Number(part)))
        for part in inputs.parts
        for state in inputs.states_of_part(_Number(part))
    ]
    held_out = [Asked(state, 1 << 63) for state in inputs.held_out_states(None)]
    asked = [one for one in [*asked, *held_out] if one.file["mtime_ns"] is not None]
    surrogates = config.normalize.mode == "ftfy"
    reading = Reading(surrogates, config.input.readers, config.input.limits, shown)
    results: list[Scanned | None] = [None] * len(asked)
    first: list[tuple[int, Malformed]] = []
    with phase("reading", sum(one.file["bytes"] for one in asked)) as progress:
        for number, result in all_scanned(asked, reading, cores, progress):
            first += [(number, record) for record in result.first]
            first = sorted(first, key=lambda one: (one[0], one[1].line))[:shown]
            results[number] = result._replace(first=[])
    whole = [result for result in results if result is not None]
    return found_of(config, inputs, asked, whole, [(asked[n].file, one) for n, one in first])


def found_of(
    config: Config,
    inputs: Inputs,
    asked: list[Asked],
    results: list[Scanned],
    shown: list[tuple[dict, Malformed]],
) -> Found:
    faults = [result.fault for result in results if result.fault]
    by_path = {one.file["path"]: result for one, result in zip(asked, results, strict=True)}
    for part in inputs.parts:
        texts = sum(by_path[one.path].text_bytes for one in part.files if one.path in by_path)
        most = inputs.most_text_bytes(_Number(part))
        if len(part.files) > 1 and texts > most:
            faults.append(
                f"{part.files[0].path} and {len(part.files) - 1} more files: expected at most "
                f"{most:,} bytes of text in these files, which form one part, found {texts:,}. "
                "Decompress the files, or raise input.part_bytes."
            )
    sources = []
    milled = {source.name for source in config.milled}
    for source in config.sources:
        name = source.name
        its = [
            (one.file, result) for one, result in zip(asked, results, strict=True)
            if one.file["source"] == name
        ]  # fmt: skip
        reasons: Counter[str] = Counter()
        for _, result in its:
            reasons.update(result.reasons)
        of_source = Source(
            name, source.max_malformed_fraction, len(its),
            sum(file["bytes"] for file, _ in its), sum(result.records for _, result in its),
            sum(result.malformed for _, result in its), dict(reasons.most_common()),
        )  # fmt: skip
        sources.append(of_source)
        if fault := too_many_malformed(
            name, of_source.malformed, of_source.records, of_source.max_malformed_fraction
        ):
            faults.append(fault if name in milled else f"held_out {fault}")
    return Found(sources, shown, faults)


def all_scanned(
    asked: list[Asked], reading: Reading, cores: int, progress: Phase
) -> Iterator[tuple[int, Scanned]]:
    """Yield number and result of each file when it is done. The largest files start first."""
    order = sorted(range(len(asked)), key=lambda number: asked[number].file["bytes"])
    # Not forked: libraries may have started threads.
    started = multiprocessing.get_context("spawn")
    doing: dict[Connection, int] = {}
    readers: dict[Connection, BaseProcess] = {}
    try:
        for _ in range(min(cores, len(asked))):
            ours, theirs = started.Pipe()
            process = started.Process(target=_work, args=(theirs, reading), daemon=True)
            process.start()
            theirs.close()
            readers[ours] = process
            doing[ours] = order.pop()
            ours.send(asked[doing[ours]])
        while doing:
            paths = [asked[number].file["path"] for number in doing.values()]
            more = f" and {len(paths) - 1} more files" if paths[1:] else ""
            with awaiting(f"{paths[0]}{more}"):
                ready = wait(list(doing))
            for connection in ready:
                assert isinstance(connection, Connection)
                number = doing[connection]
                try:
                    said = connection.recv()
                except EOFError:
                    raise ValueError(
                        f"{asked[number].file['path']}: {_end_of(readers[connection])}"
                    ) from None
                if isinstance(said, int):
                    progress.advance(said)
                    continue
                yield number, said
                if order:
                    doing[connection] = order.pop()
                    connection.send(asked[doing[connection]])
                else:
                    del doing[connection]
                    connection.close()
    finally:
        for reader in readers.values():
            reader.terminate()


def _end_of(process: BaseProcess) -> str:
    """Explain why a reading process ended early."""
    process.join()
    if process.exitcode is not None and process.exitcode >= 0:
        return "your reader ended the process that read this file. Correct the reader."
    return (
        "the process that read this file was killed, probably for lack of memory. Use fewer "
        "--cores."
    )


class _Told:
    """Reports the bytes read through the connection, but not after every block."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._amount, self._since = connection, 0, time.monotonic()

    def advance(self, amount: int) -> None:
        self._amount += amount
        if time.monotonic() - self._since > TELL_SECONDS:
            self.tell()

    def tell(self) -> None:
        self._connection.send(self._amount)
        self._amount, self._since = 0, time.monotonic()


def _work(connection: Connection, reading: Reading) -> None:
    """Read requested files until the connection closes."""
    serve_another()
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            asked = connection.recv()
            told = _Told(connection)
            result = scanned(asked.file, asked.most_text_bytes, reading, told)
            told.tell()
            connection.send(result)


def as_json(found: Found) -> dict[str, Any]:
    return {
        "corpusmill.scan": 1,
        "accepted": not found.faults,
        "faults": found.faults,
        "sources": [source._asdict() for source in found.sources],
        "malformed": [
            {"source": file["source"], "file": file["path"]} | record._asdict()
            for file, record in found.shown
        ],
    }


def in_words(found: Found) -> Iterator[str]:
    yield aligned(
        [["source", "files", "MB", "records", "malformed", "allowed"]]
        + [
            [
                one.name, f"{one.files:,}", f"{one.bytes / 1e6:,.1f}", f"{one.records:,}",
                f"{one.malformed:,}", f"{one.max_malformed_fraction:g}",
            ]
            for one in found.sources
        ]
    )  # fmt: skip
    for source in found.sources:
        for reason, count in source.reasons.items():
            yield f"source {source.name}: {count:,} x {reason}"
    for file, record in found.shown:
        yield f"{file['path']}:{record.line}: {record.reason}. It starts {record.start!r}."
    if (more := sum(one.malformed for one in found.sources) - len(found.shown)) > 0:
        yield f"and {more:,} more malformed records: raise --limit to see them."
    yield from found.faults[:MOST_FAULTS]
    if (more := len(found.faults) - MOST_FAULTS) > 0:
        yield f"and {more:,} more faults: --json lists all."
    yield "A run would be refused." if found.faults else "A run would accept these files."
