"""Shards come by HTTP: verified, on from where they broke off, one copy for all processes."""

import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
from pathlib import Path
from threading import Event

import pytest
from click.testing import CliRunner
from file_server import served
from stream_corpus import half_fetched, read_manifest, tokens_of, write_corpus, write_manifest
from workflow import ROOT

from corpusmill.cli.main import main
from corpusmill.reader import Batches, Corpus, Shuffled, Windowed
from corpusmill.reader.http_store import HttpStore
from corpusmill.reader.patience import Attempts, Patience, StoppedError
from corpusmill.reader.stores import PassingError

SIZES = [[40, 60], [100], [30, 30, 40], [80], [90, 10], [64], [100], [20, 20]]
QUICK = Patience(attempts=4, first_seconds=0.01, longest_seconds=0.02)
FIRST = "tokens/train/00000.bin"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"), {"train": SIZES})


@pytest.fixture
def server(results):
    with served(results) as files:
        yield files


class Remote:
    """A corpus of the server, and what it said."""

    def __init__(self, server, cache: Path, **more) -> None:
        self.said: list[str] = []
        options = {"patience": QUICK, "say": self.said.append} | more
        self.corpus = Corpus(server.address, cache=cache, **options)
        self.train = self.corpus.split("train")


def whole(split) -> list[int]:
    return split.read(0, split.tokens).tolist()


def on_disk(cache: Path) -> list[str]:
    (folder,) = cache.iterdir()
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


@pytest.mark.parametrize("name", ["a b", "größe", "名", "a%20b", "a+b", "a#b", "a?b=c&d"])
def test_name__with_any_letters_is_asked_for_as_it_is(name, tmp_path):
    (tmp_path / "tokenizer").mkdir()
    (tmp_path / f"tokenizer/{name}.json").write_text(name)
    with served(tmp_path) as server:
        store = HttpStore(server.address)
        assert b"".join(store.blocks(f"tokenizer/{name}.json")) == name.encode()


def test_password__in_an_address_is_refused_and_not_repeated(tmp_path):
    address = "https://me:hidden@example.org/results"
    with pytest.raises(ValueError, match=r"expected https://host/..., and the password in") as told:
        Corpus(address, cache=tmp_path)
    done = CliRunner().invoke(main, ["verify", address])
    assert done.exit_code == 2
    assert "hidden" not in str(told.value) + done.output


def test_corpus__comes_by_http(server, results, tmp_path):
    remote = Remote(server, tmp_path / "cache")
    assert server.requests.keys() == {"manifest.json", "tokenizer/corpusmill.json"}
    assert whole(remote.train) == tokens_of(results)
    assert whole(Remote(server, tmp_path / "cache").train) == tokens_of(results)
    assert {count for path, count in server.requests.items() if "train" in path} == {1}


def test_shard__may_be_empty(tmp_path):
    results = write_corpus(tmp_path / "corpus", {"train": [[30], [], [40]]})
    with served(results) as server:
        train = Remote(server, tmp_path / "cache", keep_shards=2).train
        got = [row for batch in Batches(Windowed(train, 8, 1, 1), 2, epochs=1) for row in batch]
        assert len(got) == 3 + 4
        assert whole(train) == tokens_of(results)


@pytest.mark.parametrize("packed", [False, True])
def test_windowed__fetches_no_window_beyond_its_epochs(packed, server, tmp_path):
    train = Remote(server, tmp_path / "cache", keep_shards=4).train
    for _ in Batches(Windowed(train, 8, 4, 2, packed), 3, epochs=1):
        pass
    until = time.monotonic() + 10
    while train.shelf._thread and time.monotonic() < until:
        time.sleep(0.01)
    counts = [count for path, count in server.requests.items() if path.endswith(".bin")]
    assert counts == [1] * len(SIZES)


def test_fault__of_a_shard_that_is_not_needed_yet_waits(server, tmp_path):
    server.fault = lambda path, request: "404" if "00003" in path else None
    shelf = Remote(server, tmp_path).train.shelf
    shelf.expect([0], [3])
    until = time.monotonic() + 10
    while shelf._thread:
        assert time.monotonic() < until
        time.sleep(0.01)
    shelf.expect([0, 1], [])
    with pytest.raises(ValueError, match=r"00003.idx: expected the file, the server answered 404"):
        shelf.expect([3], [])
    server.fault = lambda path, request: None
    shelf.expect([3], [])
    assert shelf.path(3).exists()


def test_address__needs_a_cache(server):
    with pytest.raises(ValueError, match=r"expected a cache .a local folder"):
        Corpus(server.address)


def test_cache__may_be_before_a_folder_too(results, tmp_path):
    train = Corpus(results, cache=tmp_path).split("train")
    assert whole(train) == tokens_of(results)
    assert len([name for name in on_disk(tmp_path) if name.endswith(".bin")]) == len(SIZES)


FAULTS = ["503", "500", "429", "truncated", "reset", "stalled", "wrong bytes"]


@pytest.mark.some(3)
@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("fault", FAULTS)
def test_fault__that_passes_is_tried_again(fault, ranges, server, results, tmp_path, monkeypatch):
    monkeypatch.setattr("corpusmill.reader.http_store.SILENCE_SECONDS", 0.3)
    server.knows_ranges = ranges
    server.fault = lambda path, request: fault if request == 1 and "00000" in path else None
    assert whole(Remote(server, tmp_path).train) == tokens_of(results)
    assert server.requests[FIRST] == 2
    again = [asked for path, asked in server.ranges if path == FIRST][1]
    assert again == ("bytes=100-" if fault in ("truncated", "reset", "stalled") else None)


@pytest.mark.parametrize("fault", ["503", "truncated", "reset"])
def test_manifest__is_tried_again(fault, server, results, tmp_path):
    server.fault = lambda path, request: fault if request < 3 else None
    remote = Remote(server, tmp_path)
    assert remote.train.tokens == len(tokens_of(results))
    assert "trying again" in remote.said[0]


GIVEN_UP = {
    "503": (OSError, "the server answered 503 .*, 4 times in a row. The received bytes are kept"),
    "404": (ValueError, "expected the file, the server answered 404 .*Is this the address"),
    "403": (ValueError, "expected the file, the server answered 403"),
    "wrong bytes": (ValueError, "expected SHA-256 .*, found .*, 3 times.*upload it again"),
    "longer": (ValueError, "expected 200 bytes, as listed in manifest.json, found 201"),
}


@pytest.mark.parametrize("fault", GIVEN_UP)
def test_fault__that_stays_is_told_in_a_sentence(fault, server, tmp_path):
    error, says = GIVEN_UP[fault]
    server.fault = lambda path, request: fault if path == FIRST else None
    train = Remote(server, tmp_path).train
    with pytest.raises(error, match=says) as refused:
        train.document(0)
    assert f"{server.address}/{FIRST}" in str(refused.value)
    assert "\n" not in str(refused.value)
    server.fault = lambda path, request: None
    assert train.document(0).size == 40


def test_range__that_is_another_is_refused(server, results):
    server.fault = lambda path, request: "wrong range"
    with pytest.raises(ValueError, match=r"expected the bytes from 5 on, the server answered 206"):
        list(HttpStore(server.address).blocks(FIRST, 5, 200))


def test_blocks__begin_anywhere(server, results):
    data = (results / FIRST).read_bytes()
    for server.knows_ranges in (True, False):
        for start in (0, 1, 199, 200):
            assert b"".join(HttpStore(server.address).blocks(FIRST, start, 200)) == data[start:]


def test_headers__stay_with_the_server_that_they_are_for(server, results):
    server.fault = lambda path, request: "302" if request == 1 else None
    store = HttpStore(server.address, {"Authorization": "secret"})
    assert b"".join(store.blocks(FIRST)) == (results / FIRST).read_bytes()
    assert [headers.get("Authorization") for headers in server.headers] == ["secret", None]


def test_store__that_nobody_serves_is_passing():
    with pytest.raises(PassingError, match="refused"):
        list(HttpStore("http://127.0.0.1:9").blocks("manifest.json"))


def test_patience__waits_longer_each_time_and_not_in_step():
    patience = Patience(9, 1.0, 60.0)
    for failures in range(1, 9):
        waits = {patience.seconds(failures) for _ in range(50)}
        assert len(waits) > 25
        assert 0 <= min(waits) <= max(waits) <= min(60, 2 ** (failures - 1))


def test_attempts__say_every_two_seconds_what_they_wait_for(monkeypatch):
    waited, said = [], []
    now = [0.0]

    class Never(Event):
        def wait(self, timeout=None):
            waited.append(timeout)
            now[0] += timeout
            return False

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(Patience, "seconds", lambda self, failures: 5.0)
    Attempts(Patience(), said.append, Never()).failed(PassingError("a.bin: busy"))
    assert waited == [2, 2, 1]
    assert said == ["a.bin: busy; attempt 1 of 8 failed, trying again"] * 3


def test_attempts__that_brought_bytes_are_the_first_again(monkeypatch):
    monkeypatch.setattr(Patience, "seconds", lambda self, failures: 0.0)
    attempts = Attempts(Patience(attempts=2), lambda line: None)
    for _ in range(5):
        attempts.failed(PassingError("cut off"), came=1 << 20)
    with pytest.raises(OSError, match="cut off, 2 times in a row"):
        attempts.failed(PassingError("cut off"), came=10)


def test_attempts__end_when_nobody_waits(monkeypatch):
    stopped = Event()
    stopped.set()
    with pytest.raises(StoppedError):
        Attempts(Patience(), print, stopped).failed(PassingError("busy"))


def test_certificate__that_nobody_trusts_is_told_at_once(monkeypatch):
    def refused(*_, **__):
        raise urllib.error.URLError(ssl.SSLCertVerificationError("self-signed"))

    monkeypatch.setattr("urllib.request.OpenerDirector.open", refused)
    with pytest.raises(ValueError, match="expected a certificate that this machine trusts"):
        list(HttpStore("https://localhost").blocks("manifest.json"))


# The folder.


def test_disk__that_is_too_small_is_told_before_the_download(server, tmp_path, monkeypatch):
    remote = Remote(server, tmp_path)
    usage = shutil.disk_usage(tmp_path)._replace(free=100)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage)
    with pytest.raises(
        OSError, match=r"expected 224 bytes of free space for .*00000.bin, found 100. Lower"
    ):
        remote.train.document(0)
    assert not server.requests[FIRST]


def test_part__that_a_killed_process_left_is_gone_on_with(server, results, tmp_path):
    remote = Remote(server, tmp_path)
    folder = remote.train.shelf._there.folder
    folder.mkdir(parents=True)
    (folder / "00000.bin.part").write_bytes((results / FIRST).read_bytes()[:120])
    assert whole(remote.train) == tokens_of(results)
    assert [asked for path, asked in server.ranges if path == FIRST] == ["bytes=120-"]


@pytest.mark.parametrize("left", [b"x" * 120, b"x" * 500, b"x" * 200])
def test_part__of_another_file_is_fetched_anew(left, server, results, tmp_path):
    remote = Remote(server, tmp_path)
    folder = remote.train.shelf._there.folder
    folder.mkdir(parents=True)
    (folder / "00000.bin.part").write_bytes(left)
    assert whole(remote.train) == tokens_of(results)


def test_file__of_somebody_else_is_neither_taken_nor_written_over(server, results, tmp_path):
    remote = Remote(server, tmp_path)
    folder = remote.train.shelf._there.folder
    folder.mkdir(parents=True)
    (folder / "00000.bin").write_bytes(b"x" * 200)
    with pytest.raises(ValueError, match=r"found a different file. Move"):
        remote.train.document(0)
    assert (folder / "00000.bin").read_bytes() == b"x" * 200


def test_shards__of_somebody_else_are_read_and_never_removed(server, results, tmp_path):
    remote = Remote(server, tmp_path, keep_shards=3)
    folder = remote.train.shelf._there.folder
    folder.mkdir(parents=True)
    for ending in ("bin", "idx"):
        data = (results / f"tokens/train/00000.{ending}").read_bytes()
        (folder / f"00000.{ending}").write_bytes(data)
    for _ in Batches(Windowed(remote.train, 8, 1, 1), 4, epochs=2):
        assert {"00000.bin", "00000.idx"} <= set(on_disk(tmp_path))
    assert server.requests[FIRST] == 0


def test_rotation__keeps_so_many_shards_and_reads_all(server, results, tmp_path):
    remote = Remote(server, tmp_path, keep_shards=4)
    order = Windowed(remote.train, 8, 1, 2)
    got = []
    for batch in Batches(order, 3, epochs=3):
        got += batch.tolist()
        present = {name.split(".")[0] for name in on_disk(tmp_path)}
        assert len(present) <= 4
        with open("/proc/self/maps") as maps:
            assert not any(str(tmp_path) in line and "deleted" in line for line in maps)
    here = Batches(Windowed(Corpus(results).split("train"), 8, 1, 2), 3, epochs=3)
    assert got == [row for batch in here for row in batch.tolist()]


@pytest.mark.parametrize("packed", [False, True])
def test_rotation__with_the_least_room_reads_all(packed, server, results, tmp_path):
    remote = Remote(server, tmp_path, keep_shards=2)
    got = list(Batches(Windowed(remote.train, 8, 1, 1, packed), 50, epochs=2))
    here = Batches(Windowed(Corpus(results).split("train"), 8, 1, 1, packed), 50, epochs=2)
    assert [batch.tolist() for batch in got] == [batch.tolist() for batch in here]


def test_rotation__fetches_the_next_window_while_one_is_read(server, tmp_path):
    remote = Remote(server, tmp_path, keep_shards=4)
    batches = Batches(Windowed(remote.train, 8, 1, 2), 1)
    next(batches)
    until = time.monotonic() + 10
    while len([name for name in on_disk(tmp_path) if name.endswith(".bin")]) < 4:
        assert time.monotonic() < until
        time.sleep(0.01)
    count = sum(server.requests.values())
    for _ in range(5):
        next(batches)
    assert sum(server.requests.values()) == count


def test_rotation__needs_room_for_two_windows(server, tmp_path):
    remote = Remote(server, tmp_path, keep_shards=3)
    with pytest.raises(
        ValueError, match=r"keep_shards 3: expected 4 or more: the 2 shards of a window"
    ):
        Windowed(remote.train, 8, 1, 2)
    with pytest.raises(ValueError, match=r"keep_shards 3: expected at least 8, the number"):
        Shuffled(remote.train, 8, 1)


def test_wait__for_a_shard_is_told_every_two_seconds(tmp_path, monkeypatch):
    monkeypatch.setattr("corpusmill.reader.cache.SAY_SECONDS", 0.2)
    results = write_corpus(tmp_path / "big", {"train": [[20_000]]})
    with served(results) as server:
        server.seconds_per_block = 0.1
        remote = Remote(server, tmp_path / "cache")
        whole(remote.train)
    assert len(remote.said) >= 3
    assert all("waiting for tokens/train/00000.bin" in line for line in remote.said)


def test_close__gives_back_locks_and_leaves_what_came(tmp_path):
    results = write_corpus(tmp_path / "big", {"train": [[20_000], [20_000]]})
    with served(results) as server:
        server.seconds_per_block = 0.2
        remote = Remote(server, tmp_path / "cache", keep_shards=2)
        shelf = remote.train.shelf
        shelf.expect([], [0, 1])
        while not server.requests[FIRST]:
            time.sleep(0.01)
        shelf.close()
        assert "00000.bin.part" in on_disk(tmp_path / "cache")
        server.seconds_per_block = 0
        assert whole(remote.train) == tokens_of(results)
        assert ("tokens/train/00000.bin", None) in server.ranges


# Several processes.

READER = """
import json, sys
from corpusmill.reader import Batches, Corpus, Windowed
address, cache, rank, ranks, keep = sys.argv[1:]
train = Corpus(address, cache=cache, keep_shards=int(keep)).split("train")
print("ready", flush=True)
rows = []
for batch in Batches(Windowed(train, 8, 1, 2), 2, int(rank), int(ranks), epochs=2):
    rows += batch.tolist()
print(json.dumps(rows), flush=True)
"""


def reader(server, cache: Path, rank: int = 0, ranks: int = 1, keep: int = 6) -> subprocess.Popen:
    arguments = map(str, (server.address, cache, rank, ranks, keep))
    return subprocess.Popen(
        [sys.executable, "-c", READER, *arguments],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def rows_of(process: subprocess.Popen) -> list:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1])


def test_readers__of_a_node_share_one_copy(server, results, tmp_path):
    ranks = 8
    # Each runs to the end by itself, so the fast ones do not wait for the slow: room for all.
    readers = [reader(server, tmp_path, rank, ranks, len(SIZES)) for rank in range(ranks)]
    got = [row for process in readers for row in rows_of(process)]
    here = Batches(Windowed(Corpus(results).split("train"), 8, 1, 2), 2, epochs=2)
    assert sorted(got) == sorted(row for batch in here for row in batch.tolist())
    counts = {path: count for path, count in server.requests.items() if "train" in path}
    assert set(counts.values()) == {1}
    assert len(counts) == 2 * len(SIZES)


def test_process__killed_in_a_download_leaves_nothing_locked(tmp_path):
    results = write_corpus(tmp_path / "big", {"train": [[40_000], [30_000]]})
    with served(results) as server:
        server.seconds_per_block = 0.05
        process = reader(server, tmp_path / "cache", keep=2)
        process.stdout.readline()
        part = half_fetched(tmp_path / "cache")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        came = part.stat().st_size
        server.seconds_per_block = 0
        remote = Remote(server, tmp_path / "cache", keep_shards=2)
        assert whole(remote.train) == tokens_of(results)
        name = f"tokens/train/{part.name.removesuffix('.part')}"
        assert (name, f"bytes={came}-") in server.ranges


def test_reader__waits_for_the_one_that_fetches_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("corpusmill.reader.cache.SAY_SECONDS", 0.2)
    results = write_corpus(tmp_path / "big", {"train": [[20_000]]})
    with served(results) as server:
        server.seconds_per_block = 0.1
        one, two = (Remote(server, tmp_path / "cache") for _ in range(2))
        fetching = threading.Thread(target=whole, args=(one.train,))
        fetching.start()
        while not server.requests[FIRST]:
            time.sleep(0.01)
        assert whole(two.train) == tokens_of(results)
        fetching.join()
    assert any("MB, by another process" in line for line in two.said)
    assert server.requests[FIRST] == 1


def test_shard__that_is_read_is_not_removed_by_another(server, results, tmp_path):
    one, two = (Remote(server, tmp_path, keep_shards=2) for _ in range(2))
    one.train.shelf.expect([0, 1], [])
    waiting = threading.Thread(target=two.train.shelf.expect, args=([2], []))
    waiting.start()
    time.sleep(0.5)
    assert not server.requests["tokens/train/00002.bin"]
    one.train.shelf.expect([1], [])
    waiting.join(10)
    assert not waiting.is_alive()
    assert {name for name in on_disk(tmp_path) if name.endswith(".bin")} == {
        "00001.bin", "00002.bin"
    }  # fmt: skip


def test_fork__starts_with_no_lock_and_no_thread(server, results, tmp_path):
    remote = Remote(server, tmp_path, keep_shards=8)
    expected = whole(remote.train)
    child = os.fork()
    if not child:
        os._exit(0 if whole(remote.train) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
    shelf = remote.train.shelf
    assert sorted(shelf._held) == list(range(8))
    other = Remote(server, tmp_path, keep_shards=8).train.shelf
    assert not any(other._there.removed(shard) for shard in range(8))
    shelf.close()
    assert all(other._there.removed(shard) for shard in range(8))


def test_manifest__that_changes_is_another_folder(server, results, tmp_path):
    content = read_manifest(results)
    whole(Remote(server, tmp_path).train)
    changed = json.loads(json.dumps(content))
    changed["files"] = [file for file in content["files"] if "00007" not in file["path"]]
    write_manifest(results, changed)
    whole(Remote(server, tmp_path).train)
    write_manifest(results, content)
    assert len(list(tmp_path.iterdir())) == 2
