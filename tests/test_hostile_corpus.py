"""A corpus that an enemy made is refused in a sentence, soon, in little memory.

Each attack is opened in a folder, behind a web server, and in an object store.
"""

import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import numpy as np
from attacked import Answer, attacked
from file_server import served
from listening import listening
from s3_server import ENVIRONMENT, NEEDS_STORE, front_of, store
from stream_corpus import described, read_manifest, write_corpus, write_manifest

from corpusmill.mill.storage.untrusted import MOST_VALUES
from corpusmill.reader.s3.bucket import Bucket

Change = Callable[[Path], None]
BIN, IDX, FACTS = "tokens/train/00000.bin", "tokens/train/00000.idx", "tokenizer/corpusmill.json"


def instead(name: str, make: Callable[[Path], object]) -> Change:
    """Something else in the place of a file."""

    def change(results: Path) -> None:
        (results / name).unlink()
        make(results / name)

    return change


def bound_socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)
    os.chdir(here)


def sparse(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(10 << 30)


IN_PLACE_OF_A_FILE = {
    "a FIFO": os.mkfifo,
    "a socket": bound_socket,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder": Path.mkdir,
    "a symlink that leads back": lambda path: path.symlink_to(path.name),
}


def listed(name: str, **members: object) -> Change:
    """An entry of the manifest that says something else; ... takes a member away."""

    def change(results: Path) -> None:
        content = read_manifest(results)
        for entry in content["files"]:
            if entry["path"].endswith(name):
                entry |= members
                for member in [one for one, value in members.items() if value is ...]:
                    del entry[member]
        write_manifest(results, content)

    return change


def manifest(**members: object) -> Change:
    return lambda results: write_manifest(results, read_manifest(results) | members)


def raw_manifest(content: bytes) -> Change:
    return lambda results: (results / "manifest.json").write_bytes(content)


def file_of(name: str, data: bytes) -> Change:
    """Another content, which the manifest lists."""

    def change(results: Path) -> None:
        (results / name).write_bytes(data)
        content = read_manifest(results)
        for number, entry in enumerate(content["files"]):
            if entry["path"].endswith(name):
                kept = {one: entry[one] for one in ("documents", "tokens") if one in entry}
                content["files"][number] = described(results, results / name, **kept)
        write_manifest(results, content)

    return change


def facts(content: object) -> Change:
    return file_of(FACTS, json.dumps(content).encode())


def without(*names: str) -> Change:
    def change(results: Path) -> None:
        content = read_manifest(results)
        content["files"] = [
            one for one in content["files"] if not any(name in one["path"] for name in names)
        ]
        write_manifest(results, content)

    return change


def renamed(old: str, new: str) -> Change:
    def change(results: Path) -> None:
        content = read_manifest(results)
        for entry in content["files"]:
            entry["path"] = entry["path"].replace(old, new)
        write_manifest(results, content)

    return change


def all_of(*changes: Change) -> Change:
    def change(results: Path) -> None:
        for one in changes:
            one(results)

    return change


def index(*starts: int) -> Change:
    return file_of(IDX, np.array(starts, "<u8").tobytes())


SOUND = {"dtype": "uint16", "vocabulary": 50_000, "end_of_text_id": 0}

LOCAL: dict[str, Change] = {
    f"{kind} for {name}": instead(name, make)
    for kind, make in IN_PLACE_OF_A_FILE.items()
    for name in ("manifest.json", BIN, IDX, FACTS)
} | {"10 GB for manifest.json": instead("manifest.json", sparse)}
"""What only a folder can have."""

ANYWHERE: dict[str, Change] = {
    "no manifest": raw_manifest(b""),
    "a list for a manifest": raw_manifest(b"[]"),
    "not UTF-8": raw_manifest(b'{"corpusmill.manifest": 1, "files": ["\xff"]}'),
    "deep lists": raw_manifest(b"[" * 1_000_000),
    "deep objects": raw_manifest(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "lists deep in a manifest": raw_manifest(
        b'{"corpusmill.manifest": 1, "files": %s}' % (b"[" * 5000 + b"]" * 5000)
    ),
    "too many values": raw_manifest(b"[" + b"0," * (MOST_VALUES + 1) + b"0]"),
    "a number of many digits": raw_manifest(b'{"corpusmill.manifest": %s}' % (b"1" * 10_000)),
    "no number": raw_manifest(b'{"corpusmill.manifest": NaN}'),
    "an endless number": raw_manifest(b'{"corpusmill.manifest": 1e999}'),
    "a version that is a list": manifest(**{"corpusmill.manifest": [1] * 1000}),
    "no files": manifest(files=None),
    "files by name": manifest(files={"a": 1}),
    "numbers for files": manifest(files=[1, 2]),
    "lists for files": manifest(files=[[]]),
    "a path that is a number": manifest(files=[{"path": 5}]),
    **{
        f"{member} {value!r:.20} of {name}": listed(name, **{member: value})
        for name, member in ((BIN, "bytes"), (BIN, "tokens"), (BIN, "documents"), (IDX, "bytes"),
                             (FACTS, "sha256"), (BIN, "sha256"))
        for value in (2**64, -2, 1.5, True, "6", None, [1], ...)
    },
    "tokens and bytes that agree when they overflow": listed(BIN, tokens=2**63, bytes=0),
    "tokens and documents of a petabyte": listed(BIN, tokens=2**49, bytes=2**50, documents=2**49),
    "tokens and bytes below nothing": listed(BIN, tokens=-1, bytes=-2),
    "a gap": without("train/00000"),
    "a shard far away": renamed("train/00001", "train/99999"),
    "a shard of no number": renamed("train/00001", "train/x"),
    "a split of another name": renamed("tokens/validation", "tokens/evil"),
    "a split that leads out": renamed("tokens/validation", "tokens/.."),
    "no index": without(IDX),
    "no facts": without(FACTS),
    "facts that are a list": facts([]),
    "facts of nothing": facts({}),
    **{
        f"{member} {value!r:.20}": facts(SOUND | {member: value})
        for member in SOUND
        for value in (10**10, -1, 2**64, "O", "U99999999", None, [1], True, 1.5)
    },
    "an index that turns around": all_of(
        index(0, 2**62, 2**63, 2**63 + 2**62, 7), listed(BIN, documents=4)
    ),
    "an index beyond the end": index(0, 9, 7),
    "an index from elsewhere": index(1, 3, 7),
    "an index that goes back": index(0, 8, 7),
}  # fmt: skip


def made(folder: Path, attacks: dict[str, Change]) -> dict[str, Path]:
    """A corpus for each attack."""
    whole = write_corpus(folder / "whole", {"train": [[3, 4], [5]], "validation": [[2, 2]]})
    found = {}
    for number, (name, change) in enumerate(attacks.items()):
        found[name] = shutil.copytree(whole, folder / f"{number}/results")
        change(found[name])
    return found


def commands(places: dict[str, str]) -> dict[str, list[str]]:
    return {
        f"{command}: {name}": [command, place]
        for name, place in places.items()
        for command in ("stream", "verify")
    }


def complaints(answers: dict[str, Answer]) -> dict[str, list[str]]:
    """What is wrong with how attacks were met: each has to be refused, in a sentence."""
    found = {}
    for name, answer in answers.items():
        problems = answer.problems()
        if name.startswith("stream"):
            problems += ["not refused"] * (answer.code == 0)
            problems += ["several lines"] * ("\n" in answer.said)
        if problems:
            found[name] = [*problems, answer.said[-300:]]
    return found


@contextmanager
def endless() -> Iterator[str]:
    """The address of a server that has one file, without an end."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                while True:
                    self.wfile.write(bytes(1 << 20))

    with listening(Handler) as address:
        yield address


def test_folder__of_an_enemy_is_refused(tmp_path):
    places = made(tmp_path, LOCAL | ANYWHERE)
    answers = attacked(commands({name: str(path) for name, path in places.items()}), tmp_path)
    assert len(answers) > 200
    assert complaints(answers) == {}


def test_server__of_an_enemy_is_refused(tmp_path):
    made(tmp_path, ANYWHERE)
    with served(tmp_path) as server:
        places = {
            name: f"{server.address}/{number}/results" for number, name in enumerate(ANYWHERE)
        }
        assert complaints(attacked(commands(places), tmp_path)) == {}


def test_server__that_sends_without_end_is_left(tmp_path):
    with endless() as address:
        answers = attacked(commands({"endless": address}), tmp_path)
    assert complaints(answers) == {}
    assert all(" bytes, found more" in answer.said for answer in answers.values())


@NEEDS_STORE
def test_bucket__of_an_enemy_is_refused(tmp_path, monkeypatch):
    places = made(tmp_path, ANYWHERE)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with store(tmp_path) as port, front_of(port) as front:
        monkeypatch.setenv("AWS_ENDPOINT_URL", front.address)
        with Bucket("mill", front.address) as bucket:
            for number, path in enumerate(places.values()):
                for file in [one for one in path.rglob("*") if one.is_file()]:
                    bucket.put(f"{number}/{file.relative_to(path)}", file.read_bytes())
        addresses = {name: f"s3://mill/{number}" for number, name in enumerate(ANYWHERE)}
        assert complaints(attacked(commands(addresses), tmp_path)) == {}
