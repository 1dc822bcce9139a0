"""List the input files of an entry of sources[].files.

Only regular files count. Symlinks are followed, but each real folder is visited once, so a link to
a parent folder does no harm.
"""

import contextlib
import glob
import os
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from corpusmill.messages.disk_errors import in_words
from corpusmill.mill.storage.regular_files import fault_of_kind
from corpusmill.run.addresses import advice


def folders_beneath(folder: str, skipped: list[str]) -> Iterator[tuple[str, list[os.DirEntry]]]:
    """Yield a folder and those below it, each with its visible entries sorted by name.

    Links come last, so that a folder is found by its own path if possible. skipped: collects one
    sentence per link that is not followed.
    """
    entered: dict[tuple[int, int], str] = {}
    folders, links = [folder], list[str]()
    while folders or links:
        place = folders.pop() if folders else links.pop(0)
        with _told(place):
            state = os.stat(place)
            known = entered.setdefault((state.st_dev, state.st_ino), place)
            if known != place:
                said = f"{place} is skipped: it is the folder {known}, which is already read."
                skipped.append(said)
                continue
            with os.scandir(place) as found:
                visible = (entry for entry in found if not entry.name.startswith("."))
                entries = sorted(visible, key=lambda entry: entry.name)
        for entry in reversed(entries):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
        links += [one.path for one in entries if one.is_symlink() and os.path.isdir(one.path)]
        yield place, entries


@contextlib.contextmanager
def _told(folder: str) -> Iterator[None]:
    """Turn the system's errors for a folder into a ValueError with one sentence."""
    try:
        yield
    except PermissionError as error:
        raise ValueError(
            f"{folder}: no permission to list this folder. Change its permissions, or name other "
            "folders in sources[].files."
        ) from error
    except OSError as error:
        raise ValueError(in_words(error)) from error


def files_beneath(folder: str, known: Iterable[str], skipped: list[str]) -> set[str]:
    """Return the files in and below a folder whose names end like input files.

    Raise ValueError if one is not a regular file. known: endings. skipped: as in
    `folders_beneath`.
    """
    endings = tuple(known)
    return _regular(
        entry.path
        for _, entries in folders_beneath(folder, skipped)
        for entry in entries
        if entry.name.endswith(endings) and not os.path.isdir(entry.path)
    )


def _regular(paths: Iterable[str]) -> set[str]:
    """Return the paths as a set; raise ValueError if one is not a regular file."""
    found = set(paths)
    if faults := [fault for path in sorted(found) if (fault := _fault(path))]:
        more = f" ({len(faults)} such files)" if len(faults) > 1 else ""
        raise ValueError(faults[0] + more)
    return found


def _fault(path: str) -> str | None:
    try:
        return fault_of_kind(path)
    except OSError as error:
        return in_words(error)


def files_of_pattern(
    pattern: str, generated: Container[str], known: Iterable[str], skipped: list[str]
) -> set[str]:
    """Return the input files of one entry of sources[].files; raise ValueError if none."""
    if pattern in generated:
        return {pattern}
    if os.path.isdir(pattern):
        found = files_beneath(pattern, known, skipped)
        if not found:
            raise ValueError(
                f"the folder {pattern} has no file that ends in {', '.join(known)}. Correct "
                "sources[].files, or add a reader of your own to input.readers."
            )
        return found
    found = _regular(path for path in matches(pattern, skipped) if not os.path.isdir(path))
    if not found:
        raise ValueError(f"no file matches {pattern} (from {Path.cwd()}). {advice(pattern)}")
    return found


def matches(pattern: str, skipped: list[str]) -> set[str]:
    """Return what `glob` finds with recursive=True, without following links in circles.

    skipped: as in `folders_beneath`.
    """
    parts = pattern.split("/")
    if "**" not in parts:
        return set(glob.glob(pattern))
    place = parts.index("**")
    before, after = "/".join(parts[:place]), "/".join(parts[place + 1 :]) or "*"
    bases = glob.glob(f"{before}/") if place else [""]
    found: set[str] = set()
    for base in bases:
        for folder, _ in folders_beneath(base or ".", skipped):
            inside = os.path.join(folder, "")
            found |= matches(glob.escape(inside if base else inside[2:]) + after, skipped)
    return found
