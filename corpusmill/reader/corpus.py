"""A finished corpus, opened by its manifest."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from corpusmill.reader.cache import Cache
from corpusmill.reader.opening import opened, store_of
from corpusmill.reader.patience import Patience, Say, speaking, to_stderr
from corpusmill.reader.shelves import Here, Shelf
from corpusmill.reader.split import Split
from corpusmill.reader.stores import Folder, Store

NO_HEADERS: Mapping[str, str] = MappingProxyType({})
MAPPED_BYTES = 4 << 30


class Corpus:
    """A finished corpus.

    place: the results folder of a run, its address (https://...), or a `Store`; or a published
    corpus (s3://bucket/name or hf://org/name, each with an optional @version; https://host/name).

    cache: a local folder. Complete shards are fetched to it, verified, and read there. It is
    required for an address, and optional for a slow shared file system. keep_shards: most shards of
    a split to keep there; None: all. headers: sent with every request, for example `Authorization`.
    say: called with messages about waiting. mapped_bytes: most bytes of mapped shards.
    """

    def __init__(
        self,
        place: str | Path | Store,
        cache: str | Path | None = None,
        keep_shards: int | None = None,
        headers: Mapping[str, str] = NO_HEADERS,
        say: Say = to_stderr,
        patience: Patience = Patience(),  # noqa: B008  it cannot be changed
        mapped_bytes: int = MAPPED_BYTES,
    ) -> None:
        store = store_of(place, headers)
        if cache is None and not isinstance(store, Folder):
            raise ValueError(
                f"{store.where('')}: expected a cache (a local folder for downloaded shards), "
                "found none. Pass a folder: Corpus(..., cache=FOLDER)"
            )
        if keep_shards is not None and (cache is None or keep_shards < 1):
            raise ValueError(
                f"keep_shards {keep_shards}: expected 1 or more, and a cache, found cache {cache}. "
                "Only shards in a cache are ever removed."
            )
        with speaking(say, f"opening {store.where('manifest.json')}"):
            store, manifest = opened(store, patience, say)
        self._where = store.where("manifest.json")
        self._splits: dict[str, Split] = {}
        self.vocabulary = manifest.vocabulary
        itemsize = manifest.vocabulary.dtype.itemsize
        for name, shards in manifest.splits.items():
            shelf: Shelf
            if cache is None and isinstance(store, Folder):
                shelf = Here(store.folder, shards, itemsize)
            else:
                folder = Path(cache or "") / shards.digest(manifest.vocabulary)[:16]
                shelf = Cache(store, folder, shards, itemsize, keep_shards, patience, say)
            self._splits[name] = Split(shards, manifest.vocabulary, shelf, mapped_bytes)

    @property
    def splits(self) -> list[str]:
        """Return the splits that have shards."""
        return list(self._splits)

    def split(self, name: str) -> Split:
        if name not in self._splits:
            raise ValueError(
                f"{self._where}: expected one of the splits {', '.join(self._splits)}, "
                f"got {name!r}."
            )
        return self._splits[name]
