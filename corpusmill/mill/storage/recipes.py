"""What each file of a run is made from, as a digest: settings, code and inputs of its job, and of
the jobs that made these inputs.

A run writes the recipes of all its files down before its first job. A job writes into the sums of a
file by which recipe it was made, and refuses a file that was made by another one.
"""

import contextlib
import hashlib
import struct
import sys
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
    """A digest of what the job is told, to know it by."""
    digest: Digest
    """Another one when anything is that its files follow from."""


def settings_digest(settings: str) -> int:
    return xxhash.xxh3_64_intdigest(settings.strip().encode("utf-8", "surrogateescape"))


def recipe_of(step: str, told: list[str], inputs: Iterable[tuple[str, Digest]]) -> Digest:
    """told: all that the job is told. inputs: name and recipe of each file that it waits for."""
    digest = hashlib.blake2b(digest_size=RECIPE_BYTES)
    for text in (step, *told):
        digest.update(b"%d\0" % len(data := text.encode("utf-8", "surrogateescape")) + data)
    for name, recipe in sorted(inputs):
        digest.update(b"%d\0" % len(data := name.encode("utf-8", "surrogateescape")) + data)
        digest.update(recipe)
    return digest.digest()


def _key(name: str) -> int:
    return xxhash.xxh3_64_intdigest(name.encode("utf-8", "surrogateescape"))


def _stored(numbers: array) -> bytes:
    if sys.byteorder == "big":
        numbers = array("Q", numbers)
        numbers.byteswap()
    return numbers.tobytes()


def as_stored(recipes: dict[str, Recipe]) -> bytes:
    """recipes: by the name of every file, its place below results."""
    entries = sorted((_key(name), recipe) for name, recipe in recipes.items())
    keys = array("Q", (key for key, _ in entries))
    settings = array("Q", (recipe.settings for _, recipe in entries))
    digests = b"".join(recipe.digest for _, recipe in entries)
    content = _HEADER.pack(MAGIC, len(entries)) + _stored(keys) + _stored(settings) + digests
    return content + _ONE.pack(xxhash.xxh3_64_intdigest(content))


class Recipes:
    """The recipes of all files of a run."""

    def __init__(self, stored: bytes) -> None:
        """ValueError if it is not what a run wrote."""
        content, end = stored[: -_ONE.size], stored[-_ONE.size :]
        if content[:8] != MAGIC or end != _ONE.pack(xxhash.xxh3_64_intdigest(content)):
            raise ValueError("not what the run wrote before its first job")
        _, count = _HEADER.unpack_from(content)
        at, size = _HEADER.size, 8 * count
        self._keys = array("Q", content[at : at + size])
        self._settings = array("Q", content[at + size : at + 2 * size])
        self._digests = content[at + 2 * size :]
        if sys.byteorder == "big":
            self._keys.byteswap()
            self._settings.byteswap()

    @classmethod
    def load(cls, path: Path) -> "Recipes":
        """ValueError if the file is not there or not what a run wrote."""
        try:
            return cls(path.read_bytes())
        except FileNotFoundError:
            fault = "gone, which a run writes before its first job"
        except ValueError as error:
            fault = str(error)
        raise ValueError(f"{path}: {fault}. Run again.")

    def of(self, name: str) -> Recipe | None:
        """The recipe of a file, or of the folder that it is made in; None if the run makes none of
        that name."""
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
    """While this lasts, files are written by these recipes, and those that are read have to be."""
    global _followed
    before, _followed = _followed, recipes
    try:
        yield
    finally:
        _followed = before


def followed(name: str) -> Digest | None:
    """By which recipe a file has to be made; None if nobody says so."""
    recipe = _followed and _followed.of(name)
    return recipe.digest if recipe else None
