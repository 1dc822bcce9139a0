"""A tokenizer by hub id, from a hub on this machine: the loading code is the real one."""

import http.server
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from workflow import ROOT

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


def kept(source: str, folder: Path, endpoint: str) -> subprocess.CompletedProcess:
    """keep_tokenizer in a process of its own: the hub library reads its settings once."""
    code = (
        "import sys; from pathlib import Path\n"
        "from corpusmill.tokens.tokenizer_folder import keep_tokenizer\n"
        "print(keep_tokenizer(Path(sys.argv[1]), sys.argv[2], 'auto', 'auto'))"
    )
    environment = os.environ | {
        "HF_ENDPOINT": endpoint, "HF_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "0",
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-c", code, str(folder / "kept"), source],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_keep_tokenizer__loads_a_hub_id(hub, tmp_path, tiny_tokenizer):
    done = kept("mill/tiny", tmp_path, hub)
    assert done.returncode == 0, done.stderr
    assert "source='mill/tiny'" in done.stdout
    expected = (Path(tiny_tokenizer[0]) / "tokenizer.json").read_bytes()
    assert (tmp_path / "kept/tokenizer.json").read_bytes() == expected


def test_keep_tokenizer__of_an_unknown_hub_id_says_what_to_give(hub, tmp_path):
    done = kept("mill/none", tmp_path, hub)
    assert done.returncode != 0
    assert "tokenizer.source: transformers cannot load mill/none" in done.stderr
