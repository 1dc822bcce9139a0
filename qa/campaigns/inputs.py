"""Bad inputs: damaged, swapped and vanishing files, clocks set back, two runs at once; then mended.

Each case is a run, what has to come of it, and the same command again when all is well.
"""

import gzip
import os
import random
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
import zstandard
from workflow import document, write_jsonl

from qa.campaigns.corpus import results, write_config
from qa.campaigns.full_disk import words
from qa.campaigns.runs import (
    Ended,
    Run,
    copied,
    differing,
    half_written,
    ran,
    unlocked,
    wait_for_all,
)

YEARS = 10 * 365 * 86400 * 10**9
PACKED = {
    "zstd, one frame": "a.jsonl.zst",
    "zstd, five frames": "b.jsonl.zst",
    "gzip": "c.jsonl.gz",
    "gzip, three members": "d.jsonl.gz",
}
HELD = "raw/held.jsonl"
PLAIN = "raw/f.jsonl"


def lines_of(first: int, count: int = 40) -> list[bytes]:
    return [b'{"text": "%s", "n": %d}\n' % (document(n, 90).encode(), n)
            for n in range(first, first + count)]  # fmt: skip


def in_pieces(lines: list[bytes], pieces: int, pack: Callable[[bytes], bytes]) -> bytes:
    return b"".join(pack(b"".join(lines[k::pieces])) for k in range(pieces))


def corpus(folder: Path) -> dict:
    """A file of every format."""
    raw = folder / "raw"
    raw.mkdir(parents=True)
    zstd = zstandard.ZstdCompressor(write_checksum=True).compress

    def gz(data: bytes) -> bytes:
        return gzip.compress(data, mtime=0)

    (raw / "a.jsonl.zst").write_bytes(zstd(b"".join(lines_of(0))))
    (raw / "b.jsonl.zst").write_bytes(in_pieces(lines_of(100), 5, zstd))
    (raw / "c.jsonl.gz").write_bytes(gz(b"".join(lines_of(200))))
    (raw / "d.jsonl.gz").write_bytes(in_pieces(lines_of(300), 3, gz))
    table = pa.table({"text": [document(n, 90) for n in range(400, 440)], "n": range(400, 440)})
    pq.write_table(table, raw / "e.parquet", write_page_checksum=True)
    (folder / PLAIN).write_bytes(b"".join(lines_of(500)))
    write_jsonl(folder / HELD, [{"text": document(n, 90)} for n in range(4)])
    names = [*PACKED.values(), "e.parquet", "f.jsonl"]
    config = {
        "sources": [
            *({"name": name[0], "files": [f"raw/{name}"]} for name in names),
            {"name": "held", "files": [HELD], "held_out": True},
        ],
        "splits": {"validation": 0.1, "test": 0},
        "output": {"format": "parquet"},
        "tokenizer": {"source": "train", "train_vocabulary": 300},
    }
    write_config(folder, config)
    return config


# What is done to the bytes of a file.


def cut(share: float) -> Callable[[bytes], bytes]:
    return lambda data: data[: min(max(int(share * len(data)), 7), len(data) - 1)]


def flipped(share: float) -> Callable[[bytes], bytes]:
    def damage(data: bytes) -> bytes:
        at = min(int(share * len(data)), len(data) - 1)
        return data[:at] + bytes([data[at] ^ 16]) + data[at + 1 :]

    return damage


def with_garbage(share: float) -> Callable[[bytes], bytes]:
    def damage(data: bytes) -> bytes:
        at = int(share * len(data))
        return data[:at] + random.Random(1).randbytes(64) + data[at:]

    return damage


WHERE = {"beginning": 0.0, "middle": 0.5, "end": 1.0}
DAMAGES = {
    **{f"cut off, {place}": cut(share) for place, share in WHERE.items()},
    **{f"a bit flipped, {place}": flipped(share) for place, share in WHERE.items()},
    **{f"64 bytes of garbage, {place}": with_garbage(share) for place, share in WHERE.items()},
    "zeros behind it": lambda data: data + bytes(512),
    "text behind it": lambda data: data + b'{"text": "not packed"}\n',
    "empty": lambda data: b"",
}

REFUSED, WHOLE, AS_GIVEN, SAME_TEXT = "refused", "whole", "as given", "same text"
"""What may come of a run: it fails and says why; it has the bytes of a run to which nothing
happened; those of a fresh run on the files that are there; or, of these, the same documents."""


@dataclass
class Case:
    name: str
    may: set[str]
    says: str = ""
    """What is said of a refusal, a regular expression."""
    finished: bool = False
    """Whether a finished run is there already."""
    before: Callable[[Path], None] = lambda folder: None
    plan: Callable[[Path], dict] | None = None
    run: Callable[[Path], Ended] | None = None


@dataclass
class Seen:
    name: str
    code: int = 0
    seconds: float = 0.0
    said: list[str] = field(default_factory=list)
    came: str = ""
    faults: list[str] = field(default_factory=list)


def damaged(file: str, damage: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def before(folder: Path) -> None:
        path = folder / "raw" / file
        path.write_bytes(damage(path.read_bytes()))

    return before


def of_packed_files() -> Iterator[Case]:
    for kind, file in PACKED.items():
        for name, damage in DAMAGES.items():
            may = {"empty": {REFUSED, AS_GIVEN}}
            yield Case(f"{kind}: {name}", may.get(name, {REFUSED, SAME_TEXT}), re.escape(file),
                       before=damaged(file, damage))  # fmt: skip
    for name, damage in DAMAGES.items():
        if name != "empty":
            yield Case(f"Parquet: {name}", {REFUSED, SAME_TEXT}, "e.parquet",
                       before=damaged("e.parquet", damage))  # fmt: skip


def other_letter(data: bytes) -> bytes:
    """A letter of a document changed."""
    at = data.index(b"grain", len(data) // 2)
    return data[:at] + b"G" + data[at + 1 :]


def one_more(data: bytes) -> bytes:
    """A record more, of which a member has another type."""
    return data + b'{"text": "%s", "n": "text"}\n' % document(990, 90).encode()


def swapped(folder: Path, content: bytes, same_time: bool) -> None:
    path = folder / PLAIN
    state = path.stat()
    path.write_bytes(content)
    if same_time:
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def swap(content: Callable[[bytes], bytes], same_time: bool) -> Callable[[Path], None]:
    return lambda folder: swapped(folder, content((folder / PLAIN).read_bytes()), same_time)


def always_verified(folder: Path) -> None:
    swap(other_letter, True)(folder)
    config = yaml.safe_load((folder / "mine.yaml").read_text())
    write_config(folder, config | {"input": {"verify": "always"}})


def exchanged(folder: Path) -> None:
    """Two files, each with the name of the other and its own time."""
    one, other = folder / "raw/c.jsonl.gz", folder / "raw/d.jsonl.gz"
    one.rename(folder / "aside")
    other.rename(one)
    (folder / "aside").rename(other)


def between_runs() -> Iterator[Case]:
    def case(name: str, may: str, before: Callable[[Path], None], says: str = "") -> Case:
        return Case(f"between runs: {name}", {may}, says, finished=True, before=before)

    yield case("other bytes, same size and time", WHOLE, swap(other_letter, True))
    yield case("the same, verify: always", AS_GIVEN, always_verified)
    yield case("other bytes, same size", AS_GIVEN, swap(other_letter, False))
    yield case(
        "a record more, same time", AS_GIVEN, swap(lambda data: data + lines_of(900)[0], True)
    )
    yield case("two files exchanged", AS_GIVEN, exchanged)
    yield case("a file gone", REFUSED, lambda folder: (folder / PLAIN).unlink(), PLAIN)
    yield case("a folder in place of a file", REFUSED, in_its_place, PLAIN)


def in_its_place(folder: Path) -> None:
    (folder / PLAIN).unlink()
    (folder / PLAIN).mkdir()


def opening(
    step: str, file: str, content: Callable[[bytes], bytes] | None, same_time: bool = False
) -> Callable[[Path], dict]:
    """A plan: when a job of the step opens the file there is another one, or none."""

    def plan(folder: Path) -> dict:
        told = {"step": step, "opens": str(folder / file)}
        if content is None:
            return told | {"remove": str(folder / file)}
        other = folder.with_name(folder.name + "-other")
        other.write_bytes(content((folder / file).read_bytes()))
        if same_time:
            shutil.copystat(folder / file, other)
        return told | {"replace": [str(folder / file), str(other)]}

    return plan


def losing(step: str, gone: str) -> Callable[[Path], dict]:
    """A plan: while a job of the step writes, a folder is removed."""
    return lambda folder: {"step": step, "change": 2, "remove": str(folder / gone)}


def while_running() -> Iterator[Case]:
    changed = "The file changed while it was read"

    def case(name: str, may: str, plan: Callable[[Path], dict], says: str = "") -> Case:
        return Case(f"while running: {name}", {may}, says, plan=plan)

    for step, file in (("normalize", PLAIN), ("evaluation", HELD), ("columns", PLAIN)):
        yield case(f"a record more when `{step}` opens it", REFUSED,
                   opening(step, file, one_more), changed)  # fmt: skip
        yield case(f"gone when `{step}` opens it", REFUSED, opening(step, file, None), file)
    yield case("other bytes, size and time when `normalize` opens it", AS_GIVEN,
               opening("normalize", PLAIN, other_letter, same_time=True))  # fmt: skip
    for step, gone in (
        ("scatter", "results"), ("gather", "logs"), ("encode", "results/corpus"),
        ("pair", ".snakemake"), ("ledger", "raw"),
    ):  # fmt: skip
        yield Case(f"while running: {gone} gone when `{step}` writes", {REFUSED, WHOLE},
                   plan=losing(step, gone))  # fmt: skip


def timed(folder: Path, by: int | None, below: str) -> None:
    """All files and folders below have times so much later, or of the year 1980."""
    for path in [*(folder / below).rglob("*"), folder / below]:
        later = YEARS if by is None else path.stat().st_mtime_ns + by
        os.utime(path, ns=(later, later))


def half_a_run(folder: Path) -> None:
    plan = {"step": "gather", "change": 2, "signal": signal.SIGKILL,
            "marker": str(folder.with_name(folder.name + "-half"))}  # fmt: skip
    assert ran(folder, plan=plan).code


AHEAD = r"expected a time no later than now \(.*or the modification time: (find \S+ -exec )?touch"


def finished_then(by: int | None, below: str) -> Callable[[Path], None]:
    return lambda folder: timed(folder, by, below)


def killed_then(by: int | None) -> Callable[[Path], None]:
    def before(folder: Path) -> None:
        half_a_run(folder)
        timed(folder, by, "results")

    return before


def clocks() -> Iterator[Case]:
    for name, by in (("10 years ahead", YEARS), ("10 years back", -YEARS), ("of 1980", None)):
        may = {REFUSED} if by == YEARS else {WHOLE}
        yield Case(f"clock: finished, raw {name}", may, AHEAD, finished=True,
                   before=finished_then(by, "raw"))  # fmt: skip
        # Nothing is left to do, so no job compares these times.
        yield Case(f"clock: finished, results {name}", {WHOLE}, finished=True,
                   before=finished_then(by, "results"))  # fmt: skip
        yield Case(f"clock: killed half-way, results {name}", may, AHEAD, before=killed_then(by))


def second_beside(folder: Path, *arguments: str) -> tuple[Ended, Ended]:
    # As users begin it: who asks looks for a process that is called snakemake.
    first = Run(folder, warm=False)
    while not list((folder / "results/text").glob("*.json")) and first.process.poll() is None:
        time.sleep(0.02)
    second = ran(folder, *arguments, door="corpusmill")
    return first.ended(), second


def beside_a_run(folder: Path) -> Ended:
    first, second = second_beside(folder, "--quiet")
    assert first.code == 0, first.said
    return second


def beside_a_run_without_lock(folder: Path) -> Ended:
    return second_beside(folder, "--quiet", "--", "--nolock")[1]


def two_at_once() -> Iterator[Case]:
    yield Case("two at once", {REFUSED}, r"Another run is active in this folder \(process \d+\)",
               run=beside_a_run)  # fmt: skip
    yield Case(
        "two at once, the second with --nolock", {WHOLE, REFUSED}, run=beside_a_run_without_lock
    )


def cases() -> list[Case]:
    return [*of_packed_files(), *between_runs(), *while_running(), *clocks(), *two_at_once()]


def text_of(folder: Path) -> dict[str, str]:
    """What trainers read."""
    return {name: digest for name, digest in results(folder).items()
            if re.match(r"(corpus|tokens)/\w+/\d+\.(parquet|bin|idx)$", name)}  # fmt: skip


def what_came(done: Ended, folder: Path, whole: Path, fresh: Path) -> str:
    if done.code:
        return REFUSED
    if not differing(folder, whole):
        return WHOLE
    if text_of(folder) == text_of(whole):
        return SAME_TEXT
    copied(folder, fresh)
    ran(fresh)
    return AS_GIVEN if not differing(folder, fresh) else "neither whole nor as given"


def faults_of(case: Case, seen: Seen) -> Iterator[str]:
    told = "\n".join(seen.said)
    may = case.may | ({SAME_TEXT} if AS_GIVEN in case.may else set())
    if seen.came not in may:
        yield f"{seen.came}: {told[-1500:]}"
    if seen.code and not re.search(case.says, told):
        yield f"does not say {case.says}: {told[-1500:]}"
    if "Traceback" in told or "fault of corpusmill" in told:
        yield f"a traceback: {told[-1500:]}"


def mended(folder: Path, whole: Path) -> Iterator[str]:
    """The inputs as they were, and the same command; of a run that was refused before any job
    there is nothing that it could go on from."""
    if not (folder / "results").exists() and not (folder / "logs").exists():
        return
    times = (time.time(), time.time())
    shutil.rmtree(folder / "raw", ignore_errors=True)
    shutil.copytree(whole / "raw", folder / "raw")
    shutil.copy2(whole / "mine.yaml", folder)
    # As is told: what is left of a folder that lost its record is moved away; times that are still
    # to come are set; a file that was replaced behind its size and time is given another time.
    if not (folder / "results/plan/record.json").exists():
        shutil.rmtree(folder / "results", ignore_errors=True)
    for path in [folder / PLAIN, *(folder / "results").rglob("*")]:
        if path == folder / PLAIN or path.stat().st_mtime > time.time():
            os.utime(path, times)
    unlocked(folder)
    done = ran(folder)
    if done.code:
        yield f"mended, and yet: {done.fault()}"
    yield from (f"mended, and yet {name}: other bytes" for name in differing(folder, whole))


def tried(case: Case, whole: Path, base: Path) -> Seen:
    folder, seen = base / "run", Seen(case.name)
    if case.finished:
        shutil.copytree(whole, folder)
    else:
        copied(whole, folder)
    case.before(folder)
    plan = case.plan(folder) | {"marker": str(base / "marker")} if case.plan else None
    done = case.run(folder) if case.run else ran(folder, "--quiet", door="corpusmill", plan=plan)
    wait_for_all(folder)
    seen.code, seen.seconds, seen.said = done.code, done.seconds, words(done.said)
    if plan and not (base / "marker").exists():
        seen.faults.append("it did not happen")
    seen.came = what_came(done, folder, whole, base / "fresh")
    seen.faults += [*faults_of(case, seen), *half_written(folder), *mended(folder, whole)]
    if not seen.faults:
        shutil.rmtree(base)
    return seen
