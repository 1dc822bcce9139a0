"""Checks every listed file, and finds unlisted files among them."""

import hashlib
import os
from queue import Empty, SimpleQueue
from threading import Lock, Thread

from corpusmill.mill.storage.regular_files import NotRegularError
from corpusmill.reader.patience import StoppedError
from corpusmill.reader.stores import MissingError
from corpusmill.run.job_progress import Phase
from corpusmill.tools.verify.findings import Findings, UnreachableError
from corpusmill.tools.verify.kinds import KINDS, looks_ours
from corpusmill.tools.verify.listing import Kept, Listing
from corpusmill.tools.verify.locations import Place

NO_LIST = "a server does not list them; to check an export, name its address"


class FilesSeen:
    """The progress of checking files, shared by threads."""

    stopped = False

    def __init__(self, phase: Phase, files: int, findings: Findings) -> None:
        self._phase, self._files, self._findings = phase, files, findings
        self._doing = phase.name
        self._seen = 0
        self._lock = Lock()
        self._name()

    def _name(self) -> None:
        damaged = self._findings.damaged_files
        self._phase.name = f"{self._doing} {self._seen:,} of {self._files:,} files" + (
            f", {damaged:,} damaged" if damaged else ""
        )

    def advance(self, amount: int) -> None:
        if self.stopped:
            raise StoppedError
        with self._lock:
            self._phase.advance(amount)

    def file(self) -> None:
        with self._lock:
            self._seen += 1
            self._name()


LOOK_SECONDS = 0.2
"""Interval at which the main thread checks for finished readers and Ctrl-C."""


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def look_at_files(place: Place, listing: Listing, findings: Findings, seen: FilesSeen) -> None:
    """Report every file that is missing or has another size or SHA-256. One reader per core, each
    with one block in memory."""
    owner = {file.sha256: file.name for file in listing.files.values()}

    def look(file: Kept) -> None:
        try:
            if fault := fault_of(place, file, owner, seen):
                findings.damage(file.name, fault)
        except MissingError:
            findings.damage(file.name, "it is missing")
        except UnreachableError as error:
            findings.unseen(file.name, str(error))
        except NotRegularError as error:
            findings.damage(file.name, str(error))
        except OSError as error:
            findings.damage(file.name, f"cannot be read: {error.strerror or error}")
        seen.file()

    left, faults = SimpleQueue[Kept](), SimpleQueue[BaseException]()
    for file in listing.files.values():
        left.put(file)

    def look_on() -> None:
        try:
            while faults.empty():
                look(left.get_nowait())
        except Empty:
            return
        except BaseException as fault:  # raised by the waiting thread
            faults.put(fault)

    # Not a pool, whose threads are joined at exit: Ctrl-C must not wait for a silent server.
    readers = [Thread(target=look_on, daemon=True) for _ in range(cores())]
    try:
        for reader in readers:
            reader.start()
        for reader in readers:
            while reader.is_alive():
                reader.join(LOOK_SECONDS)
    finally:
        seen.stopped = True
    if not faults.empty():
        raise faults.get()


def fault_of(place: Place, file: Kept, owner: dict[str, str], seen: FilesSeen) -> str | None:
    """Say what is wrong with a file. owner: SHA-256 -> the listed file that has it."""
    size = place.size(file.name)
    if size is not None and size != file.bytes:
        seen.advance(file.bytes)
        return other_size(file.bytes, size)
    found, came = hashlib.sha256(), 0
    for block in place.blocks(file.name):
        came += len(block)
        if came > file.bytes:
            return f"expected {file.bytes:,} bytes, found more"
        found.update(block)
        seen.advance(len(block))
    if came != file.bytes:
        return other_size(file.bytes, came)
    digest = found.hexdigest()
    if digest == file.sha256:
        return None
    its = owner.get(digest)
    of_another = f": this is the content of {its}" if its else ""
    return f"expected SHA-256 {file.sha256}, found {digest}{of_another}"


def other_size(expected: int, found: int) -> str:
    how = "cut off" if found < expected else "too long"
    return f"expected {expected:,} bytes, found {found:,}: {how}"


def look_for_foreign(place: Place, listing: Listing, findings: Findings) -> None:
    """Report unlisted files in our folders that are named like ours."""
    for folder in sorted({kind.folder.split("/")[0] for kind in KINDS}):
        found = place.below(folder, findings.unseen)
        if found is None:
            findings.unseen("files that the manifest does not list, and exports", NO_LIST, True)
            return
        for name in found:
            if looks_ours(name) and name not in listing.files:
                findings.foreign(name)
