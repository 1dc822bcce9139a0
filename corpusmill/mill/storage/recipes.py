"""Recipes: a digest of all that a file of a run is made from.

A recipe covers settings, code and inputs of the file's job, and the recipes of the inputs. A run
writes the recipes of all files before its first job. A job stores the recipe in the sums of each
file that it writes, and rejects inputs with another recipe.
"""

import contextlib
import hashlib
import struct
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import xxhash

MAGIC = b"millrcp1"
RECIPE_BYTES = 16
Digest = bytes
NO_RECIPE: Digest = bytes(RECIPE_BYTES)
"""The recipe of a file that no job of a run has made."""
_HEADER = struct.Struct("<8sQ")
_ONE = struct.Struct("<Q")


class Recipe(NamedTuple):
    """How a job makes its files."""

    settings: int
    """A digest of the job's settings, to identify the job."""
    digest: Digest
    """A digest of everything that determines the files."""


def settings_digest(settings: str) -> int:
    return xxhash.xxh3_64_intdigest(settings.strip().encode("utf-8", "surrogateescape"))


def recipe_of(step: str, told: list[str], inputs: Iterable[tuple[str, Digest]]) -> Digest:
    """Return the digest of a recipe. told: the job's settings; inputs: name and recipe of each
    input."""
    digest = hashlib.blake2b(digest_size=RECIPE_BYTES)
    for text in (step, *told):
        digest.update(b"%d\0" % len(data := text.encode("utf-8", "surrogateescape")) + data)
    for name, recipe in sorted(inputs):
        digest.update(b"%d\0" % len(data := name.encode("utf-8", "surrogateescape")) + data)
        digest.update(recipe)
    return digest.digest()


def _key(name: str) -> int:
    return xxhash.xxh3_64_intdigest(name.encode("utf-8", "surrogateescape"))


def as_stored(recipes: dict[str, Recipe]) -> bytes:
    """Encode recipes by file name, relative to results."""
    entries = sorted((_key(name), recipe) for name, recipe in recipes.items())
    keys = array("Q", (key for key, _ in entries))
    settings = array("Q", (recipe.settings for _, recipe in entries))
    digests = b"".join(recipe.digest for _, recipe in entries)
    content = _HEADER.pack(MAGIC, len(entries)) + keys.tobytes() + settings.tobytes() + digests
    return content + _ONE.pack(xxhash.xxh3_64_intdigest(content))


class Recipes:
    """The recipes of all files of a run."""

    def __init__(self, stored: bytes) -> None:
        """stored: from `as_stored`; ValueError if it is damaged."""
        content, end = stored[: -_ONE.size], stored[-_ONE.size :]
        if content[:8] != MAGIC or end != _ONE.pack(xxhash.xxh3_64_intdigest(content)):
            raise ValueError("its content differs from what the run wrote before its first job")
        _, count = _HEADER.unpack_from(content)
        at, size = _HEADER.size, 8 * count
        self._keys = array("Q", content[at : at + size])
        self._settings = array("Q", content[at + size : at + 2 * size])
        self._digests = content[at + 2 * size :]

    @classmethod
    def load(cls, path: Path) -> "Recipes":
        """Load recipes; ValueError if the file is missing or damaged."""
        try:
            return cls(path.read_bytes())
        except FileNotFoundError:
            fault = "the file is missing, although a run writes it before its first job"
        except ValueError as error:
            fault = str(error)
        raise ValueError(f"{path}: {fault}. Run again.")

    def of(self, name: str) -> Recipe | None:
        """Return the recipe of a file or of the folder that it is made in; None if there is
        none."""
        while name:
            key = _key(name)
            place = bisect_left(self._keys, key)
            if place < len(self._keys) and self._keys[place] == key:
                at = place * RECIPE_BYTES
                return Recipe(self._settings[place], self._digests[at : at + RECIPE_BYTES])
            name = name.rpartition("/")[0]
        return None


_followed: Recipes | None = None


@contextlib.contextmanager
def following(recipes: Recipes | None) -> Iterator[None]:
    """Check the recipes of files read in this block, and record those of files written."""
    global _followed
    before, _followed = _followed, recipes
    try:
        yield
    finally:
        _followed = before


def followed(name: str) -> Digest | None:
    """Return the recipe that a file must have; None if any will do."""
    recipe = _followed and _followed.of(name)
    return recipe.digest if recipe else None
