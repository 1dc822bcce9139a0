"""The place of a publication, and what it contains.

name/latest                              names the version to read
name/versions/{version}/...              the files of a results folder, by their names there
name/versions/{version}/manifest.json    written last: without it there is no version
name/versions/{version}/publication.json written first: the manifest's digest of the version
"""

import json
from collections.abc import Callable, Iterable
from threading import Event
from typing import TypeVar

from corpusmill.messages.progress import awaiting
from corpusmill.mill.storage.untrusted import json_of
from corpusmill.reader.opening import LATEST, Latest, version_folder
from corpusmill.reader.patience import Attempts, Patience, Say, patiently
from corpusmill.reader.s3.answers import Refusal
from corpusmill.reader.s3.bucket import Bucket
from corpusmill.reader.s3.connection import SILENCE_SECONDS
from corpusmill.tools.verify.kinds import MANIFEST

CLAIM = "publication.json"
CLAIM_VERSION = 1
FIRST_ANSWER = Patience(attempts=2, first_seconds=0.5, longest_seconds=0.5)
IS_IT_THERE = "Is the store's address correct in --endpoint-url, AWS_ENDPOINT_URL or the profile?"
FIRST_SILENCE_SECONDS = 4.5
"""Time limit of one attempt to get the first response of a store, in seconds. All attempts take ten
seconds, because the store's name may be wrong."""

T = TypeVar("T")


class Target:
    """One version of one corpus in a bucket. Requests are retried while that may help."""

    def __init__(
        self, bucket: Bucket, name: str, version: str, patience: Patience, say: Say
    ) -> None:
        self.bucket, self.name, self.version = bucket, name, version
        self.stopped = Event()
        self._patience, self._say = patience, say
        self._answered = False
        bucket.connections.silence_seconds = FIRST_SILENCE_SECONDS

    def key(self, file: str) -> str:
        return f"{version_folder(self.name, self.version)}/{file}"

    @property
    def latest_key(self) -> str:
        return f"{self.name}/{LATEST}"

    def where(self, file: str = "") -> str:
        return self.bucket.where(self.key(file).rstrip("/"))

    def stop(self) -> None:
        """Abort the requests of other threads at once, even if the store is silent."""
        self.stopped.set()
        self.bucket.connections.end()

    def patiently(self, action: Callable[[], T]) -> T:
        """Return the result of an action. Raise OSError if its faults persist."""
        patience, advice = self._patience, "Sent data is kept. Repeat the command to resume."
        if not self._answered:
            patience = FIRST_ANSWER._replace(attempts=min(2, patience.attempts))
            advice = IS_IT_THERE
        found = patiently(action, Attempts(patience, self._say, self.stopped, advice))
        if not self._answered:
            self._answered = True
            self.bucket.connections.silence_seconds = SILENCE_SECONDS
            self.bucket.connections.close()  # open connections still have the short time limit
        return found

    # Looking.

    def look(self, files: Iterable[str], manifest_sha256: str) -> dict[str, int]:
        """Return the sizes of the version's existing files, by name. Raise ValueError if something
        else than this version of a published corpus is there."""
        with awaiting(f"the list of {self.bucket.where(self.name)}"):
            here = self.patiently(lambda: self.bucket.listed(f"{self.name}/", here_alone=True))
        versions = f"{self.name}/versions/"
        strange = [*(set(here.sizes) - {self.latest_key}), *(set(here.folders) - {versions})]
        if strange:
            raise ValueError(
                f"{self.bucket.where(self.name)}: expected nothing or a published corpus, found "
                f"{min(strange)}. Choose a different name, or move that object away."
            )
        self.latest()  # raises if it is not ours
        sizes = self.sizes()
        claimed = self.claimed() if CLAIM in sizes else None
        if claimed is not None and claimed != manifest_sha256:
            raise other_content(self, manifest_sha256, claimed)
        strange = list(set(sizes) - {*files, MANIFEST, CLAIM})
        if strange or (sizes and claimed is None):
            raise ValueError(
                f"{self.where()}: expected nothing, or only files sent by `corpusmill publish`, "
                f"found {min(strange or sizes)}. Choose a different --version, or move that "
                "object away."
            )
        return sizes

    def sizes(self) -> dict[str, int]:
        """Return the sizes of the version's files, by name."""
        with awaiting(f"the list of {self.where()}"):
            found = self.patiently(lambda: self.bucket.listed(self.key("")))
        return {key.removeprefix(self.key("")): size for key, size in found.sizes.items()}

    def latest(self) -> Latest | None:
        data = self.patiently(lambda: self.bucket.get(self.latest_key))
        return data if data is None else Latest.decoded(self.bucket.where(self.latest_key), data)

    def claimed(self) -> str | None:
        """Return the manifest's digest that the version is claimed for; None if it is not
        claimed."""
        data = self.patiently(lambda: self.bucket.get(self.key(CLAIM)))
        if data is None:
            return None
        try:
            content = json_of(data, CLAIM)
            if content["corpusmill.publication"] == CLAIM_VERSION:
                return str(content["manifest_sha256"])
        except (ValueError, TypeError, KeyError):
            pass
        raise ValueError(
            f"{self.where(CLAIM)}: expected a file of version {CLAIM_VERSION} written by "
            "`corpusmill publish`, found something else. Choose a different --version."
        )

    def claim(self, manifest_sha256: str) -> None:
        """Claim the version. If two publish different contents at once, one is refused."""
        content = {
            "corpusmill.publication": CLAIM_VERSION, "manifest_sha256": manifest_sha256,
        }  # fmt: skip
        self.put_once(CLAIM, (json.dumps(content, indent=1) + "\n").encode())
        # Some stores ignore conditions.
        if (claimed := self.claimed()) != manifest_sha256:
            raise other_content(self, manifest_sha256, claimed)

    def put_once(self, file: str, data: bytes) -> None:
        """Write a file unless it exists."""
        try:
            self.patiently(lambda: self.bucket.put(self.key(file), data, only_new=True))
        except Refusal as refusal:
            if refusal.status != 412:
                raise


def other_content(target: Target, ours: str, found: str | None) -> ValueError:
    return ValueError(
        f"{target.where()}: expected the corpus with manifest {ours[:16]}, found one with "
        f"{(found or 'none')[:16]}. Published versions never change: choose a different "
        "--version, or unpublish that version."
    )
