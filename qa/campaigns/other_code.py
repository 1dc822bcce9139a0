"""Imported first by the processes of a run: for all that it knows, its steps are of other code."""

import hashlib
from pathlib import Path

from corpusmill.run import code_digest

AS_IT_IS = code_digest.code_digest


def other(*files: Path) -> str:
    return hashlib.sha256(AS_IT_IS(*files).encode()).hexdigest()[:16]


code_digest.code_digest = other
