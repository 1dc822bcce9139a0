"""A corpus in a bucket of an object store: files by key, from any byte on."""

import contextlib
from collections.abc import Iterator

from corpusmill.reader.http_store import sent
from corpusmill.reader.s3.answers import Refusal
from corpusmill.reader.s3.connection import Connections, faults_of_the_network
from corpusmill.reader.stores import ForbiddenError, MissingError, PassingError

EXPIRED = {"ExpiredToken", "TokenRefreshRequired"}


class S3Store:
    """Files whose keys begin with `folder/`. Credentials are looked up for each request."""

    def __init__(self, bucket: str, folder: str, endpoint: str | None = None) -> None:
        self.connections = Connections(bucket, endpoint)
        self.folder = folder

    def below(self, folder: str) -> "S3Store":
        store = S3Store("", f"{self.folder}/{folder}")
        store.connections = self.connections
        return store

    def where(self, name: str) -> str:
        return self.connections.where(f"{self.folder}/{name}")

    def blocks(self, name: str, start: int = 0, size: int | None = None) -> Iterator[bytes]:
        if size is not None and start == size:
            return
        headers = {"Range": f"bytes={start}-"} if start else {}
        with (
            faults_of_a_store(),
            self.connections.opened(f"{self.folder}/{name}", headers) as response,
            faults_of_the_network(self.where(name)),
        ):
            yield from sent(response, self.where(name), start, size)


@contextlib.contextmanager
def faults_of_a_store() -> Iterator[None]:
    """Translate faults of a store into the reader's exceptions."""
    try:
        yield
    except Refusal as refusal:
        if refusal.code in EXPIRED:
            # Renewing a profile may take some minutes.
            raise PassingError(str(refusal)) from None
        kinds = {404: MissingError, 403: ForbiddenError}
        kind = kinds.get(refusal.status, ValueError) if refusal.code != "NoSuchBucket" else (
            ValueError)  # fmt: skip
        raise kind(str(refusal)) from None
