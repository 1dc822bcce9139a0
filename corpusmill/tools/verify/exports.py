"""Checks of exports: those below `exports/`, or a single one anywhere."""

import posixpath
import re
import shlex
from itertools import islice
from typing import Any, NamedTuple

from corpusmill.mill.decide.fates import STAGE_NAME
from corpusmill.mill.storage.untrusted import is_count, json_of
from corpusmill.reader.stores import MissingError
from corpusmill.run.job_progress import Phase
from corpusmill.tools.verify.files import FilesSeen, look_at_files
from corpusmill.tools.verify.findings import Damage, Findings, UnreachableError
from corpusmill.tools.verify.kinds import BEGUN_EXPORT, EXPORT, EXPORTS, LOCAL, MANIFEST
from corpusmill.tools.verify.listing import SHA256, Kept, Listing
from corpusmill.tools.verify.locations import Place, whole

VERSION = 1
MOST_FOREIGN = 100
"""Maximum number of unlisted files of an export that are named."""
TOKENS = re.compile(rf"tokens/{STAGE_NAME}")
"""Folders with the token shards of a corpus."""


class Export(NamedTuple):
    """The description of an export in its own files."""

    folder: str
    """Path below the place; "" if the place is the export."""
    format: str
    length: int | None
    manifest_sha256: str
    listing: Listing
    results: str
    """Path of its corpus's results, to use in a command."""
    at: str
    """Its own path, to use in a command."""
    here: bool = True
    """Whether it is a local folder."""
    packed: bool = False

    @property
    def command(self) -> str:
        """Return the command that makes it again."""
        length = ["--length", str(self.length)] if self.length else []
        packed = ["--packed"] if self.packed else []
        words = ["export", self.format, self.results, "--to", self.at, *length, *packed]
        return f"corpusmill {shlex.join(words)}"

    @property
    def way_out(self) -> str:
        if not self.here:
            return "copy it again from where the export was made"
        return f"copy it again; or remove {self.at} and rebuild it: {self.command}"

    def as_json(self) -> dict[str, Any]:
        files, size = len(self.listing.files), self.listing.bytes
        return {"folder": self.folder, "format": self.format, "files": files, "bytes": size}


def exports_of(place: Place, findings: Findings) -> list[Export]:
    """Return the exports of a corpus; report faults in their descriptions."""
    try:
        folders = place.folders(EXPORTS) or []
    except UnreachableError as error:
        findings.unseen(EXPORTS, str(error))
        return []
    found = (read_export(place, f"{EXPORTS}/{name}", findings) for name in folders)
    return [one for one in found if one]


def export_alone(place: Place, findings: Findings) -> Export | None:
    """Return the export at a place; None if it is not an export."""
    try:
        whole(place, EXPORT)
    except (MissingError, UnreachableError, OSError):
        return None
    nobody_knows = Export("", "", None, "", Listing({}, {}, "", 0), "", "")
    return read_export(place, "", findings) or nobody_knows


def read_export(place: Place, folder: str, findings: Findings) -> Export | None:
    """Read the description of an export; None if it is unusable, which is reported."""
    name = posixpath.join(folder, EXPORT)
    try:
        return told_export(place, folder, json_of(whole(place, name), place.where(name)))
    except MissingError:
        if BEGUN_EXPORT in (place.names(folder) or []):
            what, way = "it was begun and is not finished", "run the command of this export again"
        else:
            what = f"there is no {EXPORT}, so it cannot be identified"
            way = f"move {folder} out of the results, or remove it and export again"
        findings.add(Damage(folder, what, way))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        way = f"copy it again; or remove {folder or 'this folder'} and export again"
        said = f"is not the description of an export: {type(error).__name__}: {error}"
        findings.add(Damage(name, said, way))
    except (UnreachableError, OSError) as error:
        findings.unseen(name, str(error))
    return None


def told_export(place: Place, folder: str, content: Any) -> Export:
    """Parse the description. Raise ValueError, KeyError or TypeError if it is malformed."""
    if content["corpusmill.export"] != VERSION:
        raise ValueError(f"version {content['corpusmill.export']}, expected {VERSION}")
    files = {}
    for entry in content["files"]:
        path, size, sha256 = entry["path"], entry["bytes"], entry["sha256"]
        inside = path.isprintable() and "\\" not in path
        if not inside or not {"", ".", ".."}.isdisjoint(path.split("/")):
            raise ValueError(f"the path {path!r} leads out of the folder; it is not followed")
        if not is_count(size) or not SHA256.fullmatch(sha256):
            raise ValueError(f"{path} has no valid size or SHA-256")
        kept = Kept(posixpath.join(folder, path), size, sha256, None, None)
        files[kept.name] = kept
    name, length, origin = content["format"], content["length"], content["manifest_sha256"]
    if not re.fullmatch("[a-z0-9-]{1,40}", name) or not SHA256.fullmatch(origin):
        raise ValueError(f"format {name:.40} of the corpus {origin:.80}")
    if not (length is None or is_count(length)):
        raise ValueError("the length is not a number")
    listing = Listing(files, content, "", sum(file.bytes for file in files.values()))
    results = posixpath.dirname(place.where(MANIFEST)) if folder else "RESULTS"
    at = posixpath.dirname(place.where(posixpath.join(folder, EXPORT)))
    packed = content.get("rows") == "packed"
    here = place.advice is LOCAL
    return Export(folder, name, length, origin, listing, results, at, here, packed)


def look_at_export(place: Place, export: Export, findings: Findings, progress: Phase) -> None:
    """Report every file that is missing, changed or not listed."""
    own = Findings()
    progress.name = f"verifying {export.at}"
    look_at_files(place, export.listing, own, FilesSeen(progress, len(export.listing.files), own))
    findings.join(own, export.way_out)
    known = {*export.listing.files, posixpath.join(export.folder, EXPORT)}
    foreign = (
        name
        for name in place.below(export.folder, findings.unseen) or []
        # Hidden ones are intermediate files or of other software.
        if name not in known and "/." not in f"/{name.removeprefix(export.folder)}"
    )
    # Links are not followed: they may lead anywhere on the machine.
    for name in islice(foreign, MOST_FOREIGN):
        what = (
            f"{EXPORT} does not list this file, and programs that read the whole folder would read "
            "the file as data"
        )
        findings.add(Damage(name, what, f"move {name} out of the export"))
    if more := next(foreign, None):
        what = f"more than {MOST_FOREIGN} files that {EXPORT} does not list; no more are named"
        findings.add(Damage(more, what, f"move all that is not listed out of {export.at}"))


def hold_origin(corpus: Listing, export: Export, findings: Findings) -> None:
    """Report if it was made from another corpus than the one around it."""
    own = corpus.sha256
    if export.manifest_sha256 != own and not findings.damaged(MANIFEST):
        told = f"from another corpus: its manifest is {export.manifest_sha256}, not {own}"
        name = posixpath.join(export.folder, EXPORT)
        findings.add(Damage(name, told, export.way_out))


def hold_tokens(corpus: Listing, export: Export, findings: Findings) -> None:
    """Compare tokens by checksum if the export has the corpus's files under other names. Report
    that tokens of other formats cannot be compared."""
    shards = {
        file.sha256
        for name, file in corpus.files.items()
        if name.endswith(".bin") and TOKENS.fullmatch(posixpath.dirname(name)) and file.bytes
    }
    if not shards <= {file.sha256 for file in export.listing.files.values()}:
        findings.unseen(
            f"whether the ids of {export.folder} are those of the corpus",
            "the export has its own copies of them, in another form. Rebuild it elsewhere, "
            f"and compare both {EXPORT} : {export.command}",
            by_design=True,
        )
