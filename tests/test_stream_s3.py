"""A corpus in a bucket is read as one behind a server: verified, resumed, shared, or not at all."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from file_server import served
from s3_server import ENVIRONMENT, NEEDS_STORE, front_of, store
from stream_corpus import half_fetched, read_manifest, tokens_of, write_corpus
from workflow import ROOT

from corpusmill.reader import Batches, Corpus, Windowed
from corpusmill.reader.opening import Latest
from corpusmill.reader.patience import Patience
from corpusmill.reader.s3.bucket import Bucket
from corpusmill.tools.publish.published import Asked
from corpusmill.tools.publish.publishing import publish
from corpusmill.tools.verify.findings import NoCorpusError
from corpusmill.tools.verify.locations import place_of

pytestmark = NEEDS_STORE
SIZES = [[40, 60], [100], [30, 30, 40], [80], [90, 10], [64], [100], [20, 20]]
QUICK = Patience(attempts=4, first_seconds=0.01, longest_seconds=0.02)
FIRST = "tokens/train/00000.bin"
ADDRESS = "s3://mill/web"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"), {"train": SIZES})


@pytest.fixture(scope="module")
def port(tmp_path_factory, results):
    """A store in which the corpus is published."""
    with store(tmp_path_factory.mktemp("store")) as port, pytest.MonkeyPatch.context() as patch:
        set_environment(patch)
        publish_as(results, None, f"http://127.0.0.1:{port}")
        yield port


def set_environment(patch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        patch.delenv(name)
    for name, value in ENVIRONMENT.items():
        patch.setenv(name, value)


def publish_as(results: Path, version: str | None, endpoint: str | None = None) -> None:
    publish(Asked(results, ADDRESS, version, endpoint, False, {}), lambda line: None, QUICK)


@pytest.fixture
def front(port, monkeypatch):
    """The door to the store."""
    set_environment(monkeypatch)
    with front_of(port) as front:
        monkeypatch.setenv("AWS_ENDPOINT_URL", front.address)
        yield front


def opened(cache: Path, address: str = ADDRESS, said: list | None = None, **more):
    say = (lambda line: None) if said is None else said.append
    return Corpus(address, cache=cache, patience=QUICK, say=say, **more).split("train")


def whole(split) -> list[int]:
    return split.read(0, split.tokens).tolist()


PASSING = ["503", "500", "truncated", "reset", "wrong bytes", "no answer", "403", "stalled"]


@pytest.mark.parametrize("fault", PASSING)
def test_fault__that_passes_is_tried_again(fault, front, results, tmp_path, monkeypatch):
    """Of every file the first answer is no good."""
    monkeypatch.setattr("corpusmill.reader.s3.connection.SILENCE_SECONDS", 0.3)
    whom = (FIRST, "manifest.json", "corpusmill.json")
    front.fault = lambda method, path, number: (
        fault if path.endswith(whom) and path not in [p for _, p in front.asked[: number - 1]]
        else None
    )  # fmt: skip
    assert whole(opened(tmp_path)) == tokens_of(results)
    again = [asked for path, asked in front.ranges if path.endswith(FIRST)]
    assert again == [None, "bytes=100-" if fault in ("truncated", "reset", "stalled") else None]


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        ("503", OSError, "the store answered 503 SlowDown, 4 times in a row. The received bytes"),
        ("403", OSError, "403 ExpiredToken: the credentials are expired.*4 times in a row"),
        ("401", ValueError, "the store answered 401 AccessDenied: these credentials do not permit"),
        ("404", ValueError, "the store answered 404 AccessDenied"),
        ("wrong bytes", ValueError, "expected SHA-256 .*, found .*, 3 times.*upload it again"),
    ],
)
def test_fault__that_stays_is_a_sentence(fault, kind, says, front, tmp_path):
    front.fault = lambda method, path, number: fault if path.endswith(FIRST) else None
    train = opened(tmp_path)
    with pytest.raises(kind, match=says) as refused:
        train.document(0)
    assert "s3://mill/web/versions/" in str(refused.value)
    assert "\n" not in str(refused.value)
    front.fault = lambda method, path, number: None
    assert train.document(0).size == 40


def test_credentials__that_are_renewed_meanwhile_are_taken(front, results, tmp_path, monkeypatch):
    profile = tmp_path / "credentials"
    keys = (
        "[default]\naws_access_key_id = test\naws_secret_access_key = x\naws_session_token = {}\n"
    )
    profile.write_text(keys.format("old"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(profile))
    train = opened(tmp_path / "cache")

    def expired(method, path, number):
        profile.write_text(keys.format("new"))
        return "403" if number == first + 1 else None

    first, front.fault = len(front.asked), expired
    assert whole(train) == tokens_of(results)
    assert len(front.asked) == first + 1 + 2 * len(SIZES)
    assert front.tokens[first:] == ["old"] + ["new"] * 2 * len(SIZES)


def test_shard__that_is_replaced_under_a_reader_is_never_served(front, results, tmp_path):
    """By one of the same size, and by one of another, while the first is already here."""
    train = opened(tmp_path)
    assert train.document(0).size == 40
    folder = f"web/versions/{read_manifest(results)['sha256'][:16]}/tokens/train"
    with Bucket("mill") as bucket:
        before = {name: bucket.get(f"{folder}/{name}") for name in ("00001.bin", "00003.bin")}
        bucket.put(f"{folder}/00001.bin", bytes(len(before["00001.bin"])))
        bucket.put(f"{folder}/00003.bin", b"x")
        with pytest.raises(ValueError, match=r"00001.bin: expected SHA-256"):
            train.document(2)
        with pytest.raises(ValueError, match=r"00003.bin: expected 160 bytes, .* found 1. Copy"):
            train.document(6)
        for name, data in before.items():
            bucket.put(f"{folder}/{name}", data)
    assert whole(train) == tokens_of(results)


def test_latest__that_names_another_manifest_is_refused(front, results, tmp_path):
    with Bucket("mill") as bucket:
        before = bucket.get("web/latest")
        version = read_manifest(results)["sha256"][:16]
        bucket.put("web/latest", Latest(version, "0" * 64).encoded())
        with pytest.raises(ValueError, match="expected the manifest with SHA-256 0000"):
            opened(tmp_path)
        with pytest.raises(NoCorpusError, match="expected the manifest with SHA-256 0000"):
            place_of(ADDRESS, lambda line: None, QUICK)
        bucket.put("web/latest", b'{"corpusmill.latest": 1, "version": "../x"}')
        with pytest.raises(
            ValueError, match="expected a file of version 1 written by `corpusmill publish`"
        ):
            opened(tmp_path)
        bucket.put("web/latest", before)
    assert whole(opened(tmp_path)) == tokens_of(results)


def test_manifest__whose_bytes_changed_is_never_believed(front, results, tmp_path):
    """A split that is called otherwise would be read without one of its shards."""
    with served(shutil.copytree(results, tmp_path / "copy")) as server:
        manifest = tmp_path / "copy/manifest.json"
        data = manifest.read_text()
        manifest.write_text(data.replace("train/00007.bin", "trbin/00007.bin"))
        with pytest.raises(ValueError, match=r"its last line gives SHA-256 .*, 3 times"):
            Corpus(server.address, cache=tmp_path / "cache", patience=QUICK)
        manifest.write_text(data)
        assert Corpus(server.address, cache=tmp_path / "cache").splits == ["train"]


def test_results__that_were_copied_to_a_bucket_are_read_as_they_lie(front, results, tmp_path):
    with Bucket("mill") as bucket:
        for path in results.rglob("*"):
            if path.is_file():
                bucket.put(f"copied/{path.relative_to(results)}", path.read_bytes())
    assert whole(opened(tmp_path, "s3://mill/copied")) == tokens_of(results)


def test_web__address_of_a_published_corpus_is_one_of_a_corpus(results, tmp_path):
    """Behind any server of files; one that says 403 of what is not there, as public buckets do."""
    folder = tmp_path / "web"
    shutil.copytree(results, folder / "versions/1.0")
    latest = Latest("1.0", read_manifest(results)["sha256"])
    (folder / "latest").write_bytes(latest.encoded())
    with served(folder) as server:
        for fault in (None, "403"):
            server.fault = lambda path, request, fault=fault: (
                fault if path == "manifest.json" else None
            )
            train = opened(tmp_path / "cache", server.address)
            assert whole(train) == tokens_of(results)
            assert place_of(server.address, lambda line: None, QUICK).size("x") is None
        (folder / "latest").unlink()
        with pytest.raises(
            ValueError, match=r"manifest.json: expected the file, the server answered"
        ):
            opened(tmp_path / "cache", server.address)


# Several processes.

READER = """
import json, sys
from corpusmill.reader import Batches, Corpus, Windowed
cache, rank, ranks = sys.argv[1:]
train = Corpus("s3://mill/web", cache=cache).split("train")
print("ready", flush=True)
rows = []
for batch in Batches(Windowed(train, 8, 1, 2), 2, int(rank), int(ranks), epochs=2):
    rows += batch.tolist()
assert not {"pyarrow", "botocore", "boto3", "obstore", "requests", "urllib3"} & set(sys.modules)
print(json.dumps(rows), flush=True)
"""


def reader(cache: Path, rank: int = 0, ranks: int = 1) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", READER, *map(str, (cache, rank, ranks))],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("ranks", [3, 8])
def test_readers__of_a_node_share_one_copy_and_need_numpy_alone(ranks, front, results, tmp_path):
    readers = [reader(tmp_path, rank, ranks) for rank in range(ranks)]
    got = []
    for process in readers:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        got += json.loads(out.splitlines()[-1])
    here = Batches(Windowed(Corpus(results).split("train"), 8, 1, 2), 2, epochs=2)
    assert sorted(got) == sorted(row for batch in here for row in batch.tolist())
    fetched = [path for path in front.paths("GET") if "train" in path]
    assert len(fetched) == len(set(fetched)) == 2 * len(SIZES)


def test_reader__killed_in_a_download_is_gone_on_with(front, results, tmp_path):
    big = write_corpus(tmp_path / "big", {"train": [[400_000]]})
    publish_as(big, "big")
    front.seconds_per_block = 0.1
    process = reader(tmp_path / "cache")
    process.stdout.readline()
    part = half_fetched(tmp_path / "cache")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    came = part.stat().st_size
    front.seconds_per_block = 0
    assert whole(opened(tmp_path / "cache")) == tokens_of(big)
    assert f"bytes={came}-" in [asked for path, asked in front.ranges if path.endswith(FIRST)]
    publish_as(results, None)


FORKING = """
import os, shutil, sys
from corpusmill.stream import Corpus
address, cache = sys.argv[1:]
train = Corpus(address, cache=cache).split("train")
expected = train.read(0, train.tokens).tolist()
if not (child := os.fork()):
    shutil.rmtree(cache)
    os._exit(train.read(0, train.tokens).tolist() != expected)
sys.exit(os.waitpid(child, 0)[1])
"""


def test_fork__asks_over_connections_of_its_own(front, tmp_path):
    # A process of its own: a lock that a thread of ours holds just now would be locked for ever.
    command = [sys.executable, "-c", FORKING, ADDRESS, str(tmp_path / "cache")]
    assert subprocess.run(command, cwd=ROOT, timeout=120, check=False).returncode == 0
