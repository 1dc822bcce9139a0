"""The manifest as a list of files below a folder; nothing in it leads out of that."""

import hashlib
import json
import re
from typing import Any, NamedTuple

from corpusmill.storage.files import as_json
from corpusmill.storage.sentences import sentence
from corpusmill.stream.stores import MissingError
from corpusmill.verification.findings import Findings, NoCorpusError, UnreachableError
from corpusmill.verification.kinds import MANIFEST
from corpusmill.verification.places import Place, whole

VERSION = 1
SHA256 = re.compile("[0-9a-f]{64}")


class Kept(NamedTuple):
    """A file as the manifest lists it."""

    name: str
    bytes: int
    sha256: str
    documents: int | None
    tokens: int | None


class Listing(NamedTuple):
    """A manifest."""

    files: dict[str, Kept]
    content: dict[str, Any]
    sha256: str
    bytes: int
    """Of all files together."""


def read_listing(place: Place, findings: Findings) -> Listing:
    """What is listed, as far as it can be believed; what is wrong with it is told. NoCorpusError
    without a manifest, or with one of a version that is not known here."""
    text = manifest_text(place)
    content = parsed(text)
    if content is None:
        findings.damage(MANIFEST, "no JSON object with a list of files: cut off or overwritten")
        return Listing({}, {}, "", 0)
    version = content.get("corpusmill.manifest", "none")
    if version != VERSION:
        raise NoCorpusError(
            f"{place.where(MANIFEST)}: expected manifest version {VERSION}, found {version}. Look "
            "at it with the corpusmill that wrote it, or name the results folder of a run."
        )
    own = own_digest(content)
    if content.get("sha256") != own:
        told = f"its own SHA-256 says {content.get('sha256')}, its content has {own}"
        findings.damage(MANIFEST, f"{told}: it was changed after it was written")
    elif as_json(content) != text:
        findings.damage(MANIFEST, "laid out otherwise than it was written: it was changed")
    files: dict[str, Kept] = {}
    for number, entry in enumerate(content["files"]):
        kept = kept_of(entry)
        if isinstance(kept, str):
            findings.damage(MANIFEST, f"entry {number} of files: {kept}")
        elif kept.name in files:
            findings.damage(MANIFEST, f"{kept.name} is listed twice")
        else:
            files[kept.name] = kept
    if not files:
        findings.damage(MANIFEST, "no file is listed, and a run keeps some")
    return Listing(files, content, own, sum(file.bytes for file in files.values()))


def manifest_text(place: Place) -> str:
    try:
        return whole(place, MANIFEST).decode("utf-8", "replace")
    except MissingError:
        raise NoCorpusError(
            f"there is no {place.where(MANIFEST)}, which a finished run ends with. Name the "
            "results folder of a run, or finish it: corpusmill run"
        ) from None
    except (UnreachableError, OSError) as error:
        why = "Without the manifest there is nothing to hold on to."
        raise NoCorpusError(f"{sentence(str(error))} {why}") from error


def parsed(text: str) -> dict[str, Any] | None:
    """None of what is no JSON object with a list of files."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    good = isinstance(found, dict) and isinstance(found.get("files"), list)
    # Of a foreign version nothing more is expected.
    return found if good or (isinstance(found, dict) and "corpusmill.manifest" in found
                             and found["corpusmill.manifest"] != VERSION) else None  # fmt: skip


def own_digest(content: dict[str, Any]) -> str:
    """Of a manifest without its member `sha256`, as the rule manifest takes it."""
    chain = {name: value for name, value in content.items() if name != "sha256"}
    return hashlib.sha256(as_json(chain).encode("utf-8", "surrogatepass")).hexdigest()


def kept_of(entry: Any) -> Kept | str:
    """An entry of the list; what is wrong with it, in words."""
    if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
        return "no path"
    name = name_below_results(entry["path"])
    if name is None:
        return f"the path {entry['path']!r} leads out of the results folder; it is not followed"
    numbers = entry.get("bytes"), entry.get("documents", 0), entry.get("tokens", 0)
    if any(type(number) is not int or number < 0 for number in numbers):
        return f"{name}: bytes, documents or tokens are no whole numbers"
    if not SHA256.fullmatch(str(entry.get("sha256"))):
        return f"{name}: no SHA-256"
    return Kept(name, entry["bytes"], entry["sha256"], entry.get("documents"), entry.get("tokens"))


def name_below_results(path: str) -> str | None:
    """The name of a file below the results folder, however a workflow calls that; None if the path
    could lead out of it."""
    parts = path.split("/")
    if "results" not in parts:
        return None
    inside = parts[len(parts) - parts[::-1].index("results") :]
    usual = all(part not in ("", ".", "..") and "\\" not in part for part in inside)
    return "/".join(inside) if inside and usual and path.isprintable() else None
