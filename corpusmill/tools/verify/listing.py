"""The manifest as a list of files below a folder. No entry leads out of it."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from corpusmill.messages.sentences import sentence
from corpusmill.mill.storage.files import as_json, own_digest
from corpusmill.mill.storage.untrusted import is_count, json_of
from corpusmill.reader.manifest import broken_seal
from corpusmill.reader.stores import MissingError
from corpusmill.tools.verify.findings import Findings, NoCorpusError, UnreachableError
from corpusmill.tools.verify.kinds import MANIFEST
from corpusmill.tools.verify.locations import Place, whole

VERSION = 1
LONGEST_PATH = 4096
"""Maximum length of a path, in characters. No system allows longer paths."""
SHA256 = re.compile("[0-9a-f]{64}")
NUMBERED = re.compile(r"(.+)/(\d{5})(\.[^/]+)", re.ASCII)


class Kept(NamedTuple):
    """A file as listed in the manifest."""

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
    """Total bytes of the files."""


def read_listing(place: Place, findings: Findings) -> Listing:
    """Return the valid entries and report the others. Raise NoCorpusError if there is no manifest
    or its version is unknown."""
    data = manifest_bytes(place)
    text = data.decode("utf-8", "replace")
    content = parsed(text)
    if content is None:
        what = "it is not a JSON object with a list of files: cut off or overwritten"
        findings.damage(MANIFEST, what)
        return Listing({}, {}, "", 0)
    version = content.get("corpusmill.manifest", "none")
    if version != VERSION:
        raise NoCorpusError(
            f"{place.where(MANIFEST)}: expected manifest version {VERSION}, found {version!r:.40}. "
            "Verify it with the version of corpusmill that wrote it, or name the results folder of "
            "a run."
        )
    if told := broken_seal(data):
        findings.damage(MANIFEST, told)
    elif as_json(content) != text:
        findings.damage(MANIFEST, "its layout differs from what was written: it was changed")
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
        findings.damage(MANIFEST, "no file is listed, but every run keeps some")
    for missing in gaps(files):
        findings.damage(MANIFEST, f"{missing} is not listed, but files with higher numbers are")
    return Listing(files, content, own_digest(content), sum(file.bytes for file in files.values()))


def gaps(names: Iterable[str]) -> Iterator[str]:
    """Yield the first missing file of each folder with files numbered from 00000."""
    numbers: dict[tuple[str, str], set[str]] = {}
    for name in names:
        if numbered := NUMBERED.fullmatch(name):
            folder, number, ending = numbered.groups()
            numbers.setdefault((folder, ending), set()).add(number)
    for (folder, ending), found in sorted(numbers.items()):
        missing = next(n for n in range(len(found) + 1) if f"{n:05d}" not in found)
        if missing < len(found):
            yield f"{folder}/{missing:05d}{ending}"


def manifest_bytes(place: Place) -> bytes:
    try:
        return whole(place, MANIFEST)
    except MissingError:
        raise NoCorpusError(
            f"there is no {place.where(MANIFEST)}, which a finished run writes last. "
            f"{place.advice.no_manifest}"
        ) from None
    except (UnreachableError, OSError, ValueError) as error:
        why = "Without the manifest nothing can be verified."
        raise NoCorpusError(f"{sentence(str(error))} {why}") from error


def parsed(text: str) -> dict[str, Any] | None:
    """Parse a manifest; None if it is not a JSON object with a list of files."""
    try:
        found = json_of(text, MANIFEST)
    except ValueError:
        return None
    good = isinstance(found, dict) and isinstance(found.get("files"), list)
    # Nothing more is expected of an unknown version.
    return found if good or (isinstance(found, dict) and "corpusmill.manifest" in found
                             and found["corpusmill.manifest"] != VERSION) else None  # fmt: skip


def kept_of(entry: Any) -> Kept | str:
    """Return an entry of the list, or what is wrong with it."""
    if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
        return "no path"
    if len(entry["path"]) > LONGEST_PATH:
        return f"a path of {len(entry['path']):,} characters"
    name = name_below_results(entry["path"])
    if name is None:
        return f"the path {entry['path']!r} leads out of the results folder; it is not followed"
    numbers = entry.get("bytes"), entry.get("documents", 0), entry.get("tokens", 0)
    if not all(map(is_count, numbers)):
        return f"{name}: bytes, documents or tokens are not whole numbers"
    if not SHA256.fullmatch(str(entry.get("sha256"))):
        return f"{name}: no SHA-256"
    return Kept(name, entry["bytes"], entry["sha256"], entry.get("documents"), entry.get("tokens"))


def name_below_results(path: str) -> str | None:
    """Return the name of a file below the results folder, whatever its prefix; None if the path
    could lead out of it."""
    parts = path.split("/")
    if "results" not in parts:
        return None
    inside = parts[len(parts) - parts[::-1].index("results") :]
    usual = all(part not in ("", ".", "..") and "\\" not in part for part in inside)
    return "/".join(inside) if inside and usual and path.isprintable() else None
