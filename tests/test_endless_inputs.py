"""Input files that have no end worth waiting for: looking at first records reads a bounded part."""

import gzip
import json
import os
import resource
from pathlib import Path

import pytest
import zstandard
from click.testing import CliRunner

from corpusmill.cli.main import main
from corpusmill.messages.progress import AWAITED, Silence
from corpusmill.messages.sentences import first_of
from corpusmill.mill.read.first_records import Asked, all_empty, fault_of, first_records
from corpusmill.mill.storage import streams
from corpusmill.mill.storage.streams import ReadEnoughError, ReadLimits
from corpusmill.run import plan
from corpusmill.run.config import Source
from corpusmill.run.plan import InputFile
from corpusmill.tools.tune.sample import FileReading, Wanted

LIMITS = ReadLimits(1 << 16, 27)
LONG = 4 << 20
RECORD = b'{"text": "a"}\n'


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, LONG)


def frames(path: Path) -> None:
    frame = zstandard.compress(b"x" * (1 << 18))
    path.write_bytes(zstandard.compress(b'{"text":"') + frame * (LONG >> 18))


def spaces(path: Path) -> None:
    path.write_bytes(gzip.compress(b" " * (1 << 20)) * (LONG >> 20))


def skippable(path: Path) -> None:
    path.write_bytes(b"\x50\x2a\x4d\x18" + (1 << 30).to_bytes(4, "little"))
    os.truncate(path, LONG)


def padded(path: Path) -> None:
    path.write_bytes(gzip.compress(b""))
    os.truncate(path, LONG)


ONE_LINE = {"x.jsonl": sparse, "x.jsonl.zst": frames, "x.jsonl.gz": spaces}
NO_LINE = {"x.jsonl.zst": skippable, "x.jsonl.gz": padded}


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(streams, "LOOKED_BEYOND", 1 << 18)


def asked(path: Path, malformed: float = 0) -> Asked:
    return Asked("a", str(path), "text", malformed)


@pytest.mark.parametrize("name", ONE_LINE)
def test_fault_of__a_line_without_end_is_not_read_to_its_end(tmp_path, name):
    ONE_LINE[name](tmp_path / name)
    fault = fault_of(asked(tmp_path / name), limits=LIMITS)
    assert fault is not None
    assert "(1) can be read for source" in fault
    assert "line 1: more than " in fault
    size = int(fault.split("more than ")[1].split()[0])
    assert (1 << 16) < size < (2 << 20)
    assert fault_of(asked(tmp_path / name, 0.5), limits=LIMITS) is None
    assert all_empty([asked(tmp_path / name)], [], LIMITS) is None


@pytest.mark.parametrize("name", NO_LINE)
def test_fault_of__content_without_a_line_is_read_no_further(tmp_path, name):
    NO_LINE[name](tmp_path / name)
    fault = fault_of(asked(tmp_path / name), limits=LIMITS)
    assert fault == (
        f"{tmp_path / name}: expected a record that ends within 327,680 bytes, found none. "
        "Correct the file, or leave it out of sources[].files."
    )


def test_first_records__before_a_line_without_end_are_given(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(RECORD * 3)
    os.truncate(path, LONG)
    found = list(first_records(asked(path), limits=LIMITS))
    assert [type(one).__name__ for one in found] == ["Record"] * 3 + ["Malformed"]
    assert fault_of(asked(path), limits=LIMITS) is None


def test_first_records__of_long_records_are_whole(tmp_path):
    path = tmp_path / "x.jsonl"
    line = json.dumps({"text": "a" * 60_000}).encode() + b"\n"
    path.write_bytes(line * 60)
    assert {len(one.text) for one in first_records(asked(path), limits=LIMITS)} == {60_000}


@pytest.mark.parametrize("name", ONE_LINE)
def test_init__of_a_line_without_end_says_so(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("corpusmill.cli.init.READ_LIMITS", LIMITS)
    ONE_LINE[name](tmp_path / name)
    done = CliRunner().invoke(main, ["init", name])
    assert done.exit_code == 0, done.output
    assert f"not sure: {name}: line 1 has more than " in done.stderr


def test_estimate__looks_at_first_records_before_it_reads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("corpusmill.tools.tune.estimate.estimating.read_some", None)
    sparse(tmp_path / "x.jsonl")
    settings = "sources: [{name: a, files: [x.jsonl]}]\ninput: {max_record_bytes: 65536}\n"
    (tmp_path / "corpusmill.yaml").write_text(settings)
    done = CliRunner().invoke(main, ["estimate"])
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].startswith("Error: x.jsonl: none of the first records (1)")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "share"), [("x.jsonl", 0.01), *[(name, 1.0) for name in ONE_LINE]]
)
def test_file_reading__of_a_line_without_end_ends(tmp_path, monkeypatch, name, share):
    monkeypatch.setattr("corpusmill.tools.tune.sample.LEAST_READ", 1 << 10)
    ONE_LINE[name](tmp_path / name)
    file = InputFile("a", str(tmp_path / name), 1 << 10, (tmp_path / name).stat().st_size)
    reading = FileReading(file, 0, "text", share, Wanted(0, {"mode": "nfc"}, [], LIMITS))
    with pytest.raises(ReadEnoughError, match="expected a record that ends within"):
        list(reading.records(Silence()))


@pytest.mark.parametrize("target", ["/proc/self/pagemap", "/proc/self/mem", "/proc/self/status"])
def test_fault_of__a_file_of_the_system_is_no_input(tmp_path, target):
    if not os.access(target, os.R_OK):
        pytest.skip(f"{target} cannot be read here")
    path = tmp_path / "x.jsonl"
    path.symlink_to(target)
    fault = fault_of(asked(path), limits=LIMITS)
    assert fault is not None
    assert fault.startswith(f"{path}: expected no content, as its size is 0 bytes, found ")


def write(name: str, text: str):
    return lambda folder: (folder / name).write_text(text)


def endless(name: str, make):
    def written(folder: Path) -> None:
        make(folder / name)
        named = json.dumps({"name": "a", "files": [name]})
        (folder / "corpusmill.yaml").write_text(
            f"sources: [{named}]\ninput: {{max_record_bytes: 65536}}\n"
        )

    return written


ONE_FILE = "sources: [{name: a, files: [%s]}]\n"
HOSTILE = {
    "sparse": endless("x.jsonl", sparse),
    "frames": endless("x.jsonl.zst", frames),
    "spaces": endless("x.jsonl.gz", spaces),
    "skippable frames": endless("x.jsonl.zst", skippable),
    "padding": endless("x.jsonl.gz", padded),
    "endless file of the system": endless(
        "x.jsonl", lambda path: path.symlink_to("/proc/self/pagemap")
    ),
    "many values": write("corpusmill.yaml", "sources: [" + "a," * 400_000 + "a]\n"),
    "many faults": write("corpusmill.yaml", "sources: [" + "a," * 20_000 + "a]\n"),
    "deep": write("corpusmill.yaml", "sources: " + "[" * 20_000),
    "large": write("corpusmill.yaml", "# " + "x" * (5 << 20)),
    "many sources": write(
        "corpusmill.yaml",
        "sources:\n" + "".join(f"- {{name: s{n}, files: [ok.jsonl]}}\n" for n in range(3000)),
    ),
    "many times the same file": write("corpusmill.yaml", ONE_FILE % ",".join(["no"] * 20_000)),
}


@pytest.mark.whole
@pytest.mark.parametrize("kind", HOSTILE)
def test_check__of_hostile_inputs_ends_soon_and_says_little(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ok.jsonl").write_bytes(RECORD * 30)
    monkeypatch.setattr(f"{__name__}.LONG", 1 << 40)
    if kind in ("frames", "spaces"):  # of which every byte lies there
        monkeypatch.setattr(f"{__name__}.LONG", 1 << 30)
    HOSTILE[kind](tmp_path)
    before = cpu_seconds()
    done = CliRunner().invoke(main, ["check"])
    assert cpu_seconds() - before < 10
    assert done.exit_code == 1, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert len(done.output) < 10_000
    assert len(done.output.splitlines()) < 40


def cpu_seconds() -> float:
    """Of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def test_list_inputs__names_the_pattern_that_it_waits_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = []

    def listed(pattern, *_):
        seen.extend(what for _, what in AWAITED)
        return set()

    monkeypatch.setattr(plan, "files_of_pattern", listed)
    source = Source(name="a", files=["/*/*.jsonl", "/*/*.jsonl", "b"])
    plan.list_inputs([source], {})
    assert seen == ['the list of /*/*.jsonl of source "a"', 'the list of b of source "a"']


def test_first_of__says_how_many_more():
    assert first_of(["x"] * 20) == ["x"] * 20
    assert first_of(["x"] * 1025) == ["x"] * 20 + ["and 1,005 more"]
