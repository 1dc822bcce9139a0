"""The token shards and indexes in results/manifest.json. Only this module parses them."""

import hashlib
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from corpusmill.messages.progress import awaiting
from corpusmill.mill.decide.fates import STAGE_NAME
from corpusmill.mill.storage.untrusted import is_count, joined, json_of
from corpusmill.mill.tokens import group_files
from corpusmill.mill.tokens.pack_files import pack_name
from corpusmill.mill.tokens.vocabulary import token_ids_of
from corpusmill.reader.downloads import Remote
from corpusmill.reader.patience import Attempts, Patience, Say, patiently
from corpusmill.reader.stores import Store

MANIFEST = "manifest.json"
VERSION = 1
WRONG_TIMES = 3  # attempts to fetch a small file that arrives corrupted
SEAL = re.compile(rb',\n "sha256": "([0-9a-f]{64})"\n}\n\Z')
"""End of a manifest: the SHA-256 of everything before it."""
SHA256 = re.compile("[0-9a-f]{64}")
FACTS = ["tokenizer", "corpusmill.json"]

NO_FILE: dict[str, Any] = {"bytes": 0, "sha256": ""}
Files = dict[str, dict[str, dict[str, Any]]]


class Vocabulary(NamedTuple):
    """The vocabulary of a corpus."""

    dtype: np.dtype  # little-endian
    size: int  # all ids are below
    end_of_text: int


class PackIndex(NamedTuple):
    """The index of rows that a run packed; see mill/tokens/pack_files.py."""

    pieces: Remote
    rows: Remote


class GroupIndex(NamedTuple):
    """The groups of all documents; see mill/tokens/group_files.py."""

    numbers: Remote
    legend: Remote


class Shards(NamedTuple):
    """The token shards of a split, in order."""

    split: str
    numbers: list[str]  # five digits, as in file names
    tokens: np.ndarray  # int64 (shards,)
    documents: np.ndarray  # int64 (shards,)
    sha256: list[str]
    index_sha256: list[str]
    packs: dict[int, PackIndex]
    """Indexes of packed rows by length."""
    groups: GroupIndex | None
    """None: an earlier version of corpusmill made the corpus."""

    def name(self, shard: int, ending: str) -> str:
        return f"tokens/{self.split}/{self.numbers[shard]}.{ending}"

    def digest(self, vocabulary: Vocabulary) -> str:
        """Return a digest of the ids and shard boundaries, which together define every sample."""
        facts = [self.split, str(vocabulary.dtype), str(vocabulary.end_of_text)]
        facts += [f"{n} {sha}" for n, sha in zip(self.tokens.tolist(), self.sha256, strict=True)]
        return hashlib.sha256("\n".join(facts).encode()).hexdigest()

    def index_bytes(self, shard: int) -> int:
        return (int(self.documents[shard]) + 1) * 8


class Manifest(NamedTuple):
    """A corpus as described by its manifest."""

    vocabulary: Vocabulary
    splits: dict[str, Shards]


def read_manifest(store: Store, patience: Patience, say: Say, digest: str = "") -> Manifest:
    """Read a manifest. Raise ValueError if its version is unknown or it contradicts itself.

    digest: its expected digest, if known.
    """
    where = store.where(MANIFEST)
    data = read_sealed(store, patience, say, digest)
    try:
        content = json_of(data, where)
        version = content["corpusmill.manifest"]
        if version == VERSION:
            files, facts = _by_split(content["files"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        told = str(error) if type(error) is ValueError else repr(error)
        raise ValueError(
            f"{where}: expected the manifest of a finished run, found something else ({told}). "
            "Give the results folder of a run, or its address."
        ) from None
    if version != VERSION:
        raise ValueError(
            f"{where}: expected manifest version {VERSION}, found {version!r:.40}. Read it with "
            "the version of corpusmill that wrote it, or make the corpus again with this version."
        )
    vocabulary = _vocabulary(store, where, facts, patience, say)
    splits = {split: _shards(where, split, found, vocabulary) for split, found in files.items()}
    return Manifest(vocabulary, splits)


def read_sealed(store: Store, patience: Patience, say: Say, digest: str) -> bytes:
    """Return the bytes of a manifest whose seal is intact. digest: its expected digest."""
    return read_whole(store, MANIFEST, patience, say, lambda data: broken_seal(data, digest))


def broken_seal(data: bytes, digest: str = "") -> str | None:
    """Say what is wrong with the seal of a manifest. digest: its expected digest, or "".

    The bytes are checked as stored. To serialize 10,000 shards again would take longer than the
    rest of opening a corpus.
    """
    seal = SEAL.search(data)
    found = seal[1].decode() if seal else ""
    if digest and found != digest:
        return f"expected the manifest with SHA-256 {digest}, found {found or 'none'}"
    if not seal:
        return (
            "expected a manifest that ends with its own SHA-256, found another end: it was changed "
            "or truncated, or is not a manifest"
        )
    own = hashlib.sha256(data[: seal.start()] + b"\n}\n").hexdigest()
    return (
        None
        if own == found
        else f"its last line gives SHA-256 {found}, but its content has {own}: it was changed"
    )


def _by_split(listed: list[dict[str, Any]]) -> tuple[Files, dict[str, Any] | None]:
    """Return the listed token shards by split and name, and the entry of the tokenizer facts."""
    folders: Files = {}
    facts = None
    for file in listed:
        folder, _, name = file["path"].rpartition("/")
        if name[-4:] in (".bin", ".idx") or pack_name(name) or name in group_files.NAMES:
            folders.setdefault(folder, {})[name] = file
        elif name == FACTS[1] and folder.endswith(FACTS[0]):
            facts = _sound(file)
    # Paths start at the folder of the run and may have a prefix. Joined files are directly in
    # tokens/.
    parted = {tuple(folder.split("/")[-2:]): names for folder, names in folders.items()}
    found = {way[1]: names for way, names in parted.items() if way[0] == "tokens" and way[1:]}
    if strange := [split for split in found if not re.fullmatch(STAGE_NAME, split)]:
        raise ValueError(f"a split {strange[0]!r:.40}")
    for files in found.values():
        for file in files.values():
            _sound(file)
    return found, facts


def _sound(file: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of the list. Raise ValueError if its numbers or digest are impossible."""
    counts = [file["bytes"], *(file[one] for one in ("documents", "tokens") if one in file)]
    if not all(map(is_count, counts)) or not SHA256.fullmatch(str(file["sha256"])):
        raise ValueError(f"sizes or SHA-256 of {file['path']!r:.80}")
    return file


def read_whole(
    store: Store,
    name: str,
    patience: Patience,
    say: Say,
    fault_of: Callable[[bytes], str | None] = lambda data: None,
) -> bytes:
    """Read a small file, with retries. fault_of: returns the fault of corrupted content, or
    None."""

    def fetched() -> bytes:
        with awaiting(store.where(name)):
            return joined(store.blocks(name), store.where(name))

    for _ in range(WRONG_TIMES):
        data = patiently(fetched, Attempts(patience, say))
        if (told := fault_of(data)) is None:
            return data
        say(f"{store.where(name)}: {told}; fetching it again")
    raise ValueError(
        f"{store.where(name)}: {told}, {WRONG_TIMES} times. Copy the results folder again."
    )


def _vocabulary(
    store: Store, where: str, listed: dict[str, Any] | None, patience: Patience, say: Say
) -> Vocabulary:
    """Read the facts of the tokenizer, which must match the manifest."""
    name = "/".join(FACTS)
    if listed is None:
        raise ValueError(
            f"{where}: expected {name} among the listed files, found none. Mill the corpus again."
        )

    def fault_of(data: bytes) -> str | None:
        found = hashlib.sha256(data).hexdigest()
        its = f"expected SHA-256 {listed['sha256']}, found {found}: it is from another run"
        return None if found == listed["sha256"] else its

    data = read_whole(store, name, patience, say, fault_of)
    ids = token_ids_of(json_of(data, store.where(name)), store.where(name))
    return Vocabulary(np.dtype(ids.dtype).newbyteorder("<"), ids.size, ids.end_of_text)


def _shards(
    where: str, split: str, files: dict[str, dict[str, Any]], vocabulary: Vocabulary
) -> Shards:
    numbers = sorted(name[:-4] for name in files if name.endswith(".bin"))
    for place, number in enumerate(numbers):
        if number != f"{place:05d}":
            raise ValueError(
                f"{where}: expected shard {place:05d} of {split}, found shard {number!r:.40} "
                "in its place. Copy or make the corpus again."
            )
    bins = [files[f"{number}.bin"] for number in numbers]
    for bin in bins:
        if missing := {"tokens", "documents"} - bin.keys():
            told = " and ".join(sorted(missing))
            raise ValueError(
                f"{where}: the number of {told} of {bin['path']} is missing. Mill the corpus again."
            )
    indexes = [files.get(f"{number}.idx", NO_FILE) for number in numbers]
    tokens, documents, sizes = (
        np.array([bin[key] for bin in bins], np.int64) for key in ("tokens", "documents", "bytes")
    )
    index_sizes = np.array([index["bytes"] for index in indexes], np.int64)
    dtype = vocabulary.dtype
    for bad in np.flatnonzero(sizes != tokens * dtype.itemsize)[:1].tolist():
        raise ValueError(
            f"{where}: {bins[bad]['path']} has {sizes[bad]} bytes, expected {tokens[bad]} tokens "
            f"of {dtype.name}, the dtype of the tokenizer. Mill the corpus again."
        )
    for bad in np.flatnonzero(index_sizes != (documents + 1) * 8)[:1].tolist():
        raise ValueError(
            f"{where}: {bins[bad]['path']} has an index of {index_sizes[bad]} bytes, expected "
            f"{(documents[bad] + 1) * 8} for {documents[bad]} documents. Mill the corpus again."
        )
    sha256, index_sha256 = ([file["sha256"] for file in files] for files in (bins, indexes))
    packs, groups = _packs(where, split, files), _groups(where, split, files)
    return Shards(split, numbers, tokens, documents, sha256, index_sha256, packs, groups)


def _groups(where: str, split: str, files: dict[str, dict[str, Any]]) -> GroupIndex | None:
    there = [name for name in group_files.NAMES if name in files]
    if not there:
        return None
    if len(there) == 1:
        raise _half(where, split, *(name for name in group_files.NAMES if name not in files))
    return GroupIndex(*(_beside(split, name, files) for name in there))


def _beside(split: str, name: str, files: dict[str, dict[str, Any]]) -> Remote:
    return Remote(f"tokens/{split}/{name}", files[name]["bytes"], files[name]["sha256"])


def _half(where: str, split: str, missing: str) -> ValueError:
    return ValueError(
        f"{where}: expected {missing} of {split} beside its other half, found none. Mill the "
        "corpus again."
    )


def _packs(where: str, split: str, files: dict[str, dict[str, Any]]) -> dict[int, PackIndex]:
    packs = {}
    for length in sorted({pack[0] for pack in map(pack_name, files) if pack}):
        names = [f"pack-{length}.npy", f"pack-{length}.rows.npy"]
        if missing := [name for name in names if name not in files]:
            raise _half(where, split, missing[0])
        packs[length] = PackIndex(*(_beside(split, name, files) for name in names))
    return packs
