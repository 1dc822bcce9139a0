"""A corpus in a dataset repository of the Hugging Face hub: files of one commit, by plain HTTP."""

import re
from collections.abc import Iterator, Mapping

from corpusmill.mill.storage.untrusted import NoJsonError, joined, json_of
from corpusmill.reader.http_store import NO_HEADERS, HttpStore
from corpusmill.reader.hub_addresses import BRANCH, HubAddress, bearer, server
from corpusmill.reader.stores import ForbiddenError, MissingError

COMMIT = re.compile("[0-9a-f]{40,64}")


class HubStore:
    """The files of a repository at one commit. The version or main branch is resolved at the first
    request; copies sent to other processes use the same commit.

    headers: sent with every request, in place of the token.
    """

    def __init__(self, address: HubAddress, headers: Mapping[str, str] = NO_HEADERS) -> None:
        self._address, self._given = address, dict(headers)
        self._server = server()
        self.commit: str | None = None

    def where(self, name: str) -> str:
        revision = self.commit or self._address.version or BRANCH
        return f"{self._server}/datasets/{self._address.repository}/resolve/{revision}/{name}"

    def blocks(self, name: str, start: int = 0, size: int | None = None) -> Iterator[bytes]:
        if self.commit is None:
            self.commit = self._resolved()
        root = self.where("")
        yield from HttpStore(root, bearer() | self._given).blocks(name, start, size)

    def _resolved(self) -> str:
        root = f"{self._server}/api/datasets/{self._address.repository}/revision"
        files = Revisions(root, bearer() | self._given)
        name = self._address.version or BRANCH
        try:
            found = json_of(joined(files.blocks(name), files.where(name)), name)["sha"]
            if not COMMIT.fullmatch(found):
                raise TypeError("no commit")
        except (MissingError, ForbiddenError) as refusal:
            held = "for your token" if bearer() else "without a token"
            raise type(refusal)(
                f"{self._address}: expected a dataset repository with this version that you can "
                f"read, but {self._server} shows none {held}. Correct the address, or set HF_TOKEN "
                "to a token with access."
            ) from None
        except (TypeError, KeyError, NoJsonError):
            raise ValueError(
                f"{files.where(name)}: expected the Hugging Face hub's description of a revision, "
                "found something else. Is HF_ENDPOINT the address of a hub?"
            ) from None
        return str(found)


class Revisions(HttpStore):
    """Responses of the hub about revisions, without the list of files."""

    def url(self, name: str) -> str:
        return f"{super().url(name)}?expand=sha"
