"""Uploads to an object store and reads back: the bare client, `publish` and reading, with equal
bytes.

    python benchmarks/publish.py [--files 6] [--megabytes 64] [--streams 8] [--peer VENV/bin/python]

The store is loopback_store.py in its own process. It verifies nothing and keeps everything in
memory, so that the client is measured. The bare client hashes a file, as a signed request requires,
and sends it; it is also measured without a digest. `publish` also checks every file against the
manifest, checks the store afterwards, and keeps its order. Reading back works like a trainer's
cache: to a local folder, verified. --peer measures boto3 and obstore with their defaults, in an
environment with peers/object_stores.txt.
"""

import contextlib
import hashlib
import json
import mmap
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.measuring import ROOT, child, parser, timed
from benchmarks.run_folder import RunFolder
from benchmarks.stream import make
from corpusmill.mill.storage.files import as_json, own_digest
from corpusmill.reader import Corpus
from corpusmill.reader.downloads import Remote, download
from corpusmill.reader.patience import Patience
from corpusmill.reader.s3.bucket import Bucket
from corpusmill.reader.s3_store import S3Store
from corpusmill.tools.publish import publishing as command
from corpusmill.tools.publish.published import Asked

ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
               "AWS_REGION": "us-east-1", "AWS_CONFIG_FILE": os.devnull,
               "AWS_SHARED_CREDENTIALS_FILE": os.devnull}  # fmt: skip


@contextlib.contextmanager
def store() -> Iterator[str]:
    command = [sys.executable, str(ROOT / "benchmarks/loopback_store.py")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.terminate()
        process.wait()


def corpus(results: Path, files: int, megabytes: int) -> Path:
    """Make a corpus of so many shards of so many MB, with its digest."""

    make(results, files, megabytes * 500_000)
    content = json.loads((results / "manifest.json").read_text())
    (results / "manifest.json").write_text(as_json(content | {"sha256": own_digest(content)}))
    return results


def send_bare(bucket: Bucket, folder: str, files: list[Path], streams: int) -> None:
    """Send files with the least work for a signed request: read, hash, send."""
    with ThreadPoolExecutor(streams) as pool:
        list(pool.map(lambda path: bucket.put(f"{folder}/{path.name}", path.read_bytes()), files))


def send_unsigned(bucket: Bucket, folder: str, files: list[Path], streams: int) -> None:
    """Send files without a digest: the body is not signed, and corruption stays unnoticed."""

    def send(path: Path) -> None:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            bucket.connections.ask(
                "PUT", f"{folder}/{path.name}", body=memoryview(data), digest="UNSIGNED-PAYLOAD"
            )

    with ThreadPoolExecutor(streams) as pool:
        list(pool.map(send, files))


def read_bare(bucket: Bucket, folder: str, files: list[Path], streams: int) -> None:
    def read(path: Path) -> int:
        with bucket.connections.opened(f"{folder}/{path.name}", {}) as response:
            return sum(map(len, iter(partial(response.read1, 1 << 20), b"")))

    with ThreadPoolExecutor(streams) as pool:
        assert sum(pool.map(read, files)) == sum(path.stat().st_size for path in files)


def read_verified(address: str, cache: Path, streams: int) -> None:
    """Read back as a trainer's cache does, with as many streams as the bare client."""
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir(parents=True)
    shards = Corpus(address, cache=cache).split("train").shards
    files = [Remote(shards.name(n, "bin"), int(shards.tokens[n]) * 2, shards.sha256[n])
             for n in range(len(shards.numbers))]  # fmt: skip
    bucket, _, folder = address.removeprefix("s3://").partition("/")
    source = S3Store(bucket, folder.replace("@", "/versions/"))

    def bring(file: Remote) -> None:
        part = cache / file.name.replace("/", "-")
        download(source, file, part, Patience(), lambda line: None, Event())

    with ThreadPoolExecutor(streams) as pool:
        list(pool.map(bring, files))


def measure(given) -> None:
    run, results = RunFolder(given.run_folder), given.cache / "publish/results"
    corpus(results, given.files, given.megabytes)
    files = sorted((results / "tokens/train").glob("*.bin"))
    size = sum(path.stat().st_size for path in files)
    os.environ.update(ENVIRONMENT)

    def record(group: str, what: str, work: Callable[[], object]) -> None:
        busy = time.process_time()
        facts, _ = timed(work)
        run.record("publish", what, group=group, amount=size, unit="MB", output="equal bytes",
                   cpu_seconds=time.process_time() - busy, **facts)  # fmt: skip

    for number in range(given.runs):
        with store() as address, Bucket("mill", address) as bucket:
            os.environ["AWS_ENDPOINT_URL"] = address
            asked = Asked(results, f"s3://mill/{number}", "1", None, False, {},
                                  given.streams)  # fmt: skip
            send_bare(bucket, "warm", files[:1], given.streams)
            record("sending", "bare client", partial(send_bare, bucket, "bare", files,
                                                     given.streams))  # fmt: skip
            record("sending", "bare client, no digest", partial(send_unsigned, bucket, "unsigned",
                                                                files, given.streams))  # fmt: skip
            record("sending", "`publish`", partial(command.publish, asked, print))
            record("sending", "`publish` again, all is there", partial(command.publish, asked,
                                                                       print))  # fmt: skip
            record("reading", "bare client", partial(read_bare, bucket, "bare", files,
                                                     given.streams))  # fmt: skip
            record("reading", "to a cache, verified", partial(
                read_verified, f"s3://mill/{number}@1", given.cache / "publish/cache",
                given.streams))  # fmt: skip
        if given.peer:
            peers(run, files, size, given)
    run.close()


def peers(run: RunFolder, files: list[Path], size: int, given) -> None:
    folder = given.cache / "publish/files"
    folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        if not (folder / path.name).exists():
            os.link(path, folder / path.name)
    expected = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    for name in ("boto3", "obstore"):
        with store() as address:
            told = child([given.peer, ROOT / "benchmarks/peers/object_stores.py", "--client", name,
                          "--endpoint", address, "--files", folder,
                          "--streams", given.streams])  # fmt: skip
        assert told["digests"] == expected, name
        common = {"amount": size, "unit": "MB", "output": "equal bytes",
                  "peak_memory_mb": told["memory"]}  # fmt: skip
        run.record("publish", f"{name}, files in parts", group="sending", seconds=told["sent"],
                   cpu_seconds=told["sent_cpu"], **common)  # fmt: skip
        run.record("publish", f"{name}, with SHA-256", group="reading", seconds=told["back"],
                   **common)  # fmt: skip


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--files", type=int, default=6, help="shards")
    arguments.add_argument("--megabytes", type=int, default=64, help="of each")
    arguments.add_argument("--streams", type=int, default=8, help="requests at once")
    arguments.add_argument("--peer", help="Python of an environment with the peers")
    measure(arguments.parse_args())
