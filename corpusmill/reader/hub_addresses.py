"""`hf://org/name`, its server, and the token for it."""

import os
import re
from pathlib import Path
from typing import NamedTuple

from corpusmill.reader.s3.addresses import check_version
from corpusmill.reader.s3.credentials import is_plain

SCHEME = "hf://"
DATASETS = "datasets/"
"""Prefix that other programs write before the name of a dataset."""
SERVER = "https://huggingface.co"
BRANCH = "main"
WORD = re.compile(r"(?!.*(--|\.\.))[A-Za-z0-9_]([A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")


class HubAddress(NamedTuple):
    """A dataset repository `org/name`. version: a tag or a commit; None: the main branch."""

    repository: str
    version: str | None

    def __str__(self) -> str:
        return f"{SCHEME}{self.repository}" + (f"@{self.version}" if self.version else "")


def is_hub(address: object) -> bool:
    return isinstance(address, str) and address.startswith(SCHEME)


def parsed_hub(address: str) -> HubAddress:
    """Parse `hf://org/name` or `...@version`. Raise ValueError for anything else."""
    place = address.removeprefix(SCHEME).removesuffix("/manifest.json").rstrip("/")
    repository, at, version = place.removeprefix(DATASETS).partition("@")
    words = repository.split("/")
    if not is_hub(address) or len(words) != 2 or not all(map(WORD.fullmatch, words)):
        raise ValueError(
            f"{address!r}: expected {SCHEME}org/name or {SCHEME}org/name@version. org and name "
            "consist of A-Z, a-z, 0-9, dot, hyphen and underscore. Dots and hyphens cannot come "
            "first, last or twice in a row."
        )
    if at:
        check_version(version)
    return HubAddress(repository, version or None)


def server() -> str:
    return (os.environ.get("HF_ENDPOINT") or SERVER).rstrip("/")


def token() -> str | None:
    """Return the token from the places that huggingface_hub uses: the environment, or the file
    written by `hf auth login`. It is looked up for every request, so it can be renewed during
    training."""
    found = _written()
    if found and not is_plain(found):
        # Not repeated: Python would quote it in the error about the header.
        raise ValueError(
            "the token of the Hugging Face hub: expected ASCII letters, digits and signs, without "
            "spaces and line breaks, found something else. Correct HF_TOKEN, or log in: hf auth "
            "login"
        )
    return found


def _written() -> str | None:
    environment = os.environ
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        if found := environment.get(name, "").strip():
            return found
    caches = Path(environment.get("XDG_CACHE_HOME") or "~/.cache")
    home = Path(environment.get("HF_HOME") or caches / "huggingface")
    path = Path(environment.get("HF_TOKEN_PATH") or home / "token")
    try:
        return Path(os.path.expandvars(path.expanduser())).read_text().strip() or None
    except FileNotFoundError:
        return None


def bearer() -> dict[str, str]:
    found = token()
    return {"Authorization": f"Bearer {found}"} if found else {}
