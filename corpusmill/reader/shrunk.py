"""A proxy of a corpus: a small list of its documents, with how often each is read.

`corpusmill shrink` writes the list. docs/reference/formats.md describes its files.
"""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corpusmill.messages.near_names import meant
from corpusmill.mill.storage.untrusted import is_count, load_plain_json
from corpusmill.reader.pieces import mapped_array
from corpusmill.reader.selection import Selection
from corpusmill.reader.split import Split

FACTS, DOCUMENTS, COPIES = "shrink.json", "documents.npy", "copies.npy"
VERSION = 1
HELD_BYTES = 1 << 30
"""The tokens of a proxy up to this size are held in memory, so they are read as fast as a shard."""
DTYPE_OF_DOCUMENTS = np.dtype("<u8")
DTYPES_OF_COPIES: dict[int, np.dtype[Any]] = {1: np.dtype("|u1"), 2: np.dtype("<u2")}
"""By bytes."""


class List(NamedTuple):
    """The list of a mixture."""

    documents: np.ndarray
    """int64, ascending: numbers of documents of the split."""
    copies: np.ndarray
    """How often each is read."""
    identity: dict[str, Any]


class Shrunk(Selection):
    """A proxy of a split. mixture: its name, if the folder has several.

    Documents that are read several times come again after all documents have been read once.
    """

    def __init__(self, split: Split, folder: str | Path, mixture: str | None = None) -> None:
        found = list_of(split, Path(folder), mixture)
        rounds = [found.documents[found.copies > done] for done in range(int(found.copies.max()))]
        super().__init__(split, np.concatenate(rounds), found.identity)
        if self.tokens * split.vocabulary.dtype.itemsize <= HELD_BYTES:
            self.hold()


def list_of(split: Split, folder: Path, mixture: str | None) -> List:
    """Return a list from its files, which may come from anywhere."""
    path = folder / FACTS
    told = load_plain_json(path)
    try:
        if told["corpusmill.shrink"] != VERSION:
            raise ValueError(f"version {told['corpusmill.shrink']!r:.40}")
        names = [one["name"] for one in told["mixtures"]]
        digests = [one["sha256"] for one in told["mixtures"]]
        corpus, its_split, size = told["corpus"], told["split"], told["bytes_per_number"]
        of_documents = told["documents_sha256"]
        if not all(type(name) is str for name in names) or size not in DTYPES_OF_COPIES:
            raise ValueError("other members")
        count = told["documents"]
        if not is_count(count) or not names:
            raise ValueError("no documents or mixtures")
    except (ValueError, TypeError, LookupError) as error:
        raise ValueError(
            f"{path}: expected the description of a proxy, found something else ({error}). Write "
            "it again: corpusmill shrink"
        ) from None
    if (corpus, its_split) != (split.digest, split.name):
        raise ValueError(
            f"{path}: expected a proxy of {split.name} of this corpus, found one of {its_split!r} "
            "of a corpus with other tokens. Shrink this corpus, or open the other one."
        )
    if mixture is None and len(names) > 1:
        raise ValueError(f"{path}: expected the name of one of {len(names)} mixtures, found none.")
    if mixture is not None and mixture not in names:
        raise ValueError(f"{path}: there is no mixture {mixture!r}.{meant(mixture, names)}")
    row = 0 if mixture is None else names.index(mixture)
    documents = mapped_array(folder / DOCUMENTS, 1, DTYPE_OF_DOCUMENTS)
    copies = mapped_array(folder / COPIES, 2, DTYPES_OF_COPIES[size])
    if documents.size != count or copies.shape != (len(names), count):
        raise ValueError(
            f"{folder}: expected {len(names)} lists of {count} documents, found {copies.shape} and "
            f"{documents.size}. Write them again: corpusmill shrink"
        )
    for array, digest, name in ((documents, of_documents, DOCUMENTS),
                                (copies[row], digests[row], COPIES)):  # fmt: skip
        if hashlib.sha256(array.tobytes()).hexdigest() != digest:
            raise ValueError(
                f"{folder / name}: expected other bytes, which {path} describes by their SHA-256. "
                "Write them again: corpusmill shrink"
            )
    if documents.size and (documents[1:] <= documents[:-1]).any():
        raise ValueError(f"{folder / DOCUMENTS}: expected ascending numbers, found others.")
    if int(documents.max(initial=0)) >= split.documents or not copies[row].any():
        raise ValueError(
            f"{folder}: expected some of the {split.documents} documents of {split.name}, found "
            "others. Write the list again: corpusmill shrink"
        )
    identity = {"proxy": [of_documents, digests[row]]}
    return List(documents.astype(np.int64), copies[row], identity)
