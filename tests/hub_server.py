"""A hub of datasets on this machine, as far as huggingface_hub and our reader speak to one.

Two servers: the hub, and the one that large files go to and come from, on a port of its own, which
refuses whoever shows it a token. It takes SHA-256 itself, refuses commits whose large files are not
there or whose parent is not the last one, and can be told to misbehave.
"""

import base64
import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import NamedTuple
from urllib.parse import quote, unquote

from listening import listening

WRITER, READER = "hf_not/to+be-told-writer", "hf_not/to+be-told-reader"
PAGE = 3
SIGNATURE = "X-Amz-Signature=not-to-be-told-either"


class Blob(NamedTuple):
    data: bytes
    large: bool

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def oid(self) -> str:
        return hashlib.sha1(b"blob %d\0" % len(self.data) + self.data).hexdigest()


class Repo:
    def __init__(self) -> None:
        self.commits: dict[str, dict[str, Blob]] = {}
        self.head = ""
        self.tags: dict[str, str] = {}
        self.large: dict[str, bytes] = {}
        self.messages: list[str] = []
        self.add({".gitattributes": Blob(b"*.bin filter=lfs\n", False)}, "initial commit")

    def add(self, files: dict[str, Blob], message: str) -> str:
        known = f"{self.head} {message} {sorted((n, b.oid) for n, b in files.items())}"
        self.head = hashlib.sha1(known.encode()).hexdigest()
        self.commits[self.head] = files
        self.messages.append(message)
        return self.head

    @property
    def files(self) -> dict[str, bytes]:
        """Of the main branch."""
        return {name: blob.data for name, blob in self.commits[self.head].items()}

    def commit_of(self, revision: str) -> str | None:
        named = {"main": self.head, **self.tags}.get(revision, revision)
        return named if named in self.commits else None


class Refused(Exception):  # noqa: N818  it is an answer
    def __init__(self, status: int, code: str = "", message: str = "", body: object = None) -> None:
        super().__init__(status)
        self.status, self.code, self.message = status, code, message
        self.body = json.dumps(body).encode() if body else b""


class Hub:
    """fault: a function of method, path and number of the request among all of both servers gives
    the fault to make of it, or None. owners: whose names a writer may make repositories of."""

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.owners = {"mill"}
        self.fault: Callable[[str, str, int], str | None] = lambda method, path, number: None
        self.ahead: Callable[[str, str], None] = lambda method, path: None
        self.asked: list[tuple[str, str, str | None]] = []
        self.lock = threading.Lock()
        self.address = self.elsewhere = ""
        self.wrong: list[str] = []

    def sent(self) -> list[str]:
        """What came of large files, by digest, whole or not."""
        return [path.split("?")[0].rpartition("/")[2] for method, path, _ in self.asked
                if method == "PUT"]  # fmt: skip

    def repo(self, name: str, proof: str | None) -> Repo:
        if proof is None:
            raise Refused(401, "RepoNotFound")  # of private ones and of none
        if proof not in (f"Bearer {WRITER}", f"Bearer {READER}"):
            raise Refused(401, "", "Invalid credentials in Authorization header")
        if name not in self.repos:
            raise Refused(404, "RepoNotFound")
        return self.repos[name]

    # What it is asked.

    def create(self, asked: dict, proof: str | None) -> dict:
        assert (asked["type"], asked["visibility"]) == ("dataset", "private")
        if proof != f"Bearer {WRITER}" or asked["organization"] not in self.owners:
            raise Refused(403, "", "You have no right to make that")
        name = f"{asked['organization']}/{asked['name']}"
        url = {"url": f"{self.address}/datasets/{name}"}
        if name in self.repos:
            raise Refused(409, body=url)
        self.repos[name] = Repo()
        return url

    def preupload(self, repo: Repo, asked: dict) -> dict:
        there = repo.commits[repo.head]
        files = []
        for file in asked["files"]:
            large = b"\0" in base64.b64decode(file["sample"]) or file["size"] > 4000
            blob = there.get(file["path"])
            oid = blob and (blob.sha256 if blob.large else blob.oid)
            files.append({"path": file["path"], "uploadMode": "lfs" if large else "regular",
                          "shouldIgnore": False, "oid": oid})  # fmt: skip
        return {"files": files}

    def batch(self, name: str, repo: Repo, asked: dict) -> dict:
        assert (asked["operation"], asked["hash_algo"]) == ("upload", "sha256")
        objects = []
        for one in asked["objects"]:
            place = f"{self.elsewhere}/{name}/{one['oid']}?{SIGNATURE}"
            actions = {
                "upload": {"href": place},
                "verify": {"href": f"{self.address}/{name}/verify"},
            }
            objects.append(one if one["oid"] in repo.large else one | {"actions": actions})
        return {"transfer": "basic", "objects": objects}

    def commit(self, name: str, repo: Repo, lines: list[dict]) -> dict:
        header, *operations = lines
        with self.lock:
            if header["value"].get("parentCommit") not in (None, repo.head):
                raise Refused(412, "", "A commit has happened since. Please refresh and try again.")
            files = dict(repo.commits[repo.head])
            for kind, value in ((one["key"], one["value"]) for one in operations):
                if kind == "deletedFile":
                    del files[value["path"]]
                elif kind == "lfsFile":
                    if len(repo.large.get(value["oid"], b"")) != value["size"]:
                        raise Refused(400, "", "lfs object is not there")
                    files[value["path"]] = Blob(repo.large[value["oid"]], True)
                else:
                    assert kind == "file"
                    files[value["path"]] = Blob(base64.b64decode(value["content"]), False)
            oid = repo.add(files, header["value"]["summary"])
        return {"commitUrl": f"{self.address}/datasets/{name}/commit/{oid}", "commitOid": oid}

    def tag(self, repo: Repo, revision: str, name: str) -> dict:
        commit = repo.commit_of(revision)
        assert commit
        with self.lock:
            if name in repo.tags:
                raise Refused(409, "", "Tag reference exists already")
            repo.tags[name] = commit
        return {}

    def tree(self, repo: Repo, commit: str) -> list[dict]:
        files = [
            {"type": "file", "path": name, "size": len(blob.data), "oid": blob.oid}
            | ({"lfs": {"oid": blob.sha256, "size": len(blob.data), "pointerSize": 130}}
               if blob.large else {})
            for name, blob in sorted(repo.commits[commit].items())
        ]  # fmt: skip
        folders = {name.rpartition("/")[0] for name in repo.commits[commit] if "/" in name}
        return [{"type": "directory", "path": name, "size": 0, "oid": "0" * 40}
                for name in sorted(folders)] + files  # fmt: skip


def handler_of(hub: Hub, is_elsewhere: bool) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

        def answer(self) -> None:
            body = self.body()
            proof = self.headers.get("Authorization")
            with hub.lock:
                hub.asked.append((self.command, self.path, proof))
                number = len(hub.asked)
            hub.ahead(self.command, self.path)
            fault = hub.fault(self.command, self.path, number)
            if fault == "slow":
                time.sleep(1.0)
            if fault == "no answer":
                return self.break_off()
            if fault and fault.isdigit():
                return self.give(int(fault), b"")
            if fault and fault[0] in "[{<":
                return self.give(200, fault.encode())
            try:
                path, _, query = unquote(self.path).partition("?")
                found = (self.of_large if is_elsewhere else self.of_hub)(path, query, body, proof)
            except Refused as refused:
                told = {"X-Error-Code": refused.code, "X-Error-Message": refused.message}
                return self.give(refused.status, refused.body, {k: v for k, v in told.items() if v})
            except Exception as fault_of_ours:
                hub.wrong.append(f"{self.command} {self.path}: {fault_of_ours!r}")
                raise
            if fault == "lost answer":  # it is done
                return self.break_off()
            if found is not None:
                self.give(200, found if isinstance(found, bytes) else json.dumps(found).encode())
            return None

        do_GET = do_POST = do_PUT = answer  # noqa: N815

        def body(self) -> bytes:
            if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                return self.rfile.read(int(self.headers.get("Content-Length", "0")))
            pieces = []
            while size := int(self.rfile.readline(), 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)

        def break_off(self) -> None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

        def give(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def of_large(self, path: str, query: str, body: bytes, proof: str | None) -> bytes | None:
            """A signed address is good for one file, and nobody needs a token there."""
            owner, name, digest = path.strip("/").split("/")
            repo = hub.repos[f"{owner}/{name}"]
            if proof is not None or query != SIGNATURE:
                raise Refused(400)
            if self.command == "PUT":
                if hashlib.sha256(body).hexdigest() != digest:
                    raise Refused(400)
                repo.large[digest] = body
                return b""
            return self.ranged(repo.large[digest])

        def ranged(self, data: bytes) -> bytes | None:
            asked = self.headers.get("Range")
            if not asked:
                return data
            first = int(asked.removeprefix("bytes=").split("-")[0])
            span = f"bytes {first}-{len(data) - 1}/{len(data)}"
            self.give(206, data[first:], {"Content-Range": span})
            return None

        def of_hub(self, path: str, query: str, body: bytes, proof: str | None):
            if path == "/api/repos/create":
                return hub.create(json.loads(body), proof)
            if path == "/api/validate-yaml":
                assert json.loads(body)["content"].startswith("---\n")
                return {"warnings": [{"message": "no licence is named"}], "errors": []}
            if path.endswith("/verify"):
                return {}
            kind, *words = path.removeprefix("/api").strip("/").split("/", 4)
            if kind == "datasets" and len(words) > 2:
                name = f"{words[0]}/{words[1].removesuffix('.git')}"
                repo = hub.repo(name, proof)
                return self.of_repo(name, repo, words[2], "/".join(words[3:]), query, body)
            raise Refused(404)

        def of_repo(self, name: str, repo: Repo, what: str, rest: str, query: str, body: bytes):
            if self.command == "POST" and self.headers["Authorization"] != f"Bearer {WRITER}":
                raise Refused(403, "", "This token may not write")
            if what == "refs":
                tags = [{"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": commit}
                        for tag, commit in repo.tags.items()]  # fmt: skip
                main = {"name": "main", "ref": "refs/heads/main", "targetCommit": repo.head}
                return {"branches": [main], "converts": [], "tags": tags}
            if what == "preupload":
                return hub.preupload(repo, json.loads(body))
            if what == "info":
                return hub.batch(name, repo, json.loads(body))
            if what == "commit":
                return hub.commit(name, repo, [json.loads(line) for line in body.splitlines()])
            if what == "tag":
                return hub.tag(repo, rest, json.loads(body)["tag"])
            revision, _, file = rest.partition("/")
            commit = repo.commit_of(revision)
            if commit is None:
                raise Refused(404, "RevisionNotFound")
            if what == "revision":
                assert query == "expand=sha"
                return {"id": name, "sha": commit}
            if what == "tree":
                return self.page(hub.tree(repo, commit), query)
            return self.file(name, what, repo.commits[commit].get(file), file, commit)

        def page(self, entries: list[dict], query: str) -> None:
            assert "recursive=true" in query.lower()
            start = int(query.partition("cursor=")[2] or 0)
            data = json.dumps(entries[start : start + PAGE]).encode()
            following = f"{hub.address}{self.path.partition('?')[0]}?recursive=true&cursor="
            link = {"Link": f'<{following}{start + PAGE}>; rel="next"'}
            self.give(200, data, link if start + PAGE < len(entries) else None)

        def file(self, name: str, what: str, blob: Blob | None, file: str, commit: str):
            if blob is None:
                raise Refused(404, "EntryNotFound")
            if blob.large:
                place = f"{hub.elsewhere}/{name}/{blob.sha256}?{SIGNATURE}"
                return self.give(302, b"", {"Location": place})
            if what == "resolve":
                place = quote(f"/api/datasets/{name}/resolve-cache/{commit}/{file}")
                return self.give(307, b"", {"Location": place})
            return self.ranged(blob.data)

    return Handler


@contextmanager
def hub_of_datasets() -> Iterator[Hub]:
    hub = Hub()
    with (
        listening(handler_of(hub, False)) as hub.address,
        listening(handler_of(hub, True)) as hub.elsewhere,
    ):
        yield hub
    assert hub.wrong == []
