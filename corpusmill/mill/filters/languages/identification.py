"""Identify the languages and scripts of texts."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from corpusmill.kernels.languages import identify_texts
from corpusmill.kernels.scripts import IS_UPPER, MAY_COMPOSE, survey
from corpusmill.mill.filters.languages.codes import LANGUAGES, UNKNOWN
from corpusmill.mill.filters.languages.model import automaton, scratch, weights
from corpusmill.mill.filters.languages.script_table import SCRIPTS, script_table
from corpusmill.mill.read.normalization import nfc
from corpusmill.mill.read.text_column import TextColumn, string_array


class Languages(NamedTuple):
    """Language, score and script of each document."""

    places: np.ndarray  # uint8 (documents,): index in LANGUAGES
    scores: np.ndarray  # float32 (documents,): probability; 0 for unknown languages
    scripts: np.ndarray  # uint8 (documents,): index in SCRIPTS


def as_trained(text: bytes) -> bytes:
    """Return a text in the model's training form: NFC, and lower case if it is all capitals."""
    decoded = text.decode()
    lowered = decoded.lower() if decoded.isupper() else decoded
    return nfc(lowered).encode()


def identify(texts: TextColumn, among: Collection[str] | None = None) -> Languages:
    """Return the script of each text, and the language that py3langid gives it.

    among: the possible languages, None: all. A score is the probability among these.
    """
    documents = texts.offsets.size - 1
    places, scripts = np.empty(documents, np.uint8), np.empty(documents, np.uint8)
    scores, kinds = np.empty(documents, np.float32), np.empty(documents, np.uint8)
    survey(texts.data, texts.offsets, script_table(), np.zeros(len(SCRIPTS), np.int64),
           scripts, kinds)  # fmt: skip
    tables = automaton(), weights(None if among is None else frozenset(among)), scratch()
    identify_texts(texts.data, texts.offsets, *tables, places, scores)
    other = np.flatnonzero(kinds & (IS_UPPER | MAY_COMPOSE))
    if other.size:
        view = memoryview(texts.data.data)
        begins, ends = texts.offsets[other].tolist(), texts.offsets[other + 1].tolist()
        changed = [as_trained(bytes(view[a:b])) for a, b in zip(begins, ends, strict=True)]
        again = TextColumn.of(string_array(changed))
        places_of_other, scores_of_other = places[other], scores[other]
        identify_texts(again.data, again.offsets, *tables, places_of_other, scores_of_other)
        places[other], scores[other] = places_of_other, scores_of_other
    places[scores == 0] = LANGUAGES.index(UNKNOWN)
    return Languages(places, scores, scripts)
