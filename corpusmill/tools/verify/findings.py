"""The findings: damage, and what could not be checked. Neither stops the checks."""

import threading
from collections.abc import Iterator
from typing import NamedTuple

from corpusmill.messages.plain_text import short
from corpusmill.tools.verify.kinds import LOCAL, Advice, rule_of

WHOLE, DAMAGED, NOT_SEEN = 0, 1, 2
"""Exit codes."""


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
    """Findings, collected by several threads."""

    def __init__(self, advice: Advice = LOCAL) -> None:
        self.damages: list[Damage] = []
        self.not_seen: list[NotSeen] = []
        self._advice = advice
        self._lock = threading.Lock()

    def damage(self, name: str, what: str) -> None:
        name, what = short(name), short(what)
        self.add(Damage(name, what, short(self._advice.damaged(name))))

    def foreign(self, name: str) -> None:
        what = (
            "the manifest does not list it, and programs that read the whole folder would take it "
            "for the corpus"
        )
        self.add(Damage(name, what, self._advice.foreign(name)))

    def changed_input(self, path: str, what: str) -> None:
        self.add(Damage(path, what, "restore the file that was milled, or run again"))

    def not_made(self, what: str, error: BaseException, files: list[str]) -> None:
        """Report what cannot be made again, because these files have changed."""
        said = f"cannot be rebuilt from {', '.join(files)}: {error or type(error).__name__}"
        self.add(Damage(what, said, "look at these files: corpusmill verify --deep"))

    def add(self, damage: Damage) -> None:
        with self._lock:
            self.damages.append(damage)

    def unseen(self, what: str, why: str, by_design: bool = False) -> None:
        with self._lock:
            self.not_seen.append(NotSeen(what, short(why), by_design))

    def damaged(self, *names: str) -> bool:
        """Say whether one of these files is known to be damaged."""
        known = {damage.name for damage in self.damages}
        return not known.isdisjoint(names)

    def in_words(self, not_seen: str) -> Iterator[str]:
        """Yield the lines for the terminal. not_seen: begins the line of what was not checked."""
        for damage in self.damages:
            yield f"{damage.name}: {damage.what}"
            yield f"  {damage.way_out}"
        for one in self.not_seen:
            yield f"{not_seen}: {one.what}: {one.why}"

    @property
    def code(self) -> int:
        if self.damages:
            return DAMAGED
        return NOT_SEEN if any(not one.by_design for one in self.not_seen) else WHOLE
