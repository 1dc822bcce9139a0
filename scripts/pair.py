"""Find the pairs of documents that share a key, in one bucket of all keys."""

import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from corpusmill.mill.dedup.candidates import Corpus, identical_edges, same_key_edges, similar_edges
from corpusmill.mill.dedup.edges import EDGE, IDENTICAL, Similarity, certain_matches
from corpusmill.mill.dedup.lsh import Banding, Bands, count_entries
from corpusmill.mill.dedup.order import Preference, Ranked
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.buckets import Buckets, Slice, bounded_slices, bucket_slices
from corpusmill.mill.storage.files import content_digest, load_listing, save_json
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def save_pairs(edges: np.ndarray, pairs: Path, counts: Path) -> None:
    """Save the pairs, sorted by documents."""
    edges = edges[np.lexsort((edges["b"], edges["a"]))]
    save_array(pairs, edges)
    save_json(
        counts,
        {
            "pairs": len(edges),
            "identical": int((edges["matches"] == IDENTICAL).sum()),
            "file": str(pairs),
            "digest": content_digest(pairs),
        },
    )


def pair(
    listing: list[Path],
    bucket: int,
    buckets: Buckets,
    banding: Banding,
    similarity: Similarity,
    preference: Preference,
    pairs: Path,
    counts: Path,
) -> None:
    """listing: the files of all parts.

    The digests are one more band.
    """
    parts = load_listing(listing)
    banded = [Bands(number, Path(part["bands"])) for number, part in enumerate(parts)]
    digested = [Bands(number, Path(part["texts"])) for number, part in enumerate(parts)]
    corpus = Corpus(
        [Path(part["signatures"]) for part in parts],
        [Path(part["digests"]) for part in parts],
        [Ranked(Path(part["verdicts"]), Path(part["measures"])) for part in parts],
    )
    least, _ = certain_matches(similarity.permutations, similarity.threshold)
    found = [np.empty(0, EDGE)]
    slices = bucket_slices(bucket, buckets.jobs, banding.bands + 1)

    def edges_of(share: Slice) -> Iterator[np.ndarray]:
        """Yield the edges in pieces, each from as many keys as a job may hold."""
        if share.band == banding.bands:
            count = partial(count_entries, digested)
            for piece in bounded_slices(share._replace(band=0), buckets.entries, count):
                yield identical_edges(digested, piece, corpus.digests)
        else:
            for piece in bounded_slices(share, buckets.entries, partial(count_entries, banded)):
                if banding.method == "sketch":
                    yield same_key_edges(banded, piece)
                else:
                    yield similar_edges(banded, piece, corpus, banding.rows, least, preference)

    with phase("pairing", len(slices), "bands") as progress:
        for share in slices:
            found.extend(edges_of(share))
            logging.info("band %d: %d pairs", share.band, len(found[-1]))
            progress.advance(1)
    edges = np.concatenate(found)
    found.clear()
    save_pairs(edges, pairs, counts)


if __name__ == "__main__":
    run(pair)
