"""Requests to a bucket. Keys are always complete."""

import base64
import re
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple
from xml.etree.ElementTree import Element

from corpusmill.messages.plain_text import shown
from corpusmill.reader.s3.answers import (
    Refusal,
    all_of,
    code_of,
    fault,
    name_of,
    parsed,
    text_of,
)
from corpusmill.reader.s3.connection import MOST_SAID, NOTHING, Body, Connections
from corpusmill.reader.stores import PassingError

CHECKSUM = "x-amz-checksum-sha256"
ALGORITHM = "x-amz-sdk-checksum-algorithm"
MOST_AT_ONCE = 1000
"""Maximum number of entries in one response of a listing."""
MOST_PAGES = 1500
"""Maximum number of responses of a listing, which is enough for 1.5 million keys. A corpus of
99,999 parts and shards has 1.1 million."""
MOST_BARREN = 50
"""Maximum number of consecutive responses that are nearly empty but announce more."""
MOST_BYTES = 1 << 29
"""Maximum size in bytes of an object that is read into memory. The manifest of the largest corpus
has 200 MB."""
NUMBER = re.compile("[0-9]{1,15}")
WITH_CHECKSUM = {"x-amz-checksum-mode": "ENABLED"}
NOTE = "x-amz-meta-sha256"
"""Header with the SHA-256 of an object's whole content, set by the sender."""


class Stored(NamedTuple):
    """An object as described by the store."""

    bytes: int
    checksum: str
    """Checksum computed by the store on arrival, in Base64; `...-n` combines the checksums of n
    parts. Empty if there is none."""
    noted: str


class Part(NamedTuple):
    """A part of a multipart upload."""

    number: int
    bytes: int
    etag: str
    checksum: str


class Listed(NamedTuple):
    """Keys with a prefix: objects with their sizes, and the prefixes up to the next slash."""

    sizes: dict[str, int]
    folders: list[str]


def in_base64(hex_digest: str) -> str:
    return base64.b64encode(bytes.fromhex(hex_digest)).decode()


def composite(checksums: Sequence[str]) -> str:
    """Return the store's checksum of an object with parts of these checksums."""
    whole = sha256(b"".join(map(base64.b64decode, checksums)))
    return f"{base64.b64encode(whole.digest()).decode()}-{len(checksums)}"


class Bucket:
    """One bucket. Every request is sent once; retries are up to the caller."""

    def __init__(self, name: str, endpoint: str | None = None) -> None:
        self.connections = Connections(name, endpoint)

    @classmethod
    def of(cls, connections: Connections) -> "Bucket":
        bucket = cls(connections.bucket)
        bucket.connections = connections
        return bucket

    def __enter__(self) -> "Bucket":
        return self

    def __exit__(self, *_: object) -> None:
        self.connections.close()

    def where(self, key: str) -> str:
        return self.connections.where(key)

    def head(self, key: str) -> Stored | None:
        """Return the object's description; None if it does not exist."""
        try:
            headers = self.connections.ask("HEAD", key, headers=WITH_CHECKSUM).headers
        except Refusal as refusal:
            if refusal.status == 404:
                return None
            raise
        size = self._number(headers.get("content-length", ""), key)
        return Stored(size, headers.get(CHECKSUM, ""), headers.get(NOTE, ""))

    def get(self, key: str) -> bytes | None:
        """Return a small object; None if it does not exist."""
        try:
            answer = self.connections.ask("GET", key, headers=WITH_CHECKSUM, most=MOST_BYTES)
        except Refusal as refusal:
            if refusal.status == 404 and refusal.code != "NoSuchBucket":
                return None
            raise
        told = answer.headers.get(CHECKSUM, "")
        if told and "-" not in told and told != in_base64(sha256(answer.body).hexdigest()):
            raise PassingError(f"{self.where(key)}: content does not match the store's checksum")
        return answer.body

    def put(self, key: str, data: bytes, only_new: bool = False) -> None:
        """Write an object. only_new: raise Refusal with status 412 if it exists."""
        self.put_with(key, data, sha256(data).hexdigest(), only_new)

    def put_with(self, key: str, body: Body, digest: str, only_new: bool = False) -> None:
        """Write an object. digest: SHA-256 of the body. It is signed, so the store rejects any
        other body."""
        headers = {
            ALGORITHM: "SHA256", CHECKSUM: in_base64(digest), NOTE: digest,
            "Content-Type": kind_of(key),
        }  # fmt: skip
        if only_new:
            headers["If-None-Match"] = "*"
        self.connections.ask("PUT", key, NOTHING, headers, body, digest)

    def remove(self, key: str) -> None:
        """Delete an object; it may be missing."""
        self.connections.ask("DELETE", key)

    def listed(self, prefix: str, here_alone: bool = False) -> Listed:
        """List the keys with a prefix. here_alone: list deeper folders only by name."""
        query = {
            "list-type": "2", "prefix": prefix, "encoding-type": "url",
            "max-keys": str(MOST_AT_ONCE),
        }  # fmt: skip
        if here_alone:
            query["delimiter"] = "/"
        found = Listed({}, [])
        next_page = {"continuation-token": (text_of, "NextContinuationToken")}
        for root in self._pages("ListBucketResult", "", query, next_page):
            for one in all_of(root, "Contents"):
                key = self._below(prefix, plain(one, "Key"))
                found.sizes[key] = self._number(text_of(one, "Size"), key)
            for one in all_of(root, "CommonPrefixes"):
                found.folders.append(self._below(prefix, plain(one, "Prefix")))
        return found

    # Multipart uploads.

    def uploads(self, prefix: str) -> list[tuple[str, str]]:
        """Return (key, upload) of unfinished uploads with a prefix."""
        query = {
            "uploads": "", "prefix": prefix, "encoding-type": "url",
            "max-uploads": str(MOST_AT_ONCE),
        }  # fmt: skip
        next_page = {
            "key-marker": (plain, "NextKeyMarker"),
            "upload-id-marker": (text_of, "NextUploadIdMarker"),
        }
        return [
            (self._below(prefix, plain(one, "Key")), text_of(one, "UploadId"))
            for root in self._pages("ListMultipartUploadsResult", "", query, next_page)
            for one in all_of(root, "Upload")
        ]

    def begin(self, key: str, digest: str) -> str:
        """Begin an upload and return its name. digest: SHA-256 of the whole, stored as metadata."""
        headers = {
            "x-amz-checksum-algorithm": "SHA256", NOTE: digest, "Content-Type": kind_of(key),
        }  # fmt: skip
        root = self._xml("InitiateMultipartUploadResult", "POST", key, {"uploads": ""}, headers)
        return text_of(root, "UploadId")

    def send_part(
        self, key: str, upload: str, number: int, data: bytes | memoryview, digest: str
    ) -> Part:
        """Upload a part. digest: SHA-256 of the part."""
        query = {"partNumber": str(number), "uploadId": upload}
        checksum = in_base64(digest)
        headers = {ALGORITHM: "SHA256", CHECKSUM: checksum}
        answer = self.connections.ask("PUT", key, query, headers, data, digest)
        return Part(number, len(data), answer.headers.get("etag", ""), checksum)

    def parts(self, key: str, upload: str) -> dict[int, Part]:
        """Return the uploaded parts by number."""
        query = {"uploadId": upload, "max-parts": str(MOST_AT_ONCE)}
        found: dict[int, Part] = {}
        next_page = {"part-number-marker": (text_of, "NextPartNumberMarker")}
        for root in self._pages("ListPartsResult", key, query, next_page):
            for one in all_of(root, "Part"):
                size, number = (
                    self._number(text_of(one, name), key) for name in ("Size", "PartNumber")
                )
                checksum = text_of(one, "ChecksumSHA256")
                found[number] = Part(number, size, text_of(one, "ETag"), checksum)
        return found

    def finish(self, key: str, upload: str, parts: Sequence[Part]) -> None:
        """Complete an upload from its parts."""
        listed = "".join(
            f"<Part><PartNumber>{part.number}</PartNumber><ETag>{escaped(part.etag)}</ETag>"
            f"<ChecksumSHA256>{part.checksum}</ChecksumSHA256></Part>"
            for part in parts
        )
        body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
        query = {"uploadId": upload}
        answer = self.connections.ask("POST", key, query, NOTHING, body, sha256(body).hexdigest())
        if code_of(answer.body):
            # The store may start a 200 response before it knows the result.
            raise fault(self.where(key), 500, answer.headers, answer.body)

    def abort(self, key: str, upload: str) -> None:
        """Abort an upload; it may be missing."""
        try:
            self.connections.ask("DELETE", key, {"uploadId": upload})
        except Refusal as refusal:
            if refusal.code != "NoSuchUpload" and refusal.status != 404:
                raise

    def _pages(
        self, name: str, key: str, query: dict[str, str],
        next_page: Mapping[str, tuple[Callable[[Element, str], str], str]],
    ) -> Iterator[Element]:  # fmt: skip
        """Yield the responses of a list. next_page: parameters for the next request, and where the
        response gives them."""
        barren = 0
        for _ in range(MOST_PAGES):
            root = self._xml(name, "GET", key, query)
            yield root
            barren = 0 if len(root) > MOST_AT_ONCE // 10 else barren + 1
            if barren > MOST_BARREN:
                break
            if text_of(root, "IsTruncated") != "true":
                return
            asked = {ask: of(root, member) for ask, (of, member) in next_page.items()}
            if asked.items() <= query.items():
                break
            query |= asked
        raise ValueError(
            f"{self.where(key)}: expected a list of files that ends, found an endless list. Is the "
            "endpoint an object store?"
        )

    def _below(self, prefix: str, key: str) -> str:
        """Return a listed key. Raise if it was not asked for: it may belong to others."""
        if not key:
            raise PassingError(
                f"{self.where('')}: expected names of objects in its list, found an empty name"
            )
        if not key.startswith(prefix) or ".." in key.split("/"):
            raise ValueError(
                f"{self.where(prefix)}: expected only keys with this prefix, but the store also "
                f"lists {shown(key)[:MOST_SAID]}. Is the endpoint an object store?"
            )
        return key

    def _number(self, text: str, key: str) -> int:
        if not NUMBER.fullmatch(text):
            raise PassingError(f"{self.where(key)}: expected a number of bytes, found other text")
        return int(text)

    def _xml(
        self, name: str, method: str, key: str, query: Mapping[str, str],
        headers: Mapping[str, str] = NOTHING,
    ) -> Element:  # fmt: skip
        """Return the XML of a response. name: of its root element, as the page of a proxy is XML
        too."""
        answer = self.connections.ask(method, key, query, headers)
        root = parsed(answer.body)
        if root is None or name_of(root) != name:
            raise PassingError(
                f"{self.where(key)}: expected XML of an object store, found other data"
            )
        return root


def kind_of(key: str) -> str:
    """Return the content type for browsers."""
    if key.endswith(".md"):
        return "text/markdown; charset=utf-8"
    known = {".json": "application/json", ".txt": "text/plain; charset=utf-8"}
    return known.get("." + key.rpartition(".")[2], "application/octet-stream")


def plain(element: Element, name: str) -> str:
    return urllib.parse.unquote_plus(text_of(element, name))


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
