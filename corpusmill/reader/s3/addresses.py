"""`s3://bucket/name`, with an optional version."""

import re
from typing import NamedTuple

SCHEME = "s3://"
BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
# Characters that need no escapes in keys, URLs, signatures, shells and folders.
WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
OUR_WORDS = {"versions", "latest"}


class Address(NamedTuple):
    """A corpus in a bucket. version: None is the latest."""

    bucket: str
    name: str
    version: str | None

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.name}" + (f"@{self.version}" if self.version else "")


def is_s3(address: object) -> bool:
    return isinstance(address, str) and address.startswith(SCHEME)


def parsed(address: str) -> Address:
    """Parse `s3://bucket/name`, `...@version` or `.../versions/version`. Raise ValueError for
    anything else."""
    place = address.removeprefix(SCHEME).removesuffix("/manifest.json").rstrip("/")
    bucket, _, path = place.partition("/")
    name, _, version = path.partition("@")
    if not version and (found := re.fullmatch("(.+)/versions/([^/]+)", name)):
        name, version = found[1], found[2]
    words = name.split("/")
    if not is_s3(address) or not BUCKET.fullmatch(bucket) or not all(map(is_word, words)):
        raise ValueError(
            f"{address!r}: expected {SCHEME}bucket/name. bucket has 3 to 63 characters: a-z, 0-9, "
            "dot, hyphen. name consists of A-Z, a-z, 0-9, dot, hyphen, underscore and "
            "slash, begins with a letter or digit, and is neither versions nor latest."
        )
    if "@" in path:
        check_version(version)
    return Address(bucket, name, version or None)


def is_word(word: str) -> bool:
    return bool(WORD.fullmatch(word)) and word not in OUR_WORDS


def check_version(version: str) -> None:
    if not WORD.fullmatch(version):
        raise ValueError(
            f"version {version!r}: expected 1 to 64 characters: A-Z, a-z, 0-9, dot, hyphen and "
            "underscore, a letter or digit first. Choose another name."
        )
