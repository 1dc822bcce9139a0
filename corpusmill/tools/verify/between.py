"""Checks figures in intermediate files that still exist against the ledger.

No manifest lists these files: users may remove them. If they contradict the ledger, they are from
another run, and the next run must not continue from them.
"""

import posixpath
from collections import Counter
from typing import Any

from corpusmill.mill.decide.fates import DUPLICATE, FATES, MALFORMED, uncompared_fates
from corpusmill.reader.stores import MissingError
from corpusmill.tools.verify.findings import Damage, UnreachableError
from corpusmill.tools.verify.reading import UNLIKE, Corpus

Account = dict[str, Counter[str]]
"""For each source, the numbers of documents and bytes, in total and by fate."""
FOLDERS = ("", "text", "filter", "assign", "ledger")
MOST_TOLD = 5
"""Maximum number of contradictions reported per file."""
WAY_OUT = "remove it; a run that needs it rebuilds it"


class Between:
    """The intermediate files that still exist; none if the place cannot list files."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._there: set[str] = set()
        for folder in FOLDERS:
            try:
                names = corpus.place.names(folder) or []
            except UnreachableError as error:
                corpus.findings.unseen(folder or "the results", str(error))
            else:
                self._there |= {posixpath.join(folder, base) for base in names}

    def hold_part(self, number: str, account: Account) -> None:
        """Check the figures of a part against its ledger."""
        self._hold(f"text/{number}.json", _read(account), "by_source")
        self._hold(f"filter/{number}.json", _filtered(account), "by_source")
        self._hold(f"assign/{number}.json", _compared(account), "by_source")
        self._hold(f"ledger/{number}.json", account)

    def hold_whole(self, account: Account) -> None:
        """Check the figures of all parts together."""
        self._hold("admitted.json", _read(account))
        self._hold("allowed.json", _filtered(account))
        self._hold("duplicates.json", _compared(account), "sources")

    def _hold(self, name: str, found: dict[str, Any], member: str = "") -> None:
        """Report where a file contradicts the counted numbers of the sources."""
        if name not in self._there:
            return
        try:
            content = self._corpus.json(name)
            figures = {figure for of_source in found.values() for figure in of_source}
            told = {
                source: {figure: of_source[figure] for figure in sorted(figures & of_source.keys())}
                for source, of_source in (content[member] if member else content).items()
            }
        except (*UNLIKE, MissingError, UnreachableError) as error:
            self._tell(name, f"cannot be read: {type(error).__name__}: {error}")
            return
        if faults := contradictions(told, found):
            self._tell(name, f"from another run than the ledger: {faults}")

    def _tell(self, name: str, fault: str) -> None:
        self._corpus.findings.add(Damage(name, fault, WAY_OUT))


def _read(account: Account) -> dict[str, dict]:
    return {
        source: {
            "records": figures["documents"],
            MALFORMED: figures[MALFORMED],
            "text_bytes": figures["text_bytes"],
        }
        for source, figures in account.items()
    }


def _filters(figures: Counter[str]) -> dict[str, int]:
    """Return how many documents each filter dropped: the fates whose bytes are in the account."""
    fates = [name.removesuffix("_bytes") for name in figures if name.endswith("_bytes")]
    return {fate: figures[fate] for fate in fates if fate not in FATES and fate in figures}


def _filtered(account: Account) -> dict[str, dict]:
    return {
        source: {
            "documents": figures["documents"] - figures[MALFORMED],
            "dropped": _filters(figures),
        }
        for source, figures in account.items()
    }


def _compared(account: Account) -> dict[str, dict]:
    return {
        source: {
            "documents": figures["documents"]
            - sum(figures[fate] for fate in uncompared_fates(list(_filters(figures)))),
            "duplicates": figures[DUPLICATE],
        }
        for source, figures in account.items()
    }


def contradictions(told: Any, found: Any) -> str:
    """Describe the first differences of stated numbers from the counted ones; "" if equal."""
    faults = differences(told, found)
    more = f", and {len(faults) - MOST_TOLD} more" if len(faults) > MOST_TOLD else ""
    return "; ".join(faults[:MOST_TOLD]) + more


def differences(told: Any, found: Any, path: str = "") -> list[str]:
    """Describe where stated numbers differ from the counted ones."""
    if isinstance(told, dict):
        found = found if isinstance(found, dict) else {}
        names = [*told, *(name for name in found if name not in told)]
        return [
            fault
            for name in names
            for fault in differences(
                told.get(name, 0), found.get(name, 0), f"{path}.{name}" if path else str(name)
            )
        ]
    if isinstance(found, dict):
        return [fault for name in found for fault in differences(0, found[name], f"{path}.{name}")]
    return [] if told == found else [f"{path} is {told}, found {found}"]
