"""Opening a corpus: from a folder, an address or a published corpus to a store."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol, runtime_checkable

from corpusmill.mill.storage.untrusted import json_of
from corpusmill.reader.hub_addresses import is_hub, parsed_hub
from corpusmill.reader.manifest import MANIFEST, SHA256, Manifest, read_manifest, read_whole
from corpusmill.reader.patience import Patience, Say
from corpusmill.reader.s3.addresses import check_version, is_s3, parsed
from corpusmill.reader.stores import Folder, ForbiddenError, MissingError, Store

LATEST = "latest"
"""Name of the small file that names the latest version of a published corpus."""
LATEST_VERSION = 1
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Latest(NamedTuple):
    """The content of that file."""

    version: str
    manifest_sha256: str

    def encoded(self) -> bytes:
        content = {"corpusmill.latest": LATEST_VERSION, **self._asdict()}
        return (json.dumps(content, indent=1) + "\n").encode()

    @classmethod
    def decoded(cls, where: str, data: bytes) -> "Latest":
        try:
            content = json_of(data, where)
            known = content["corpusmill.latest"] == LATEST_VERSION
            found = cls(str(content["version"]), str(content["manifest_sha256"]))
            check_version(found.version)
            known = known and bool(SHA256.fullmatch(found.manifest_sha256))
        except (ValueError, TypeError, KeyError):
            known = False
        if not known:
            raise ValueError(
                f"{where}: expected a file of version {LATEST_VERSION} written by `corpusmill "
                "publish`, found something else. Correct the address, or give "
                "a version of the corpus: ADDRESS@VERSION."
            )
        return found


@runtime_checkable
class Folders(Protocol):
    """A store that may contain versions."""

    def below(self, folder: str) -> Store: ...


def store_of(place: str | Path | Store, headers: Mapping[str, str] = NO_HEADERS) -> Store:
    """Return the store of a place. Its files are accessed later."""
    if isinstance(place, str) and is_s3(place):
        from corpusmill.reader.s3_store import S3Store

        bucket, name, version = parsed(place)
        return S3Store(bucket, name if version is None else version_folder(name, version))
    if isinstance(place, str) and is_hub(place):
        from corpusmill.reader.hub_store import HubStore

        return HubStore(parsed_hub(place), headers)
    if isinstance(place, str) and place.startswith(("http://", "https://")):
        from corpusmill.reader.http_store import HttpStore

        return HttpStore(place.removesuffix(f"/{MANIFEST}"), headers)
    if isinstance(place, str | Path):
        folder = Path(place)
        return Folder(folder.parent if folder.name == MANIFEST else folder)
    return place


def version_folder(name: str, version: str) -> str:
    return f"{name}/versions/{version}"


def opened(store: Store, patience: Patience, say: Say) -> tuple[Store, Manifest]:
    """Open the corpus in a store, or the latest version there."""
    try:
        return store, read_manifest(store, patience, say)
    except (MissingError, ForbiddenError) as missing:
        below, latest = latest_below(store, missing, patience, say)
        return below, read_manifest(below, patience, say, latest.manifest_sha256)


def latest_below(
    store: Store, missing: ValueError, patience: Patience, say: Say
) -> tuple[Store, Latest]:
    """Return the latest version. missing: raised if there is no published corpus either."""
    if not isinstance(store, Folders):
        raise missing
    try:
        data = read_whole(store, LATEST, patience, say)
    except (MissingError, ForbiddenError):
        raise missing from None
    latest = Latest.decoded(store.where(LATEST), data)
    return store.below(f"versions/{latest.version}"), latest
