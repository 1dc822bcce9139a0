"""Uploads of files to the store, each complete or not at all."""

import contextlib
import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import partial
from io import FileIO
from itertools import repeat
from queue import Empty, SimpleQueue
from threading import Lock
from typing import NamedTuple

from corpusmill.mill.storage.regular_files import open_regular
from corpusmill.reader.patience import StoppedError
from corpusmill.reader.s3.answers import Refusal
from corpusmill.reader.s3.bucket import Part, Stored, composite, in_base64
from corpusmill.reader.s3.connection import Blocks
from corpusmill.reader.stores import PassingError
from corpusmill.run.job_progress import Phase
from corpusmill.tools.publish.contents import DamagedFileError, File, check_size, damaged
from corpusmill.tools.publish.target import Target

WHOLE_BYTES = 256 << 20
"""Files up to this size are sent in one request, signed with the manifest's digest. The store
refuses any other content."""
PART_BYTES = 16 << 20
MOST_PARTS = 10_000
"""Maximum number of parts of a multipart upload in S3."""
ALIGNED = 1 << 20
ATTEMPTS = 3
"""Maximum number of attempts at a multipart upload that other programs complete or abort."""
GONE = {"NoSuchUpload", "InvalidPart"}
BLOCK_BYTES = 1 << 20
LOOK_SECONDS = 0.5  # interval for checking whether all is done


def part_bytes(size: int) -> int:
    """Return the size of parts. It depends only on the file's size, so a later attempt finds the
    same parts."""
    least = -(-size // MOST_PARTS)
    return max(PART_BYTES, -(-least // ALIGNED) * ALIGNED)


def part_count(size: int) -> int:
    """Return the number of parts; 0 if the file is sent at once."""
    return 0 if size <= WHOLE_BYTES else -(-size // part_bytes(size))


@contextlib.contextmanager
def faults_of_the_disk(file: File) -> Iterator[None]:
    """Raise disk faults as DamagedFileError: within a request, an OSError would count as a network
    fault."""
    try:
        yield
    except OSError as error:
        raise DamagedFileError(
            f"{file.path}: cannot be read: {error.strerror or error}. Make the file readable, and "
            "repeat the command."
        ) from None


def checked(file: File) -> FileIO:
    """Open a file and check its size."""
    assert file.path
    check_size(file)
    return open(file.path, "rb", buffering=0)


def blocks(file: File) -> Iterator[memoryview]:
    """Yield a local file in blocks. Raise DamagedFileError before the last block if it does not
    match the manifest, so that the upload stays incomplete."""
    digest, buffer, left = hashlib.sha256(), bytearray(BLOCK_BYTES), file.bytes
    with faults_of_the_disk(file), checked(file) as opened:
        while left:
            size = opened.readinto(memoryview(buffer)[:left])
            block = memoryview(buffer)[:size]
            left -= size
            digest.update(block)
            if (not left or not size) and digest.hexdigest() != file.sha256:
                raise damaged(file, digest.hexdigest())
            yield block


class Piece(NamedTuple):
    """A part of a local file, valid until its buffer is reused."""

    number: int
    data: memoryview
    sha256: str
    buffer: bytearray


def pieces(file: File, buffers: Iterator[bytearray]) -> Iterator[Piece]:
    """Yield the parts of a local file, each in the next buffer. Raise DamagedFileError after the
    last one if they do not match the manifest."""
    assert file.path
    check_size(file)
    size, whole = part_bytes(file.bytes), hashlib.sha256()
    with open_regular(file.path) as opened:
        for number in range(1, part_count(file.bytes) + 1):
            buffer = next(buffers)
            if len(buffer) < size:
                buffer = bytearray(size)
            data = memoryview(buffer)[: opened.readinto(memoryview(buffer)[:size])]
            whole.update(data)
            # The first part begins as the whole does.
            own = whole if number == 1 else hashlib.sha256(data)
            yield Piece(number, data, own.hexdigest(), buffer)
    if whole.hexdigest() != file.sha256:
        raise damaged(file, whole.hexdigest())


def is_whole(file: File, stored: Stored | None) -> bool:
    """Say whether the store has a file, by size and by the store's own checksum; without one, by
    the digest noted at the upload."""
    if stored is None or stored.bytes != file.bytes:
        return False
    if not stored.checksum:
        return stored.noted == file.sha256
    if not part_count(file.bytes):
        return stored.checksum == in_base64(file.sha256)
    one = repeat(bytearray(part_bytes(file.bytes)))
    return stored.checksum == composite([in_base64(piece.sha256) for piece in pieces(file, one)])


class Sender:
    """Sends files of a version, several at once. At most `streams` + 1 parts are in memory."""

    def __init__(self, target: Target, streams: int, phase: Phase) -> None:
        self._target, self._phase = target, phase
        self._buffers: SimpleQueue[bytearray] = SimpleQueue()
        for _ in range(streams + 1):
            self._buffers.put(bytearray())
        self._parts = ThreadPoolExecutor(streams)
        self._files = ThreadPoolExecutor(streams)
        self._uploads: dict[str, str] = {}
        self._lock = Lock()
        self._sent: dict[str, int] = {}

    def send_all(
        self, files: Sequence[File], there: dict[str, int], uploads: Sequence[tuple[str, str]]
    ) -> list[int | None]:
        """Return the bytes sent of each file; None if it was there already.

        there: sizes of existing files. uploads: unfinished multipart uploads. The first fault ends
        it.
        """
        # The same upload for all who publish this at once.
        self._uploads = dict(sorted(uploads, reverse=True))
        try:
            futures = [self._files.submit(self._send, file, there.get(file.name)) for file in files]
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
            return [future.result() for future in futures]
        except BaseException:
            self._target.stop()
            raise
        finally:
            self._files.shutdown(cancel_futures=True)
            self._parts.shutdown(cancel_futures=True)

    def _send(self, file: File, size: int | None) -> int | None:
        target, key = self._target, self._target.key(file.name)
        if size == file.bytes:
            stored = target.patiently(partial(target.bucket.head, key))
            if is_whole(file, stored):
                self._count(file, file.bytes)
                return None
        if part_count(file.bytes):
            return self._send_in_parts(file, key)
        target.patiently(partial(self._put, file, key))
        return file.bytes

    def _put(self, file: File, key: str) -> None:
        bucket = self._target.bucket
        body = Blocks(file.bytes, partial(self._blocks, file)) if file.path else file.data
        bucket.put_with(key, body, file.sha256)
        if not is_whole(file, bucket.head(key)):
            raise other_bytes(self._target, file)

    def _blocks(self, file: File) -> Iterator[memoryview]:
        """Yield the blocks of a file, perhaps in a repeated attempt."""
        self._count(file, -self._sent.get(file.name, 0))
        for block in blocks(file):
            if self._target.stopped.is_set():
                raise StoppedError
            yield block
            self._count(file, len(block))

    def _count(self, file: File, size: int) -> None:
        with self._lock:
            self._sent[file.name] = self._sent.get(file.name, 0) + size
            self._phase.advance(size)

    def _free_buffers(self) -> Iterator[bytearray]:
        while not self._target.stopped.is_set():
            with contextlib.suppress(Empty):
                yield self._buffers.get(timeout=LOOK_SECONDS)
        raise StoppedError

    # Multipart uploads.

    def _send_in_parts(self, file: File, key: str) -> int:
        target, bucket = self._target, self._target.bucket
        for _ in range(ATTEMPTS):
            known: dict[int, Part] = {}
            checksum = ""
            try:
                if upload := self._uploads.pop(key, ""):
                    known = target.patiently(partial(bucket.parts, key, upload))
                else:
                    upload = target.patiently(lambda: bucket.begin(key, file.sha256))
                parts = self._bring_parts(file, key, upload, known)
                target.patiently(partial(bucket.finish, key, upload, parts))
                checksum = composite([part.checksum for part in parts])
            except DamagedFileError:
                target.patiently(partial(bucket.abort, key, upload))
                raise
            except Refusal as refusal:
                if refusal.code not in GONE:
                    raise
            # Also if others have completed it meanwhile, or a response was lost.
            stored = target.patiently(lambda: bucket.head(key))
            as_sent = stored and (stored.bytes, stored.checksum) == (file.bytes, checksum)
            if as_sent or is_whole(file, stored):
                return file.bytes - sum(part.bytes for part in known.values())
        raise other_bytes(target, file)

    def _bring_parts(self, file: File, key: str, upload: str, known: dict[int, Part]) -> list[Part]:
        """Send the missing parts and return all. known: parts that the upload has already."""
        futures: deque[Future[Part]] = deque()
        brought: list[Part] = []
        try:
            for piece in pieces(file, self._free_buffers()):
                while futures and futures[0].done():
                    brought.append(futures.popleft().result())  # a fault ends it here
                there = known.get(piece.number)
                checksum = in_base64(piece.sha256)
                if there and (there.bytes, there.checksum) == (len(piece.data), checksum):
                    brought.append(there)
                    self._count(file, there.bytes)
                    self._buffers.put(piece.buffer)
                else:
                    futures.append(self._parts.submit(self._send_part, file, key, upload, piece))
        finally:
            wait(futures)
        return sorted([*brought, *(future.result() for future in futures)])

    def _send_part(self, file: File, key: str, upload: str, piece: Piece) -> Part:
        bucket = self._target.bucket
        try:
            part = self._target.patiently(
                lambda: bucket.send_part(key, upload, piece.number, piece.data, piece.sha256)
            )
        finally:
            self._buffers.put(piece.buffer)
        self._count(file, part.bytes)
        return part


def other_bytes(target: Target, file: File) -> PassingError:
    return PassingError(
        f"{target.where(file.name)}: the store does not report the size and checksum of what was "
        "sent"
    )
