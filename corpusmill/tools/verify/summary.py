"""Checks the summary of the run against itself and the manifest.

The manifest does not list it, because it contains run times.
"""

from typing import Any

from corpusmill.mill.storage.files import own_digest
from corpusmill.reader.stores import MissingError
from corpusmill.run.config import digest_of_shaping
from corpusmill.tools.verify.findings import UnreachableError
from corpusmill.tools.verify.kinds import MANIFEST
from corpusmill.tools.verify.reading import UNLIKE, Corpus

SUMMARY = "summary.json"


def summary_of(corpus: Corpus) -> dict[str, Any] | None:
    """Return the summary of this manifest; None if it is missing or faulty. Faults are reported,
    absence is not."""
    try:
        summary = corpus.json(SUMMARY)
        if isinstance(summary, dict) and "configuration" not in summary:
            return None  # early versions did not write it
        faults = faults_of(summary, corpus)
        seed = summary["configuration"]["shuffle"]["seed"]
        if type(seed) is not int or seed < 0:
            raise ValueError(f"seed {seed!r:.40}")
        dict(summary["sources"]), dict(summary["documents"]["dropped"])
    except (MissingError, UnreachableError):
        return None
    except UNLIKE as error:
        corpus.findings.damage(
            SUMMARY, f"is not the summary of a run: {type(error).__name__}: {error}"
        )
        return None
    for fault in faults:
        corpus.findings.damage(SUMMARY, fault)
    return None if faults else summary


def faults_of(summary: dict[str, Any], corpus: Corpus) -> list[str]:
    """Say where the summary has changed or does not match this manifest."""
    found, own = own_digest(summary), digest_of_shaping(summary["configuration"])
    manifest, digest = corpus.listing.sha256, corpus.listing.content.get("config_digest")
    told = summary["manifest"], summary["config_digest"]
    faults = []
    # The first versions recorded no digest of themselves.
    if summary.get("sha256", found) != found:
        faults.append(f"it lists its SHA-256 as {summary['sha256']}, but its content has {found}")
    if own != told[1]:
        faults.append(f"its configuration has the digest {own}, but config_digest says {told[1]}")
    if told != (manifest, digest) and not corpus.findings.damaged(MANIFEST):
        faults.append(
            f"describes manifest {told[0]} (configuration {told[1]}), found {manifest} ({digest})"
        )
    return faults
