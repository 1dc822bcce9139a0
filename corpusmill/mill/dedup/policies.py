"""Which documents are compared with which others: by their sources and by a record member."""

import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpusmill.mill.decide.fate_columns import FateColumn
from corpusmill.mill.decide.mixture import member_column
from corpusmill.mill.dedup.order import Ranked
from corpusmill.mill.dedup.policy_names import EXACT, NONE
from corpusmill.mill.storage.tables import load_column, load_labels


class Comparing(NamedTuple):
    """The settings: config dedup.candidates and dedup.within, and `duplicates` of each source."""

    candidates: str
    within: str | None
    policies: dict[str, str]

    @property
    def any_exact(self) -> bool:
        return EXACT in self.policies.values()


class Compared(NamedTuple):
    """The documents of a part that are compared."""

    kept: np.ndarray  # bool (documents,): whether the filters keep it
    near: np.ndarray  # bool (documents,): with similar texts
    exact: np.ndarray  # bool (documents,): only with equal texts
    salts: np.ndarray | None  # uint64 (documents,); None if all are compared with all


def compared_of_part(tables: Ranked, comparing: Comparing) -> Compared:
    kept = FateColumn.load(tables.verdicts).kept
    taking_part = kept | (comparing.candidates == "all")
    exact = taking_part & of_policy(tables.measures, comparing.policies, EXACT, kept.size)
    none = of_policy(tables.measures, comparing.policies, NONE, kept.size)
    salts = None
    if comparing.within is not None:
        salts = salts_of(load_column(tables.measures, member_column(comparing.within)))
    return Compared(kept, taking_part & ~exact & ~none, exact, salts)


def of_policy(measures: Path, policies: dict[str, str], policy: str, documents: int) -> np.ndarray:
    """Return bool (documents,): which documents are of sources with this policy."""
    if policy not in policies.values():
        return np.zeros(documents, bool)
    names, source = load_labels(measures, "source")
    return np.array([policies[name] == policy for name in names], bool)[source]


def salts_of(values: pa.StringArray) -> np.ndarray:
    """Return uint64 (documents,): a number per value, 0 for null."""
    encoded = values.dictionary_encode()
    hashes = [hashlib.sha256(one.encode()).digest()[:8] for one in encoded.dictionary.to_pylist()]
    salts = np.array([0, *(int.from_bytes(one, "big") for one in hashes)], np.uint64)
    return salts[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False) + 1]


def numbers_of_sources(measures: Path, names: list[str]) -> np.ndarray:
    """Return uint32 (documents,): the place of each document's source in the sorted names."""
    labels, source = load_labels(measures, "source")
    places = {name: place for place, name in enumerate(sorted(names))}
    return np.array([places[name] for name in labels], np.uint32)[source]


def exact_numbers(policies: dict[str, str]) -> list[int]:
    """Return the numbers of the sources that are compared only with equal texts."""
    return [place for place, name in enumerate(sorted(policies)) if policies[name] == EXACT]
