"""A corpus is published whole or not at all, whatever happens; and taken away likewise."""

import errno
import hashlib
import json
import os
import pickle
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from s3_server import ENVIRONMENT, NEEDS_STORE, SECRET, TOKEN, free_port, front_of, store
from stream_corpus import described, read_manifest, write_corpus, write_manifest
from workflow import ROOT

from corpusmill.cli.main import main
from corpusmill.reader import Corpus
from corpusmill.reader.patience import Patience
from corpusmill.reader.s3.answers import Refusal
from corpusmill.reader.s3.bucket import Bucket
from corpusmill.reader.s3.credentials import load_access
from corpusmill.run import job_progress as progress
from corpusmill.tools.publish import contents, sending, withdrawal
from corpusmill.tools.publish import publishing as command
from corpusmill.tools.publish.contents import contents_of
from corpusmill.tools.publish.published import Asked

pytestmark = NEEDS_STORE
QUICK = Patience(attempts=4, first_seconds=0.01, longest_seconds=0.02)
PART = 5 << 20  # the least that S3 puts together
SIZES = [[40, 60], [100]]


@pytest.fixture(autouse=True)
def no_phase_left(monkeypatch):
    """Of two publications at once in one process, one's phase stays."""
    monkeypatch.setattr(progress, "_current", None)


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with store(tmp_path_factory.mktemp("store")) as port:
        yield port


@pytest.fixture
def front(port, monkeypatch):
    """The door to the store; what the environment says is of it."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with front_of(port) as front:
        monkeypatch.setenv("AWS_ENDPOINT_URL", front.address)
        yield front


@pytest.fixture
def address(request):
    """A name of its own for each test."""
    return f"s3://mill/{hashlib.sha256(request.node.name.encode()).hexdigest()[:16]}"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"), {"train": SIZES, "test": [[]]})


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """With a shard of a part and a bit."""
    return with_shard(tmp_path_factory.mktemp("large"), PART + 24_690)


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    """With one of two parts and a bit."""
    return with_shard(tmp_path_factory.mktemp("larger"), 2 * PART + 24_690)


def with_shard(folder: Path, size: int) -> Path:
    """A corpus whose first shard has so many bytes, one document."""
    results = write_corpus(folder, {"train": [[1], *SIZES]})
    shard, content = results / "tokens/train/00000.bin", read_manifest(results)
    tokens = (np.arange(size // 2) * 7919 % 49_999 + 1).astype("<u2")
    tokens[-1] = 0
    tokens.tofile(shard)
    np.array([0, tokens.size], "<u8").tofile(shard.with_suffix(".idx"))
    own = [described(results, shard, documents=1, tokens=tokens.size),
           described(results, shard.with_suffix(".idx"))]  # fmt: skip
    others = [file for file in content["files"] if "train/00000." not in file["path"]]
    write_manifest(results, content | {"files": own + others})
    return results


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(sending, "WHOLE_BYTES", PART)
    monkeypatch.setattr(sending, "PART_BYTES", PART)


def publish(results: Path, address: str, version: str | None = None, **more):
    options = {"endpoint": None, "dry_run": False, "prices": {}, "streams": 4} | more
    said: list[str] = []
    asked = Asked(results=results, address=address, version=version, **options)
    return command.publish(asked, said.append, QUICK)


def unpublish(address: str, version: str, latest: bool = False, dry_run: bool = False):
    asked = withdrawal.Asked(address, version, latest, None, dry_run)
    return withdrawal.unpublish(asked, lambda line: None, QUICK)


def read(address: str, cache: Path, split: str = "train") -> bytes:
    shutil.rmtree(cache, ignore_errors=True)
    corpus = Corpus(address, cache=cache, patience=QUICK, say=lambda line: None)
    train = corpus.split(split)
    return train.read(0, train.tokens).tobytes()


def ids_of(results: Path, split: str = "train") -> bytes:
    return b"".join(
        file.read_bytes() for file in sorted((results / f"tokens/{split}").glob("*.bin"))
    )


def verified(address: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["verify", address])
    return done.exit_code, done.output


def keys(address: str) -> dict[str, int]:
    """Objects of a corpus, by what stands behind its name."""
    bucket, _, name = address.removeprefix("s3://").partition("/")
    with Bucket(bucket) as opened:
        return {key.removeprefix(f"{name}/"): size
                for key, size in opened.listed(f"{name}/").sizes.items()}  # fmt: skip


def uploads(address: str) -> list:
    bucket, _, name = address.removeprefix("s3://").partition("/")
    with Bucket(bucket) as opened:
        return opened.uploads(f"{name}/")


def changed(results: Path, folder: Path) -> Path:
    """Another corpus: without its last shard."""
    copy = folder / "results"
    shutil.copytree(results, copy)
    content = read_manifest(copy)
    last = max(file["path"] for file in content["files"] if "train" in file["path"])
    content["files"] = [file for file in content["files"] if last[:-4] not in file["path"]]
    write_manifest(copy, content)
    (copy / last.removeprefix("results/")).unlink()
    (copy / last.removeprefix("results/")).with_suffix(".bin").unlink()
    return copy


# What is there afterwards.


def test_publish__brings_all_that_is_listed_and_is_read_by_every_address(
    front, results, address, tmp_path, monkeypatch
):
    done = publish(results, address)
    digest = read_manifest(results)["sha256"]
    assert done.version == digest[:16]
    listed = {file["path"].removeprefix("results/") for file in read_manifest(results)["files"]}
    folder = f"versions/{done.version}/"
    assert keys(address).keys() == {
        "latest", *(folder + name for name in [*listed, "manifest.json", "publication.json",
                                               "README.md"])
    }  # fmt: skip
    web = f"{front.address}/{address.removeprefix('s3://')}"
    monkeypatch.setattr(front, "unsigned_too", True)
    for place in (address, f"{address}@{done.version}", f"{address}/{folder}", web):
        assert read(place, tmp_path / "cache") == ids_of(results)
        assert verified(place)[0] == 0
    assert read(address, tmp_path / "cache", "test") == ids_of(results, "test")


def test_publish__again_sends_nothing(front, large, address, small_parts):
    first = publish(large, address)
    assert first.also["sent_bytes"] == sum(file.bytes for file in first.contents.files)
    sent = front.paths("PUT")
    assert len([path for path in sent if "partNumber=" in path]) == 2
    again = publish(large, address)
    assert (again.also["sent_bytes"], len(again.there)) == (0, len(again.contents.files))
    # The manifest, which the store refuses as one is there.
    assert [Path(path).name for path in front.paths("PUT")[len(sent) :]] == ["manifest.json"]


def test_version__may_be_named_and_latest_follows(front, results, address, tmp_path):
    other = changed(results, tmp_path)
    publish(results, address, "1.0")
    publish(other, address, "1.1")
    cache = tmp_path / "cache"
    assert read(f"{address}@1.0", cache) == ids_of(results)
    assert read(address, cache) == read(f"{address}@1.1", cache) != ids_of(results)
    publish(results, address, "1.0")  # back again
    assert read(address, cache) == ids_of(results)


def test_corpus_of_a_run__agrees_with_itself_where_it_is_published(front, every_fate, address):
    done = publish(every_fate / "results", address)
    beside = {file.name: file.data for file in done.contents.beside}
    assert list(beside)[:2] == ["README.md", "summary.json"]
    for name in ("DATASET_CARD.md", "training_content.md"):
        assert beside[name] == (every_fate / "results" / name).read_bytes()
    looked = CliRunner().invoke(main, ["verify", address, "--deep", "--json"])
    told = json.loads(looked.stdout)
    assert (told["damages"], told["files"]) == ([], len(done.contents.listed))
    card = done.contents.beside[0].data.decode()
    assert done.contents.listing.sha256 in card
    assert (
        f"| all sources | {json.loads(done.contents.beside[1].data)['documents']['in']:,} |" in card
    )


def test_summary_and_card__go_along_and_stay_as_they_were(front, results, address, tmp_path):
    copy = shutil.copytree(results, tmp_path / "results")
    digest = read_manifest(copy)["sha256"]
    documents = {"in": 20, "kept": 12, "dropped": {"empty": 8, "malformed": 0}, "written": 12}
    source = {"documents": documents, "tokens": {"train": 520, "test": 13}}
    ends = {"source": "Qwen/Qwen3", "end_of_text": "<|im_end|>", "end_of_text_id": 151645}
    summary = source | {"manifest": digest, "sources": {"a|b": source}, "rules": {"s": 1}}
    summary |= {"tokenizer": ends}
    (copy / "summary.json").write_text(json.dumps(summary))
    (copy / "summary.txt").write_text("a table")
    done = publish(copy, address)
    card = contents_of(copy, address).beside[0].data.decode()
    assert "| a\\|b | 20 | 8 | 12 | 533 |" in card
    told = "Tokenizer: Qwen/Qwen3. Documents end with \\<\\|im\\_end\\|\\>, id 151645."
    assert told in card
    assert f'Corpus("{address}", cache="shards")' in card
    (copy / "summary.json").write_text(json.dumps(summary | {"rules": {"s": 2}}))
    assert publish(copy, address).also["sent_bytes"] == 0
    folder = f"{address.removeprefix('s3://mill/')}/versions/{done.version}"
    with Bucket("mill") as bucket:
        assert json.loads(bucket.get(f"{folder}/summary.json")) == summary
        assert bucket.get(f"{folder}/README.md").decode() == card


def manifest_size(done) -> int:
    return done.contents.manifest.bytes


# Faults of store and network.

PASSING = ["503", "500", "409", "no answer", "lost answer", "400", "wrong bytes"]


@pytest.mark.parametrize("fault", PASSING)
def test_fault__that_passes_is_tried_again(fault, front, large, address, small_parts, tmp_path):
    """Whatever is asked for goes wrong the first time."""
    codes_of_a_put = {"400", "409"}
    front.fault = lambda method, path, number: (
        fault
        if (method, path) not in front.asked[: number - 1]
        and (method == "PUT" or fault not in codes_of_a_put)
        else None
    )
    publish(large, address)
    front.fault = lambda method, path, number: None
    assert verified(address)[0] == 0
    assert read(address, tmp_path / "cache") == ids_of(large)
    assert uploads(address) == []


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (
            "503",
            r"the store answered 503 SlowDown, 4 times in a row. .* Repeat the command to resume.",
        ),
        ("no answer", r"4 times in a row. Sent data is kept. Repeat the command to resume."),
        ("403", r"the store answered 403 ExpiredToken: the credentials are expired. Get new ones"),
        ("wrong bytes", r"the store answered 400 \w+, 4 times in a row"),
    ],
)
def test_fault__that_stays_is_a_sentence_and_shows_readers_nothing(
    fault, says, front, results, address, tmp_path
):
    front.fault = lambda method, path, number: fault if "tokens/train/00001.bin" in path else None
    with pytest.raises((OSError, ValueError), match=says) as refused:
        publish(results, address)
    assert "\n" not in str(refused.value)
    assert not {"latest", "manifest.json"} & {name.split("/")[-1] for name in keys(address)}
    with pytest.raises(ValueError, match="404 NoSuchKey"):
        read(address, tmp_path / "cache")
    front.fault = lambda method, path, number: None
    assert publish(results, address).there
    assert read(address, tmp_path / "cache") == ids_of(results)


def test_bucket__that_may_not_be_listed_is_no_damage_to_verify(front, results, address):
    publish(results, address)
    front.fault = lambda method, path, number: "401" if "list-type" in path else None
    code, said = verified(address)
    assert (code, said.count("\n")) == (2, 1)
    assert "the store answered 401 AccessDenied" in said


def test_parts__end_with_the_first_that_the_store_refuses(
    front, larger, address, small_parts, monkeypatch
):
    monkeypatch.setattr(sending, "PART_BYTES", 1 << 20)  # eleven, and two buffers
    front.fault = lambda method, path, number: "403" if "partNumber=" in path else None
    with pytest.raises(Refusal):
        publish(larger, address, streams=1)
    assert 1 <= len([path for path in front.paths("PUT") if "partNumber=" in path]) <= 3


def test_parts__that_came_before_are_gone_on_with(front, large, address, small_parts):
    """The second part never comes, then all is asked for again."""
    front.fault = lambda method, path, number: "403" if "partNumber=2" in path else None
    with pytest.raises(Refusal):
        publish(large, address)
    front.fault = lambda method, path, number: None
    (begun,) = uploads(address)
    before = len(front.asked)
    publish(large, address)
    sent = [path for method, path in front.asked[before:] if "partNumber=" in path]
    assert [re.search(r"partNumber=(\d)", path)[1] for path in sent] == ["2"]
    assert begun[1] in sent[0]
    assert uploads(address) == []
    assert verified(address)[0] == 0


def test_upload__that_somebody_else_aborts_is_begun_anew(front, large, address, small_parts):
    def abort(number):
        if "uploadId" in front.asked[number - 1][1] and not aborted:
            aborted.extend(uploads_beside(front, address))

    aborted: list = []
    front.behind = abort
    publish(large, address)
    assert aborted
    assert verified(address)[0] == 0


def uploads_beside(front, address: str) -> list:
    """Abort what is under way, past the door."""
    name = address.removeprefix("s3://mill/")
    with Bucket("mill", f"http://127.0.0.1:{front.store}") as bucket:
        found = bucket.uploads(name)
        for key, upload in found:
            bucket.abort(key, upload)
    return found


def test_publishers__of_the_same_content_do_not_harm_each_other(
    front, large, address, small_parts, tmp_path
):
    done, faults = [], []

    def run():
        try:
            done.append(publish(large, address))
        except Exception as fault:  # told below
            faults.append(fault)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert verified(address)[0] == 0
    assert uploads(address) == []
    assert read(address, tmp_path / "cache") == ids_of(large)


def test_publishers__of_other_content_as_one_version_are_told_apart(
    front, results, address, tmp_path
):
    """Both find nothing there; the second to claim it is refused, and has sent nothing."""
    other = changed(results, tmp_path)

    def between(number):
        method, path = front.asked[number - 1]
        if method == "PUT" and path.endswith("publication.json"):
            front.ahead = lambda number: None
            publish(other, address, "v1")

    front.ahead = between
    with pytest.raises(
        ValueError, match=r"found one with .*Published versions never change: choose"
    ):
        publish(results, address, "v1")
    assert verified(address)[0] == 0
    assert read(address, tmp_path / "cache") == ids_of(other)


def test_store__that_knows_no_conditions_refuses_other_content_too(
    front, results, address, tmp_path, monkeypatch
):
    publish(results, address, "v1")
    put = Bucket.put_with
    monkeypatch.setattr(
        Bucket,
        "put_with",
        lambda self, key, body, digest, only_new=False: put(self, key, body, digest),
    )
    before = len(front.paths("PUT"))
    with pytest.raises(ValueError, match="Published versions never change"):
        publish(changed(results, tmp_path), address, "v1")
    assert len(front.paths("PUT")) == before


def test_store__that_keeps_no_checksum_is_believed_by_what_was_noted(
    front, large, address, small_parts, monkeypatch
):
    head = Bucket.head
    monkeypatch.setattr(
        Bucket, "head", lambda self, key: (found := head(self, key)) and found._replace(checksum="")
    )
    publish(large, address)
    assert publish(large, address).also["sent_bytes"] == 0


def test_object__that_was_changed_behind_our_back_is_sent_again(front, large, address, small_parts):
    done = publish(large, address)
    for name in ("tokens/train/00000.bin", "tokens/train/00001.bin"):
        size = next(file.bytes for file in done.contents.files if file.name == name)
        with Bucket("mill") as bucket:
            folder = f"{address.removeprefix('s3://mill/')}/versions/{done.version}"
            bucket.put(f"{folder}/{name}", bytes(size))
    assert verified(address)[0] == 1
    again = publish(large, address)
    assert len(again.contents.files) - len(again.there) == 2
    assert verified(address)[0] == 0


# Killed.


IN_SMALL_PARTS = f"""
from corpusmill.tools.publish import sending
sending.WHOLE_BYTES = sending.PART_BYTES = {PART}
from corpusmill.cli.main import main
main()
"""


def killed_at(front, results: Path, address: str, moment: int, answered: bool) -> int:
    """Publish in a process that is killed when its request of this number comes to the store, or
    has been done there; its exit code."""
    process = subprocess.Popen(
        [sys.executable, "-c", IN_SMALL_PARTS, "publish", str(results), address],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    first = len(front.asked)

    def kill(number):
        if number - first == moment:
            process.send_signal(signal.SIGKILL)

    front.ahead, front.behind = (lambda number: None, kill) if answered else (kill, lambda n: None)
    code = process.wait(60)
    front.ahead = front.behind = lambda number: None
    return code


@pytest.mark.parametrize(
    ("method", "told"), [("PUT", "Readers are not affected"), ("DELETE", "Run the command again")]
)
def test_stopped__while_the_store_is_silent_ends_at_once(method, told, front, results, address):
    words = ["publish", str(results), address]
    if method == "DELETE":
        words = ["unpublish", address, "--version", publish(results, address, "a").version]
        publish(results, address, "b")
    came, go_on = threading.Event(), threading.Event()

    def silence(asked: str, path: str, number: int) -> None:
        if asked == method and "/tokens/" in path:
            came.set()
            go_on.wait(60)

    front.fault = silence
    process = subprocess.Popen(
        [sys.executable, "-m", "corpusmill", *words], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    assert came.wait(60)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=15)  # it counts as broken after 30 seconds
    go_on.set()
    assert process.returncode == 130
    assert told in said.splitlines()[-1]
    assert "trying again" not in said


def campaign(front, old: Path, new: Path, address: str, cache: Path, moments: list[int]) -> None:
    publish(old, address)
    before = read(address, cache)
    for place, moment in enumerate(moments):
        code = killed_at(front, new, address, moment, answered=bool(place % 2))
        seen = read(address, cache)
        assert seen in ([before] if code else [ids_of(new)]) or seen == ids_of(new)
        assert verified(address)[0] == 0
    publish(new, address)
    assert read(address, cache) == ids_of(new)
    assert verified(address)[0] == 0
    assert uploads(address) == []


def test_publish__killed_twenty_times(front, results, large, address, small_parts, tmp_path):
    """Each time the publication before is gone on with, so the moments are those of a few runs."""
    moments = [random.Random(seed).randint(1, 40) for seed in range(20)]
    campaign(front, results, large, address, tmp_path / "cache", moments)


# Bad input.


def refused(*arguments: object) -> str:
    """The one sentence by which a command ends."""
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exit_code == 1, done.output
    assert done.stdout == ""
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert done.stderr.splitlines()[-1] == line
    return line


def test_results__that_are_no_corpus_are_refused_before_the_store_is_asked(
    front, results, address, tmp_path
):
    assert "there is no" in refused("publish", tmp_path, address)
    copy = shutil.copytree(results, tmp_path / "results")
    content = read_manifest(copy)
    write_manifest(copy, content | {"corpusmill.manifest": 2})
    assert "expected manifest version 1, found 2" in refused("publish", copy, address)
    (copy / "manifest.json").write_text(json.dumps(content | {"generation": 7}))
    assert "it was changed or truncated" in refused("publish", copy, address)
    write_manifest(copy, content)
    (copy / "summary.json").write_text('{"manifest": "another"}')
    assert "expected a summary that belongs to manifest" in refused("publish", copy, address)
    own = {"manifest": content["sha256"]}
    for summary in (own, own | {"sources": []}, own | {"sources": {}, "documents": None}):
        (copy / "summary.json").write_text(json.dumps(summary))
        assert "found what has other members" in refused("publish", copy, address)
    (copy / "summary.json").unlink()
    (copy / "tokens/train/00001.bin").unlink()
    assert "00001.bin: it is missing" in refused("publish", copy, address)
    (copy / "tokens/train/00001.bin").write_bytes(b"x")
    assert "00001.bin: expected 200 bytes, as listed in manifest.json" in refused(
        "publish", copy, address
    )
    assert front.asked == []


def test_manifest__that_a_run_replaces_meanwhile_is_not_sent(
    front, results, address, monkeypatch, tmp_path
):
    copy, sizes = shutil.copytree(results, tmp_path / "results"), contents.check_size

    def look(file: contents.File) -> None:
        write_manifest(copy, read_manifest(copy) | {"generation": 2})
        sizes(file)

    monkeypatch.setattr(contents, "check_size", look)
    done = publish(copy, address)
    assert done.contents.manifest.data == (results / "manifest.json").read_bytes()
    assert read(address, tmp_path / "cache") == ids_of(results)
    assert verified(address)[0] == 0


@pytest.mark.parametrize("name", ["tokens/train/00000.bin", "tokens/train/00001.bin"])
def test_file__that_is_not_what_is_listed_is_never_an_object(
    name, front, large, address, small_parts, tmp_path
):
    copy = shutil.copytree(large, tmp_path / "results")
    with open(copy / name, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"x")
    said = refused("publish", copy, address)
    assert f"{name}: expected SHA-256" in said
    assert "Copy it again; or remove" in said
    assert not any(key.endswith(name) or key == "latest" for key in keys(address))
    assert not any(key.endswith(name) for key, _ in uploads(address))
    publish(large, address)
    assert verified(address)[0] == 0


def test_file__that_the_disk_does_not_give_is_no_fault_of_the_store(
    front, results, address, monkeypatch
):
    def look(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(sending, "open", look, raising=False)
    said: list[str] = []
    asked = Asked(results, address, None, None, False, {})
    with pytest.raises(ValueError, match="cannot be read: Permission denied"):
        command.publish(asked, said.append, QUICK)
    assert said == []


def test_bucket__that_does_not_exist_is_told(front, results, tmp_path):
    said = refused("publish", results, "s3://no-such-bucket/x")
    assert "404 NoSuchBucket: there is no such bucket. Create it first" in said
    with pytest.raises(ValueError, match="NoSuchBucket: there is no such bucket"):
        read("s3://no-such-bucket/x", tmp_path)
    assert verified("s3://no-such-bucket/x")[0] == 2


@pytest.mark.parametrize(
    "address",
    ["s3://mill", "s3://mill/", "s3://Mill/x", "s3://mill/a b", "s3://mill/../x", "s3://mill/a//b",
     "s3://mill/versions", "s3://mill/x/latest/y", "s3://mill/x?y", "s3://mill/.x", "mill/x",
     "gs://mill/x", "s3://mill/ä", "s3://mill/x@", "s3://mill/x@1@2", "s3://mill/x@1/2"],
)  # fmt: skip
def test_name__with_odd_characters_is_refused(address, front, results):
    said = refused("publish", results, address)
    assert "expected s3://bucket/name" in said or "expected 1 to 64 characters" in said
    assert front.asked == []


def test_version__with_odd_characters_is_refused(front, results, address):
    for version in ("a/b", "", "..", "x" * 65, "a b"):
        said = refused("publish", results, address, "--version", version)
        assert f"version {version!r}: expected 1 to 64 characters" in said
    assert "expected an address without a version" in refused("publish", results, f"{address}@1")
    assert front.asked == []


def test_target__with_something_else_there_is_left_alone(front, results, address):
    name = address.removeprefix("s3://mill/")
    with Bucket("mill") as bucket:
        bucket.put(f"{name}/notes.txt", b"mine")
        bucket.put(f"{name}/sub/versions/x", b"mine")
        bucket.put(f"{name}/sub/b/latest", b"mine")
        bucket.put(f"{name}/sub/c/versions/1/publication.json", b"mine")
    before = len(front.paths("PUT"))
    assert "found notes.txt" in refused("publish", results, address).replace(f"{name}/", "")
    assert "found" in refused("publish", results, f"{address}/sub", "--version", "x")
    assert "expected a file of version 1 written by `corpusmill publish`" in refused(
        "publish", results, f"{address}/sub/b"
    )
    assert "expected a file of version 1 written by `corpusmill publish`" in refused(
        "publish", results, f"{address}/sub/c", "--version", "1"
    )
    assert len(front.paths("PUT")) == before
    assert front.paths("DELETE") == []


def test_version__with_a_foreign_object_in_it_is_refused(front, results, address):
    done = publish(results, address)
    name = address.removeprefix("s3://mill/")
    with Bucket("mill") as bucket:
        bucket.put(f"{name}/versions/{done.version}/tokens/train/00099.bin", b"mine")
    assert "found tokens/train/00099.bin" in refused("publish", results, address)
    code, said = verified(address)
    assert (code, "00099.bin: the manifest does not list this file" in said) == (1, True)


def test_endpoint__that_nobody_answers_at_is_told_within_ten_seconds(
    front, results, address, monkeypatch
):
    monkeypatch.setattr("corpusmill.tools.publish.target.FIRST_SILENCE_SECONDS", 0.5)
    began = time.monotonic()
    nobody = f"http://127.0.0.1:{free_port()}"
    said = refused("publish", results, address, "--endpoint-url", nobody)
    assert "refused" in said
    assert "2 times in a row. Is the store's address correct in --endpoint-url" in said
    with socket.create_server(("127.0.0.1", 0)) as silent:
        nobody = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert "timed out" in refused("publish", results, address, "--endpoint-url", nobody)
    assert time.monotonic() - began < 10
    for endpoint in (
        "ftp://x", "x", "http://user:hidden@x", "http://x:y", "http://[::1", "http://.x",
        "http://a b", "http://user:hidden@x℀",
    ):  # fmt: skip
        said = refused("publish", results, address, "--endpoint-url", endpoint)
        assert "the endpoint of the store: expected http(s)://host" in said
        assert "hidden" not in said


def test_credentials__that_are_not_there_are_told(front, results, address, monkeypatch, tmp_path):
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert "expected credentials in AWS_ACCESS_KEY_ID and" in refused("publish", results, address)
    assert "found the access key alone" in refused("publish", results, address)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert "found none. Set both" in refused("publish", results, address)
    with pytest.raises(ValueError, match=r"found none. Set both"):
        read(address, tmp_path)
    assert front.asked == []


def test_secrets__are_in_nothing_that_is_written_or_said(front, results, address, tmp_path):
    """Of commands that end well, badly, and by a fault of the store that repeats the request."""
    said = []
    for arguments in (
        ["publish", results, address, "--dry-run"], ["publish", results, address, "--json"],
        ["publish", results, address, "--version", "2"], ["verify", address, "--json"],
        ["unpublish", address, "--version", "2"], ["publish", tmp_path, address],
    ):  # fmt: skip
        done = CliRunner().invoke(main, [str(argument) for argument in arguments])
        said += [done.output, done.stderr, repr(done.exception)]
    front.fault = lambda method, path, number: "403"
    said.append(refused("publish", results, address))
    name = address.removeprefix("s3://mill/")
    with Bucket("mill", f"http://127.0.0.1:{front.store}") as bucket:
        said += [bucket.get(key).decode("latin-1") for key in bucket.listed(name).sizes]
        said += [repr(vars(bucket)), repr(pickle.dumps(bucket.connections))]
    said += [path.read_text("latin-1") for path in results.rglob("*") if path.is_file()]
    assert [text for text in said if SECRET in text or TOKEN in text] == []
    assert SECRET not in repr(load_access("x", None))


# What it would take.


def test_dry_run__says_what_would_be_done_and_does_nothing(front, large, address, small_parts):
    done = CliRunner().invoke(
        main, ["publish", str(large), address, "--dry-run", "--price", "month=0.02",
               "--price", "read=0.09", "--price", "writes=0.005", "--price", "reads=0.0004"]
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert {method for method, _ in front.asked} == {"GET"}
    assert "to send  tokens/train/00000.bin" in done.stdout
    assert re.search(r"roughly 0.0001 a month, 0.0001 to send it, 0.0005 a full read, "
                     r"in the currency of your prices: 0.02 for a GB for a month",
                     done.stdout)  # fmt: skip
    publish(large, address)
    there = publish(large, address, dry_run=True)
    assert (there.also["sent_bytes"], len(there.there)) == (
        manifest_size(there),
        len(there.contents.files),
    )
    assert there.also["costs"]["money"] == {}


def test_dry_run__counts_the_requests_of_a_publication(front, large, address, small_parts):
    expected = publish(large, address, dry_run=True).also["costs"]["writes"]
    before = len(front.asked)
    publish(large, address)
    listing = ("list-type", "uploads")
    written = [
        method
        for method, path in front.asked[before:]
        if method in ("PUT", "POST") or any(word in path for word in listing)
    ]
    assert abs(len(written) - expected) <= 1


@pytest.mark.parametrize("price", ["month", "week=1", "month=x", "month=-1", "month=nan", "=1"])
def test_price__that_is_none_is_refused(price, front, results, address):
    assert f"--price {price}: expected one of month, read" in refused(
        "publish", results, address, "--price", price
    )


def test_check_sizes__refuses_an_object_of_another_size():
    target = SimpleNamespace(sizes=lambda: {"a": 3, "b": 5}, where=lambda name: f"s3://c/{name}")
    files = [SimpleNamespace(name="a", bytes=3), SimpleNamespace(name="b", bytes=4)]
    command.check_sizes(target, files[:1])
    with pytest.raises(OSError, match="s3://c/b: expected 4 bytes, found 5"):
        command.check_sizes(target, files)


def test_parts__are_never_more_than_a_store_takes():
    for size in (0, 1, sending.PART_BYTES, sending.PART_BYTES + 1, 5 << 40, 123_456_789_012):
        parts = sending.part_count(size)
        assert parts <= sending.MOST_PARTS
        assert parts * sending.part_bytes(size) >= size or not parts


def test_listings__go_on_where_an_answer_ended(front, larger, address, small_parts, monkeypatch):
    monkeypatch.setattr("corpusmill.reader.s3.bucket.MOST_AT_ONCE", 1)
    front.fault = lambda method, path, number: "403" if "partNumber=3" in path else None
    with pytest.raises(Refusal):
        publish(larger, address)
    front.fault = lambda method, path, number: None
    with Bucket("mill") as bucket:
        for n in range(4):
            bucket.begin(f"{address.removeprefix('s3://mill/')}/versions/x/{n}", "0" * 64)
    assert len(uploads(address)) == 5
    count = len(front.asked)
    publish(larger, address)
    assert [path for _, path in front.asked[count:] if "part-number-marker" in path]
    assert publish(larger, address).also["sent_bytes"] == 0
    assert verified(address)[0] == 0
    assert len([path for _, path in front.asked if "continuation-token" in path]) > 5


def test_json__says_what_was_done(front, results, address):
    done = CliRunner().invoke(main, ["publish", str(results), address, "--json"])
    told = json.loads(done.stdout)
    assert (told["corpusmill.publish"], told["address"], told["dry_run"]) == (1, address, False)
    assert told["bytes"] == sum(file["bytes"] for file in told["files"])
    assert told["manifest_sha256"].startswith(told["version"])
    more = ["--version", told["version"], "--latest", "--json"]
    gone = json.loads(CliRunner().invoke(main, ["unpublish", address, *more]).stdout)
    assert (gone["corpusmill.unpublish"], len(gone["keys"])) == (1, len(told["files"]) + 2)


# Taken away.


def test_unpublish__takes_a_version_away_its_manifest_first(front, results, address, tmp_path):
    other = changed(results, tmp_path)
    publish(results, address, "1")
    publish(other, address, "2")
    planned = unpublish(address, "1", dry_run=True).keys
    assert front.paths("DELETE") == []
    unpublish(address, "1")
    gone = [path.removeprefix("/mill/") for path in front.paths("DELETE")]
    assert (gone[0], gone[-1], sorted(gone)) == (planned[0], planned[-1], sorted(planned))
    assert gone[0].endswith("/1/manifest.json")
    assert not any("versions/1/" in key for key in keys(address))
    assert read(address, tmp_path / "cache") == ids_of(other)
    with pytest.raises(ValueError, match="404 NoSuchKey"):
        read(f"{address}@1", tmp_path / "cache")


def test_unpublish__never_takes_what_readers_get(front, results, address, tmp_path):
    publish(results, address, "1")
    assert "add --latest" in refused("unpublish", address, "--version", "1")
    publish(changed(results, tmp_path), address, "2")
    for more in ([], ["--latest"]):
        said = refused("unpublish", address, "--version", "2", *more)
        assert "found the latest version in" in said
        assert "(2 in all)" in said
        assert "first publish a different version" in said
    assert "found nothing" in refused("unpublish", address, "--version", "3")
    assert verified(address)[0] == 0
    unpublish(address, "1")
    unpublish(address, "2", latest=True)
    assert keys(address) == {}


def test_unpublish__that_was_stopped_goes_on(front, results, address, tmp_path):
    publish(results, address, "1")
    publish(changed(results, tmp_path), address, "2")
    front.fault = lambda method, path, number: (
        "403" if method == "DELETE" and "00001" in path else None
    )
    with pytest.raises(Refusal):
        unpublish(address, "1")
    front.fault = lambda method, path, number: None
    assert "versions/1/publication.json" in keys(address)
    unpublish(address, "1")
    assert not any("versions/1/" in key for key in keys(address))
    publish(results, address, "1")
    assert verified(address)[0] == 0
