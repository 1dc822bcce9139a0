"""A dataset repository of the Hugging Face hub, accessed with huggingface_hub."""

import contextlib
import hashlib
import logging
import os
import re
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

import httpx2
import huggingface_hub as library
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError
from huggingface_hub.utils._http import default_client_factory
from huggingface_hub.utils.tqdm import disable_progress_bars

from corpusmill.reader.hub_addresses import BRANCH, HubAddress, server
from corpusmill.reader.patience import Attempts, Patience, Say, patiently
from corpusmill.reader.stores import PASSING_STATUS, PassingError
from corpusmill.tools.publish.contents import DamagedFileError, File
from corpusmill.tools.publish.sending import blocks

SILENCE_SECONDS = 300.0
"""Timeout in seconds. A connection that receives no data for this long counts as broken. A large
commit takes minutes."""
COMMITTED_BYTES = 256 << 20
"""Maximum number of bytes that a commit may keep in memory. These are the files that the hub does
not store as large files."""
QUERY = re.compile(r"\?\S*")
KIND = "dataset"
OF_THE_NETWORK = (HfHubHTTPError, httpx2.HTTPError, ConnectionError)

T = TypeVar("T")


class RefusalError(ValueError):
    """An error of the hub that a retry cannot fix."""

    def __init__(self, told: str, status: int) -> None:
        super().__init__(told)
        self.status = status


class Held(NamedTuple):
    """A file of a commit. sha256: of large files; others have git's digest."""

    bytes: int
    sha256: str | None
    blob: str


class Refs(NamedTuple):
    """Commits. head: of the main branch; None if there is none."""

    head: str | None
    tags: dict[str, str]


class Repository:
    """A repository. Requests are retried while that may help."""

    def __init__(
        self, address: HubAddress, token: str, streams: int, patience: Patience, say: Say
    ) -> None:
        quieten()
        self._api = library.HfApi(endpoint=server(), token=token)
        self._address, self._token, self._streams = address, token, streams
        self._patience, self._say = patience, say
        self._name = address.repository
        self._for_the_commit = 0

    def patiently(self, action: Callable[[], T]) -> T:
        """Return the result of an action. Raise OSError if its faults persist."""

        def understood() -> T:
            with self._faults():
                return action()

        return patiently(understood, Attempts(self._patience, self._say))

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """Translate the library's errors: their messages contain URLs that grant write access."""
        try:
            yield
        except RuntimeError as error:  # raised in a sending thread, or by hf_xet
            cause = error.__cause__ or error
            if not isinstance(cause, (*OF_THE_NETWORK, RuntimeError)):
                raise cause from None
            raise self._understood(cause) from None
        except OF_THE_NETWORK as error:
            raise self._understood(error) from None
        except (RefusalError, DamagedFileError):
            raise
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ValueError(
                f"{self._address}: huggingface_hub cannot parse the answer of the hub "
                f"({type(error).__name__}). Check HF_ENDPOINT, and repeat the command."
            ) from error

    def _understood(self, error: BaseException) -> Exception:
        if not isinstance(error, HfHubHTTPError):
            said = QUERY.sub("", str(error)).replace(self._token, "...")
            return PassingError(
                f"{self._address}: {' '.join(said.split()) or type(error).__name__}"
            )
        status = error.response.status_code
        told = f"{self._address}: the hub answered {status} {error.response.reason_phrase}"
        if status in PASSING_STATUS:
            return PassingError(told)
        if status in (401, 403):
            return RefusalError(
                f"{told}: expected a token that can write to that repository, or create it. Set "
                "HF_TOKEN to such a token, or correct the address.",
                status,
            )
        return RefusalError(f"{told}. Inspect the repository, and repeat the command.", status)

    # Looking.

    def refs(self) -> Refs | None:
        """Return the commits; None if the repository does not exist."""
        try:
            found = self.patiently(self._refs)
        except RefusalError as refusal:
            if refusal.status == 404:
                return None
            raise
        return found

    def _refs(self) -> Refs | None:
        try:
            found = self._api.list_repo_refs(self._name, repo_type=KIND)
        except RepositoryNotFoundError:
            return None  # the hub also answers 401 if the token lacks access
        heads = {branch.name: branch.target_commit for branch in found.branches}
        return Refs(heads.get(BRANCH), {tag.name: tag.target_commit for tag in found.tags})

    def tree(self, commit: str) -> dict[str, Held]:
        """Return all files of a commit."""

        def listed() -> dict[str, Held]:
            entries = self._api.list_repo_tree(
                self._name, recursive=True, revision=commit, repo_type=KIND
            )
            return {
                entry.path: Held(entry.size, entry.lfs.sha256 if entry.lfs else None, entry.blob_id)
                for entry in entries
                if isinstance(entry, library.hf_api.RepoFile)
            }

        return self.patiently(listed)

    # Changing.

    def create(self) -> None:
        """Create the repository as private; its owner decides who may see it."""
        self.patiently(
            lambda: self._api.create_repo(self._name, repo_type=KIND, private=True, exist_ok=True)
        )

    def send(self, files: Sequence[File]) -> list[library.CommitOperationAdd]:
        """Upload the files that the hub stores as large files, except those it has already."""
        before = [stamp(file) for file in files]
        additions = [addition(file) for file in files]
        self.patiently(
            lambda: self._api.preupload_lfs_files(
                self._name, additions, repo_type=KIND, revision=BRANCH, num_threads=self._streams
            )
        )
        for file, one in zip(files, additions, strict=True):
            if isinstance(one.path_or_fileobj, str):  # the library drops the path of large ones
                self._for_the_commit += file.bytes
                if self._for_the_commit > COMMITTED_BYTES:
                    raise RefusalError(
                        f"{self._address}: expected at most {COMMITTED_BYTES >> 20} MiB of files "
                        f"that the hub does not store as large files, found more, at {file.name}. "
                        "Publish the corpus to an object store.",
                        413,
                    )
                one.path_or_fileobj = content(file)
        for file, stamped in zip(files, before, strict=True):
            if stamp(file) != stamped:
                raise DamagedFileError(
                    f"{file.path}: the file changed during its upload. Stop the program that "
                    "writes this file, and repeat the command."
                )
        return additions

    def commit(
        self, additions: list[library.CommitOperationAdd], going: list[str], parent: str | None,
        message: str,
    ) -> str:  # fmt: skip
        """Commit and return the new commit. On PassingError it may have been made: check before a
        retry."""
        gone = [library.CommitOperationDelete(name, is_folder=False) for name in going]
        with warnings.catch_warnings(record=True) as advice, self._faults():
            warnings.simplefilter("always", UserWarning)
            done = self._api.create_commit(
                self._name, [*additions, *gone], commit_message=message, repo_type=KIND,
                revision=BRANCH, parent_commit=parent, num_threads=self._streams,
            )  # fmt: skip
        for one in advice:
            self._say(f"{self._address}: {' '.join(str(one.message).split())}")
        return str(done.oid)

    def tag(self, name: str, commit: str) -> bool:
        """Create a tag; False if it exists."""
        try:
            self.patiently(
                lambda: self._api.create_tag(self._name, tag=name, revision=commit, repo_type=KIND)
            )
        except RefusalError as refusal:
            if refusal.status != 409:
                raise
            return False
        return True


@cache
def quieten() -> None:
    """Silence the library, whose messages contain URLs with write access, and limit its waiting."""
    disable_progress_bars()
    library.logging.set_verbosity(logging.CRITICAL)

    def client() -> httpx2.Client:
        made = default_client_factory()
        made.timeout = SILENCE_SECONDS
        return made

    library.set_client_factory(client)


def addition(file: File) -> library.CommitOperationAdd:
    """Return the operation that adds a file. Raise DamagedFileError if it does not match the
    manifest."""
    if file.path is None:
        return library.CommitOperationAdd(file.name, file.data)
    deque(blocks(file), maxlen=0)
    made = library.CommitOperationAdd(file.name, str(file.path))
    made.upload_info.sha256 = bytes.fromhex(file.sha256)
    return made


def stamp(file: File) -> tuple[int, ...]:
    if file.path is None:
        return ()
    found = os.stat(file.path)
    return found.st_ino, found.st_size, found.st_mtime_ns


def content(file: File) -> bytes:
    """Return a small file's content. Raise DamagedFileError if it does not match the manifest."""
    return b"".join(map(bytes, blocks(file))) if file.path else file.data


def is_held(file: File, held: Held | None) -> bool:
    """Say whether a commit has the file as the manifest lists it."""
    if held is None or held.bytes != file.bytes:
        return False
    if held.sha256 is not None:
        return held.sha256 == file.sha256
    data = content(file)
    return held.blob == hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
