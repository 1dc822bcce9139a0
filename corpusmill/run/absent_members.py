"""Find record members that are used but that no first record has, most likely a misspelt name.

Filters, dedup.within and mixtures use members. Without this check, a block list with a wrong name
matches nothing and the run still succeeds. The same holds for the URLs of crawled sources. Runs in
its own process while a run starts.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from corpusmill.messages.near_names import meant
from corpusmill.mill.filters.configured import ConfiguredFilter, configured
from corpusmill.mill.filters.documents import member_at
from corpusmill.mill.read.first_records import Asked, first_records
from corpusmill.mill.read.json_records import raw_members
from corpusmill.mill.read.plugins import serve_another
from corpusmill.mill.read.records import Record
from corpusmill.mill.storage.streams import READ_LIMITS, ReadLimits

MOST_FILES = 50
"""Maximum number of files to search for one member. A rare member is legitimate, so this check
never fails a run."""


class User(NamedTuple):
    """What uses members of records."""

    name: str
    members: Sequence[str]
    exempt: Sequence[str]
    """Sources whose records it does not use."""


def users_of(filters: list[ConfiguredFilter], others: list[list[Any]]) -> list[User]:
    """Return all users. others: values of `User`."""
    found = [User(f"the filter {one.name}", one.members, one.untouched) for one in filters]
    return found + [User(*one) for one in others]


def absent_members(
    users: list[User],
    files: list[Asked],
    readers: Sequence[str],
    limits: ReadLimits = READ_LIMITS,
) -> Iterator[str]:
    """Yield one note per missing member. files: of milled sources, with readable first records."""
    for user in users:
        judged = [file for file in files if file.source not in user.exempt][:MOST_FILES]
        first = next((rest for file in judged for rest in rests(file, readers, limits)), None)
        if first is None:
            continue
        for field in user.members:
            if not has_member(judged, field, readers, limits):
                yield (
                    f"{user.name} needs the member {field}, but none of the first "
                    f"records has it.{meant(field, names_in(first), cutoff=0.5)}"
                )


def absent_urls(
    crawled: dict[str, str],
    files: list[Asked],
    readers: Sequence[str],
    limits: ReadLimits = READ_LIMITS,
) -> Iterator[str]:
    """Yield one note per crawled source without URLs. crawled: source -> member with the URL."""
    for source, member in crawled.items():
        theirs = [file for file in files if file.source == source][:MOST_FILES]
        if theirs and not has_member(theirs, member, readers, limits):
            yield (
                f"the source {source} is crawled, but none of its first records has the member "
                f"{member} with the URL, so no domains would be counted. Set url_member."
            )


def has_member(files: list[Asked], field: str, readers: Sequence[str], limits: ReadLimits) -> bool:
    path = field.split(".")
    return any(
        member_at(b"{%s}" % rest, path) is not None
        for file in files
        for rest in rests(file, readers, limits)
    )


def rests(file: Asked, readers: Sequence[str], limits: ReadLimits) -> Iterator[bytes]:
    """Yield the other members of each first record, beside its text."""
    for record in first_records(file, readers, limits):
        if isinstance(record, Record):
            yield record.rest


def names_in(rest: bytes) -> list[str]:
    """Return the names of a record's members, nested ones as `object.member`."""
    names = []
    for name, member in raw_members(b"{%s}" % rest).items():
        names.append(name)
        if bytes(member).startswith(b"{"):
            names += [f"{name}.{inner}" for inner in raw_members(bytes(member))]
    return names


def main() -> None:
    """Read {"filters", "others": [User], "crawled": source -> member, "files": [Asked],
    "readers": [path], "limits": ReadLimits} from standard input; print one line per missing member
    to standard error."""
    serve_another()
    asked = json.load(sys.stdin)
    files = [Asked(*file) for file in asked["files"]]
    limits = ReadLimits(**asked["limits"])
    users = users_of(configured(asked["filters"]), asked["others"])
    notes = [
        *absent_members(users, files, asked["readers"], limits),
        *absent_urls(asked["crawled"], files, asked["readers"], limits),
    ]
    for note in notes:
        print(note, file=sys.stderr)


if __name__ == "__main__":
    main()
