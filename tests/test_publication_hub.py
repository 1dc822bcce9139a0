"""A corpus in a dataset repository: one commit or none, and read there by plain HTTP."""

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
from click.testing import CliRunner
from hub_server import READER, SIGNATURE, WRITER, Blob, hub_of_datasets
from huggingface_hub.utils import _http
from stream_corpus import described, read_manifest, tokens_of, write_corpus, write_manifest
from workflow import ROOT

from corpusmill.cli.main import main
from corpusmill.mill.report.dataset_card import HERE
from corpusmill.reader import Corpus
from corpusmill.reader.hub_addresses import parsed_hub, token
from corpusmill.reader.hub_store import HubStore
from corpusmill.reader.patience import Patience
from corpusmill.tools.publish import hub as publication
from corpusmill.tools.publish.published import Asked

# huggingface_hub calls the newest httpx2 as the older ones were to be called.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")
QUICK = Patience(attempts=4, first_seconds=0.01, longest_seconds=0.02)
ADDRESS = "hf://mill/corpus"
SIZES = [[40, 60], [100], [], [9]]
SECRETS = [WRITER, READER, SIGNATURE]


@pytest.fixture
def hub(monkeypatch, tmp_path):
    with hub_of_datasets() as hub:
        # The library looks at the environment when it is imported, which was before.
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", hub.address)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
        waits = SimpleNamespace(sleep=lambda seconds: None, time=time.time)
        monkeypatch.setattr(_http, "time", waits)
        for name, value in environment_of(hub, tmp_path).items():
            monkeypatch.setenv(name, value)
        yield hub


def environment_of(hub, folder: Path) -> dict[str, str]:
    return {"HF_ENDPOINT": hub.address, "HF_TOKEN": WRITER, "HF_HOME": str(folder / "home"),
            "HF_HUB_DISABLE_XET": "1", "no_proxy": "*"}  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"), {"train": SIZES, "test": [[9, 4]]})


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Another corpus, with fewer shards."""
    return write_corpus(tmp_path_factory.mktemp("others"), {"train": [[7, 5], [30]]})


def publish(results: Path, version: str | None = None, address: str = ADDRESS, **more):
    said: list[str] = []
    options = {"endpoint": None, "dry_run": False, "prices": {}, "streams": 2} | more
    asked = Asked(results=results, address=address, version=version, **options)
    return publication.publish(asked, said.append, QUICK)


def read(address: str, cache: Path) -> list[int]:
    shutil.rmtree(cache, ignore_errors=True)
    train = Corpus(address, cache=cache, patience=QUICK, say=lambda line: None).split("train")
    return train.read(0, train.tokens).tolist()


def command(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert not any(secret in done.output for secret in SECRETS)
    return done.exit_code, done.output


def main_of(hub):
    return hub.repos["mill/corpus"]


# What is there afterwards.


def test_publish__brings_all_in_one_commit_and_is_read_by_every_address(hub, results, tmp_path):
    code, output = command("publish", results, ADDRESS)
    assert code == 0, output
    digest = read_manifest(results)["sha256"]
    repo, version = main_of(hub), digest[:16]
    local = {str(path.relative_to(results)): path.read_bytes()
             for path in results.rglob("*") if path.is_file()}  # fmt: skip
    files = dict(repo.files)
    assert files.pop("README.md").startswith(b"---\nviewer: false\n---\n\n# corpus\n")
    assert files.pop(".gitattributes")
    assert files == local
    assert len(repo.commits) == 2
    assert repo.tags == {version: repo.head}
    assert "no licence is named" in output
    assert f'To read it: Corpus("{ADDRESS}", cache=FOLDER), or "{ADDRESS}@{version}"' in output
    for address in (ADDRESS, f"{ADDRESS}@{version}", f"hf://datasets/mill/corpus@{repo.head}"):
        assert read(address, tmp_path / "cache") == tokens_of(results)
    code, output = command("verify", ADDRESS)
    assert code == 0, output


def with_card(results: Path, folder: Path) -> Path:
    """The corpus with a summary and a dataset card."""
    copy = shutil.copytree(results, folder / "described")
    digest = read_manifest(copy)["sha256"]
    documents = {"in": 9, "kept": 9, "dropped": {}, "written": 9}
    told = {"documents": documents, "tokens": {"train": 9}, "manifest": digest, "sources": {}}
    (copy / "summary.json").write_text(json.dumps(told))
    (copy / "DATASET_CARD.md").write_text(f"---\nlicense: mit\n---\n\n# mine\n\n{digest} {HERE}\n")
    (copy / "training_content.md").write_text(f"about {digest}\n")
    return copy


def test_publish__makes_the_dataset_card_the_card_of_the_repository(hub, results, tmp_path):
    copy = with_card(results, tmp_path)
    publish(copy)
    files = main_of(hub).files
    card = (copy / "DATASET_CARD.md").read_text()
    assert files["README.md"].decode() == card.replace(HERE, f'Corpus("{ADDRESS}", cache="shards")')
    assert files["training_content.md"] == (copy / "training_content.md").read_bytes()
    assert "DATASET_CARD.md" not in files
    assert read(ADDRESS, tmp_path / "cache") == tokens_of(results)


@pytest.mark.parametrize("name", ["DATASET_CARD.md", "training_content.md"])
def test_publish__refuses_a_description_of_another_corpus(name, hub, results, tmp_path):
    copy = with_card(results, tmp_path)
    (copy / name).write_text("about another corpus\n")
    code, output = command("publish", copy, ADDRESS)
    assert code == 1
    assert f"{name}: expected a description that names manifest" in " ".join(output.split())
    assert hub.repos == {}


def test_publish__again_does_nothing_and_says_so(hub, results):
    first = publish(results)
    hub.asked.clear()
    code, output = command("publish", results, ADDRESS)
    assert code == 0
    assert "0.0 MB were missing" in output
    assert [path for method, path, _ in hub.asked if method != "GET"] == []
    assert main_of(hub).head == first.also["commit"]


def test_publish__gives_the_same_content_a_second_name_without_a_commit(hub, results):
    first = publish(results)
    publish(results, "second")
    repo = main_of(hub)
    assert repo.tags == {first.version: repo.head, "second": repo.head}
    assert len(repo.commits) == 2


def test_version__that_follows_takes_the_place_of_the_older_which_stays_by_its_tag(
    hub, results, others, tmp_path
):
    publish(results, "one")
    publish(others, "two")
    names = {file["path"].removeprefix("results/") for file in read_manifest(others)["files"]}
    assert main_of(hub).files.keys() == names | {"manifest.json", "README.md", ".gitattributes"}
    assert read(ADDRESS, tmp_path / "cache") == tokens_of(others)
    assert read(f"{ADDRESS}@one", tmp_path / "cache") == tokens_of(results)
    sent = len(hub.sent())
    publish(results, "one")
    assert read(ADDRESS, tmp_path / "cache") == tokens_of(results)
    assert len(hub.sent()) == sent
    assert len(main_of(hub).commits) == 4


def test_dry_run__says_what_would_be_done_and_does_none_of_it(hub, results, others):
    code, output = command("publish", results, ADDRESS, "--dry-run")
    assert code == 0
    assert "this repository does not exist; a private one would be created" in output
    assert hub.repos == {}
    publish(results)
    before = dict(main_of(hub).tags)
    code, output = command("publish", others, ADDRESS, "--dry-run", "--json")
    told = json.loads(output)
    assert "tokens/train/00003.bin" in told["going"]
    assert {file["path"] for file in told["files"] if file["there"]} == {
        "tokenizer/corpusmill.json"}  # fmt: skip
    assert told["commit"] is None
    assert main_of(hub).tags == before


def test_card__tells_the_hub_which_files_are_tables(hub, tmp_path):
    results = write_corpus(tmp_path, {"train": [[3]]})
    text = results / "corpus/train/00000.jsonl.zst"
    text.parent.mkdir(parents=True)
    text.write_bytes(b"\0 text")
    content = read_manifest(results)
    write_manifest(results, content | {"files": [*content["files"], described(results, text)]})
    publish(results)
    card = main_of(hub).files["README.md"].decode()
    assert card.split("---\n")[1] == (
        "configs:\n- config_name: text\n  data_files:\n"
        '  - split: "train"\n    path: "corpus/train/*.jsonl.zst"\n'
    )


# Refusals.


def test_refused__is_a_repository_with_something_else(hub, results):
    publish(results)
    repo = main_of(hub)
    head = repo.add(repo.commits[repo.head] | {"notes.txt": Blob(b"mine", False)}, "notes")
    with pytest.raises(
        ValueError, match=r"published corpus, found notes.txt. Choose a different name"
    ):
        publish(results, "second")
    repo.add({"manifest.json": Blob(b'{"of": "something else"}', False)}, "another program's")
    with pytest.raises(ValueError, match="Choose a different name"):
        publish(results, "second")
    assert head in repo.commits
    assert len(repo.tags) == 1


def test_refused__is_a_version_with_other_content(hub, results, others):
    publish(results, "one")
    head = main_of(hub).head
    with pytest.raises(
        ValueError, match="Published versions never change: choose a different --version"
    ):
        publish(others, "one")
    assert main_of(hub).head == head


def test_refused__is_a_damaged_file_and_nothing_of_it_is_committed(hub, results, tmp_path):
    copy = shutil.copytree(results, tmp_path / "results")
    for name in ("tokens/train/00001.bin", "tokenizer/corpusmill.json"):
        data = (copy / name).read_bytes()
        (copy / name).write_bytes(bytes([data[0] ^ 1]) + data[1:])
        with pytest.raises(
            ValueError, match=f"{name}: expected SHA-256 .*, as listed in manifest.json"
        ):
            publish(copy)
        (copy / name).write_bytes(data)
    assert len(main_of(hub).commits) == 1
    assert main_of(hub).tags == {}


def test_refused__is_a_file_that_changes_while_it_is_sent(hub, results, tmp_path):
    copy = shutil.copytree(results, tmp_path / "results")

    def touched(method: str, path: str) -> None:
        if "preupload" in path:
            os.utime(copy / "tokens/train/00001.bin", (1, 1))

    hub.ahead = touched
    with pytest.raises(ValueError, match="the file changed during its upload"):
        publish(copy)
    assert len(main_of(hub).commits) == 1


RIGHTS = {
    "no token": ({"HF_TOKEN": ""}, ADDRESS, "expected a token .*, found none. Set HF_TOKEN"),
    "a wrong one": ({"HF_TOKEN": "hf_wrong"}, ADDRESS, "401 .*a token that can write to that"),
    "one that may read alone": ({"HF_TOKEN": READER}, ADDRESS, "403 .*a token that can write"),
    "no right there": ({}, "hf://others/corpus", "403 .*or create it"),
}


@pytest.mark.parametrize("case", RIGHTS)
def test_refused__is_who_has_no_right(case, hub, results, monkeypatch):
    environment, address, says = RIGHTS[case]
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=says) as refused:
        publish(results, address=address)
    assert not any(secret in str(refused.value) for secret in [*SECRETS, "hf_wrong"])
    assert hub.repos == {}


@pytest.mark.parametrize(
    "words",
    [
        ["hf://mill"], ["hf://mill/a/b"], ["hf://mill/a--b"], ["hf://mill/a@1"],
        [ADDRESS, "--version", "main"], [ADDRESS, "--version", "a..b"],
        [ADDRESS, "--price", "month=1"], [ADDRESS, "--endpoint-url", "http://localhost:1"],
    ],
)  # fmt: skip
def test_refused__is_what_is_no_address_or_tag(words, hub, results):
    code, output = command("publish", results, *words)
    assert code == 1
    assert ": expected " in output
    assert hub.asked == []


def test_unpublish__tells_how_the_hub_does_it(hub):
    code, output = command("unpublish", ADDRESS, "--version", "one")
    assert code == 1
    assert "hf repos tag delete mill/corpus VERSION --repo-type dataset" in output


# Faults.

FAULTS = [
    ("503", place)
    for place in (
        "/refs",
        "/tree/",
        "/preupload/",
        "/batch",
        "PUT",
        "/verify",
        "/commit/",
        "/tag/",
        "/create",
    )
]
FAULTS += [("no answer", place) for place in ("/refs", "PUT", "/commit/")]
FAULTS += [("lost answer", place) for place in ("PUT", "/commit/", "/tag/", "/create")]  # fmt: skip


@pytest.mark.some(4)
@pytest.mark.parametrize(("fault", "place"), FAULTS)
def test_fault__that_passes_is_tried_again(fault, place, hub, results, tmp_path):
    left = [1]

    def once(method: str, path: str, number: int) -> str | None:
        if left and (place in path or place == method):
            return fault if left.pop() else None
        return None

    hub.fault = once
    done = publish(results)
    assert left == []
    assert main_of(hub).tags == {done.version: main_of(hub).head}
    assert len(main_of(hub).commits) == 2
    assert read(ADDRESS, tmp_path / "cache") == tokens_of(results)


@pytest.mark.parametrize("place", ["PUT", "/commit/", "/tag/"])
def test_fault__that_stays_is_told_and_the_same_command_goes_on(place, hub, results, others):
    publish(results, "one")
    head, before = main_of(hub).head, len(hub.sent())
    hub.fault = lambda method, path, number: "503" if place in (method, path) or (
        place in path) else None  # fmt: skip
    with pytest.raises(OSError, match=r"the hub answered 503 .*, 4 times in a row") as refused:
        publish(others, "two")
    assert not any(secret in str(refused.value) for secret in SECRETS)
    assert (main_of(hub).head == head) == (place != "/tag/")
    assert "two" not in main_of(hub).tags
    hub.fault = lambda method, path, number: None
    publish(others, "two")
    assert main_of(hub).tags["two"] == main_of(hub).head
    if place != "PUT":
        assert len(hub.sent()) - before == 4


@pytest.mark.some(3)
@pytest.mark.parametrize("place", ["/refs", "/tree/", "/preupload/", "/batch", "/commit/"])
@pytest.mark.parametrize("odd", ["[null]", '{"branches": 5, "files": 7}', "<html>"])
def test_odd_answer__is_told_of_the_hub(odd, place, hub, results, others):
    publish(results, "one")
    head = main_of(hub).head
    hub.fault = lambda method, path, number: odd if place in path else None
    with pytest.raises(ValueError, match=r"hf://.*: huggingface_hub cannot parse") as refused:
        publish(others, "two")
    assert not any(secret in str(refused.value) for secret in SECRETS)
    assert main_of(hub).head == head


def test_silence__is_a_fault_that_passes(hub, results, monkeypatch):
    monkeypatch.setattr("corpusmill.tools.publish.hub_repository.SILENCE_SECONDS", 0.2)
    slow = [True]

    def once(method: str, path: str, number: int) -> str | None:
        return "slow" if "/commit/" in path and slow and slow.pop() else None

    hub.fault = once
    huggingface_hub.close_session()  # the next one is made with that
    publish(results)
    huggingface_hub.close_session()
    assert len(main_of(hub).commits) == 2


@pytest.mark.parametrize("theirs", ["the same", "another"])
def test_publishers__do_not_overwrite_one_another(theirs, hub, results, others):
    publish(others, "zero")
    came = []

    def between(method: str, path: str) -> None:
        if "/commit/" in path and not came:
            came.append(path)
            publish(results if theirs == "the same" else with_one_shard, "theirs")

    with_one_shard = results if theirs == "the same" else write_corpus(
        Path(os.environ["HF_HOME"]) / "third", {"train": [[8]]})  # fmt: skip
    hub.ahead = between
    if theirs == "the same":
        publish(results, "ours")
        assert main_of(hub).tags["ours"] == main_of(hub).tags["theirs"] == main_of(hub).head
    else:
        with pytest.raises(ValueError, match=r"found a commit by somebody else"):
            publish(results, "ours")
        assert main_of(hub).tags.keys() == {"zero", "theirs"}
        assert main_of(hub).tags["theirs"] == main_of(hub).head


def test_kill__leaves_main_whole_and_what_came_is_not_sent_again(hub, results, others, tmp_path):
    publish(others, "one")
    repo = main_of(hub)
    head, before, sent = repo.head, set(repo.large), len(hub.sent())
    killed, puts = threading.Event(), iter(range(1000))

    def three_come(method: str, path: str, number: int) -> str | None:
        if method != "PUT" or next(puts) < 3:
            return None
        killed.wait()
        return "no answer"

    hub.fault = three_come
    code = "from corpusmill.cli.main import main; main()"
    words = [sys.executable, "-c", code, "publish", str(results), ADDRESS]
    environment = os.environ | environment_of(hub, tmp_path)
    process = subprocess.Popen(words, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while len(repo.large) < len(before) + 3 or len(hub.sent()) < sent + 4:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    killed.set()
    assert repo.head == head
    hub.fault = lambda method, path, number: None
    held, sent = set(repo.large), len(hub.sent())
    publish(results)
    assert len(hub.sent()) > sent
    assert held.isdisjoint(hub.sent()[sent:])
    assert read(ADDRESS, tmp_path / "cache") == tokens_of(results)


# Reading.


def test_reader__keeps_to_the_commit_that_it_began_with(hub, results, others, tmp_path):
    publish(results, "one")
    store = HubStore(parsed_hub(ADDRESS))
    assert b"".join(store.blocks("manifest.json")) == (results / "manifest.json").read_bytes()
    publish(others, "two")
    for one in (store, pickle.loads(pickle.dumps(store))):
        name = "tokens/train/00001.bin"
        assert b"".join(one.blocks(name, 7)) == (results / name).read_bytes()[7:]
    assert WRITER.encode() not in pickle.dumps(store)


def test_token__stays_with_the_hub(hub, results, tmp_path, monkeypatch):
    publish(results)
    monkeypatch.setenv("HF_TOKEN", READER)
    hub.asked.clear()
    assert read(ADDRESS, tmp_path / "cache") == tokens_of(results)
    large = [proof for _, path, proof in hub.asked if SIGNATURE in path]
    assert set(large) == {None}
    own = {proof for _, path, proof in hub.asked if SIGNATURE not in path}
    assert own == {f"Bearer {READER}"}
    assert any("resolve-cache" in path for _, path, _ in hub.asked)
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(secret.encode() in data for data in kept for secret in SECRETS)


@pytest.mark.parametrize("where", ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH",
                                   "HF_HOME", "XDG_CACHE_HOME", "HOME"])  # fmt: skip
def test_token__is_found_where_the_library_finds_it(where, tmp_path, monkeypatch):
    folders = {"HF_TOKEN_PATH": "", "HF_HOME": "token", "XDG_CACHE_HOME": "huggingface/token",
               "HOME": ".cache/huggingface/token"}  # fmt: skip
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", *folders):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(where, READER)
    if where in folders:
        path = tmp_path / "kept" / folders[where]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{READER}\n")
        monkeypatch.setenv(where, str(tmp_path / "kept"))
    assert token() == READER
    if where == "XDG_CACHE_HOME":
        code = "import huggingface_hub; print(huggingface_hub.get_token())"
        theirs = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert theirs.stdout.decode().strip() == READER


def test_name__with_any_letters_is_published_and_read(hub, tmp_path):
    folder = write_corpus(tmp_path, {"train": SIZES})
    files = read_manifest(folder)["files"]
    for name in ("a b", "größe", "a#b", "a+b"):
        path = folder / f"tokenizer/{name}.json"
        path.write_text(name)
        files.append(described(folder, path))
    write_manifest(folder, read_manifest(folder) | {"files": files})
    publish(folder)
    code, said = command("verify", ADDRESS)
    assert (code, "Whole: 13 files" in said) == (0, True), said


@pytest.mark.parametrize("value", ["hid\nden", "hid den", "hid…den"])
def test_token__that_fits_in_no_header_is_refused_and_not_repeated(
    value, hub, results, monkeypatch
):
    monkeypatch.setenv("HF_TOKEN", value)
    for words in (["publish", results, ADDRESS], ["verify", ADDRESS]):
        code, said = command(*words)
        assert code
        assert "line breaks, found something else. Correct HF_TOKEN" in said
        assert "hid" not in said


def test_reading__needs_the_standard_library_alone():
    code = (
        "import sys; import corpusmill.reader.hub_store; "
        "print([name for name in ('huggingface_hub', 'httpx2', 'requests') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True,
                           check=True)  # fmt: skip
    assert found.stdout.strip() == "[]"


def test_reader__is_told_in_a_sentence_what_may_not_be_read(hub, results, tmp_path, monkeypatch):
    publish(results)
    for address in ("hf://mill/nothing", f"{ADDRESS}@nothing"):
        with pytest.raises(ValueError, match=r"version that you can read, .*your token"):
            read(address, tmp_path / "cache")
    monkeypatch.setenv("HF_TOKEN", "")
    assert token() is None
    with pytest.raises(ValueError, match=r"shows none without a token. Correct the address, or"):
        read(ADDRESS, tmp_path / "cache")
    code, output = command("verify", ADDRESS)
    assert code == 2
    assert "expected a dataset repository" in output


@pytest.mark.some(3)
def test_fault__of_reading_that_passes_is_tried_again(hub, results, tmp_path):
    publish(results)
    seen: dict[str, int] = {}

    def once(method: str, path: str, number: int) -> str | None:
        seen[path] = seen.get(path, 0) + 1
        return "503" if seen[path] == 1 else None

    hub.fault = once
    assert read(ADDRESS, tmp_path / "cache") == tokens_of(results)
