"""The findings: damage, and what could not be checked. Neither stops the checks."""

import threading
from collections.abc import Iterator
from typing import NamedTuple

from corpusmill.messages.plain_text import short
from corpusmill.tools.verify.kinds import LOCAL, Advice, rule_of

WHOLE, DAMAGED, NOT_SEEN = 0, 1, 2
"""Exit codes."""
MOST_LISTED = 10_000
"""Maximum number of findings to list of each kind. Further findings are only counted."""


class NoCorpusError(ValueError):
    """The place has nothing to check."""


class UnreachableError(Exception):
    """A file cannot be read from here, although it may be intact."""


class Damage(NamedTuple):
    """A file, named below the results, that has changed or contradicts another."""

    name: str
    what: str
    way_out: str

    def as_json(self) -> dict[str, str | None]:
        return {
            "path": self.name, "what": self.what, "rule": rule_of(self.name),
            "way_out": self.way_out,
        }  # fmt: skip


class NotSeen(NamedTuple):
    """Something that was not checked, and why. by_design: it never is, which is no fault."""

    what: str
    why: str
    by_design: bool = False


class Findings:
    """Findings, collected by several threads. Memory holds the first of each kind and all names."""

    def __init__(self, advice: Advice = LOCAL) -> None:
        self.damages: list[Damage] = []
        self.not_seen: list[NotSeen] = []
        self.unlisted = 0
        """Further findings, which the lists leave out."""
        self._damaged: set[str] = set()
        self._unseen: set[str] = set()
        self._by_design = True
        self._advice = advice
        self._lock = threading.Lock()

    def damage(self, name: str, what: str) -> None:
        name, what = short(name), short(what)
        self.add(Damage(name, what, short(self._advice.damaged(name))))

    def foreign(self, name: str) -> None:
        what = (
            "the manifest does not list this file, and programs that read the whole folder would "
            "read the file as part of the corpus"
        )
        self.add(Damage(name, what, self._advice.foreign(name)))

    def changed_input(self, path: str, what: str) -> None:
        self.add(Damage(path, what, "restore the file that the run read, or run again"))

    def not_made(self, what: str, error: BaseException, files: list[str]) -> None:
        """Report what cannot be made again, because these files have changed."""
        said = f"cannot be rebuilt from {', '.join(files)}: {error or type(error).__name__}"
        self.add(Damage(what, said, "examine these files: corpusmill verify --deep"))

    def add(self, damage: Damage) -> None:
        with self._lock:
            self._damaged.add(damage.name)
            self._list(self.damages, damage)

    def unseen(self, what: str, why: str, by_design: bool = False) -> None:
        with self._lock:
            self._unseen.add(what)
            self._by_design = self._by_design and by_design
            self._list(self.not_seen, NotSeen(what, short(why), by_design))

    def join(self, others: "Findings", way_out: str) -> None:
        """Add the findings about an export, whose damage has its own way out."""
        for damage in others.damages:
            self.add(damage._replace(way_out=way_out))
        for one in others.not_seen:
            self.unseen(*one)
        with self._lock:
            self._damaged |= others._damaged
            self._unseen |= others._unseen
            self.unlisted += others.unlisted

    def _list(self, listed: list, finding: Damage | NotSeen) -> None:
        if len(listed) < MOST_LISTED:
            listed.append(finding)
        else:
            self.unlisted += 1

    def damaged(self, *names: str) -> bool:
        """Say whether one of these files is known to be damaged."""
        return not self._damaged.isdisjoint(names)

    def is_unseen(self, name: str) -> bool:
        """Say whether a file could not be checked."""
        return name in self._unseen

    @property
    def damaged_files(self) -> int:
        return len(self._damaged)

    def in_words(self, not_seen: str) -> Iterator[str]:
        """Yield the lines for the terminal. not_seen: begins the line of what was not checked."""
        for damage in self.damages:
            yield f"{damage.name}: {damage.what}"
            yield f"  {damage.way_out}"
        for one in self.not_seen:
            yield f"{not_seen}: {one.what}: {one.why}"
        if self.unlisted:
            yield f"and {self.unlisted:,} more, which are left out here"

    @property
    def code(self) -> int:
        if self.damages:
            return DAMAGED
        return WHOLE if self._by_design else NOT_SEEN
