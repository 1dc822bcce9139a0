"""A tokenizer by hub id, from a hub on this machine: the loading code is the real one."""

import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tokenizer_kinds import END, chat
from workflow import ROOT

from corpusmill.mill.tokens.tokenizers import load_reference

COMMIT = "0" * 40


# http.server finds the methods by these names.
class Hub(http.server.BaseHTTPRequestHandler):
    """As much of a hub as loading a tokenizer asks for: the files of one repository."""

    folder: Path

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        name = path.removeprefix("/mill/tiny/resolve/main/")
        file = self.folder / name
        if path.startswith("/api/models/mill/tiny/tree"):
            self.answer(404, X_Error_Code="EntryNotFound")  # no folder of further templates
        elif name != path and "/" not in name and file.is_file():
            self.answer(200, file.read_bytes(), ETag=f'"{name}"', X_Repo_Commit=COMMIT)
        elif self.path.startswith("/mill/busy/"):
            self.answer(503)
        elif not self.path.startswith(("/mill/tiny/", "/api/")):
            self.answer(404, X_Error_Code="RepoNotFound")
        else:
            self.answer(404, X_Error_Code="EntryNotFound", X_Repo_Commit=COMMIT)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *words) -> None:
        """Tests are quiet."""


@pytest.fixture
def hub(tiny_tokenizer):
    Hub.folder = Path(tiny_tokenizer[0])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def with_hub(command: list[str], folder: Path, endpoint: str) -> subprocess.CompletedProcess:
    """Python in a process of its own: the hub library reads its settings once."""
    environment = os.environ | {
        "HF_ENDPOINT": endpoint, "HF_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "0",
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, *command],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def kept(source: str, folder: Path, endpoint: str) -> subprocess.CompletedProcess:
    code = (
        "import sys; from pathlib import Path\n"
        "from corpusmill.mill.tokens.tokenizer_folder import keep_tokenizer\n"
        "print(keep_tokenizer(Path(sys.argv[1]), sys.argv[2], 'auto', 'auto'))"
    )
    return with_hub(["-c", code, str(folder / "kept"), source], folder, endpoint)


def checked(
    source: str, folder: Path, endpoint: str, end_of_text: str = "auto", state: str = "new"
) -> subprocess.CompletedProcess:
    module = ["-m", "corpusmill.mill.tokens.hub_check"]
    return with_hub([*module, source, end_of_text, state, "vocabulary"], folder, endpoint)


def test_keep_tokenizer__loads_a_hub_id(hub, tmp_path, tiny_tokenizer):
    done = kept("mill/tiny", tmp_path, hub)
    assert done.returncode == 0, done.stderr
    assert "source='mill/tiny'" in done.stdout
    expected = (Path(tiny_tokenizer[0]) / "tokenizer.json").read_bytes()
    assert (tmp_path / "kept/tokenizer.json").read_bytes() == expected


@pytest.mark.some(2)
@pytest.mark.parametrize("call", [kept, checked])
def test_hub_id__of_a_tokenizer_that_names_files_is_refused(call, hub, tmp_path):
    Hub.folder = Path(shutil.copytree(Hub.folder, tmp_path / "given"))
    path = Hub.folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"vocab_file": "/etc/passwd"}))
    done = call("mill/tiny", tmp_path, hub)
    assert done.returncode == 1
    assert "tokenizer_config.json: its member vocab_file names a file" in done.stderr


def test_keep_tokenizer__of_an_unknown_hub_id_says_what_to_give(hub, tmp_path):
    done = kept("mill/none", tmp_path, hub)
    assert done.returncode != 0
    assert "tokenizer.source: transformers cannot load mill/none" in done.stderr


@pytest.mark.parametrize("source", ["mill/tiny", "mill/busy"])
def test_fault_of__a_tokenizer_that_can_be_had(hub, tmp_path, source):
    done = checked(source, tmp_path, hub)
    assert (done.returncode, done.stderr) == (0, "")


def test_fault_of__a_tokenizer_that_is_here_needs_no_hub(hub, tmp_path):
    assert kept("mill/tiny", tmp_path, hub).returncode == 0
    assert checked("mill/tiny", tmp_path, "http://127.0.0.1:1").returncode == 0


@pytest.mark.parametrize(
    ("eos", "end_of_text", "code", "printed"),
    [
        (END, "auto", 0, END),
        ("<|im_end|>", "auto", 1, None),
        ("<|im_end|>", "<|im_end|>", 0, "<|im_end|>"),
    ],
)
def test_hub_check__says_what_ends_documents(hub, tmp_path, eos, end_of_text, code, printed):
    Hub.folder = Path(chat(tmp_path / "given", eos))
    done = checked("mill/tiny", tmp_path, hub, end_of_text)
    told = json.loads(done.stdout or '{"end_of_text": null}')
    assert (done.returncode, told["end_of_text"]) == (code, printed), done.stderr
    assert code or told["vocabulary"] == len(load_reference(str(Hub.folder)))
    assert ("tokenizer.end_of_text: auto would end" in done.stderr) == bool(code)
    # Once here, the hub is not asked again, and a kept one asks nobody.
    nowhere = "http://127.0.0.1:1"
    assert checked("mill/tiny", tmp_path, nowhere, end_of_text, "kept").returncode == code
    assert checked("mill/none", tmp_path, nowhere, end_of_text, "kept").returncode == 0


@pytest.mark.parametrize(
    ("source", "endpoint", "reason"),
    [
        ("mill/none", None, "the hub has no tokenizer mill/none"),
        ("a/b/c", None, "a/b/c is neither a folder nor the id of a tokenizer"),
        ("mill/tiny", "http://127.0.0.1:1", "mill/tiny is not on this machine, and the hub cannot"),
    ],
)
def test_fault_of__says_in_one_line_why_there_will_be_none(hub, tmp_path, source, endpoint, reason):
    done = checked(source, tmp_path, endpoint or hub)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"tokenizer.source: {reason}")
    assert len(done.stderr.splitlines()) == 1
