"""Find the pairs of documents that share a key, in one bucket of all keys."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.dedup.candidates import Corpus, identical_edges, same_key_edges, similar_edges
from corpusmill.dedup.edges import EDGE, IDENTICAL, certain_matches
from corpusmill.dedup.lsh import Bands, bounded_slices
from corpusmill.dedup.order import Preference
from corpusmill.run.job import this_job
from corpusmill.run.progress import phase
from corpusmill.storage.arrays import save_array
from corpusmill.storage.buckets import bucket_slices
from corpusmill.storage.files import load_json, save_json


def pair(
    listing: Path,
    bucket: int,
    buckets: int,
    method: str,
    bands: int,
    rows: int,
    threshold: float,
    permutations: int,
    preference: Preference,
    entries: int,
    pairs: Path,
    counts: Path,
) -> None:
    """listing: the files of all parts. entries: keys to hold at once.

    Beside the bands there is one more, of the digests.
    """
    parts = load_json(listing)["parts"]
    banded = [Bands.open(number, Path(part["bands"])) for number, part in enumerate(parts)]
    digested = [Bands.open(number, Path(part["texts"])) for number, part in enumerate(parts)]
    corpus = Corpus(
        *([Path(part[name]) for part in parts] for name in ("signatures", "digests", "verdicts"))
    )
    least, _ = certain_matches(permutations, threshold)
    found = [np.empty(0, EDGE)]
    slices = bucket_slices(bucket, buckets, bands + 1)
    with phase("pairing", len(slices), "bands") as progress:
        for share in slices:
            if share.band == bands:
                for piece in bounded_slices(digested, share._replace(band=0), entries):
                    found.append(identical_edges(digested, piece, corpus.digests))
            else:
                for piece in bounded_slices(banded, share, entries):
                    if method == "sketch":
                        found.append(same_key_edges(banded, piece))
                    else:
                        found.append(similar_edges(banded, piece, corpus, rows, least, preference))
            logging.info("band %d: %d pairs", share.band, len(found[-1]))
            progress.advance(1)
    edges = np.concatenate(found)
    del found
    edges = edges[np.lexsort((edges["b"], edges["a"]))]
    save_array(pairs, edges)
    save_json(
        counts,
        {
            "pairs": len(edges),
            "identical": int((edges["matches"] == IDENTICAL).sum()),
            "file": str(pairs),
        },
    )


if __name__ == "__main__":
    with this_job() as job:
        pair(
            listing=job.input.listing,
            bucket=int(job.params.bucket),
            buckets=job.params.buckets,
            method=job.params.method,
            bands=job.params.bands,
            rows=job.params.rows,
            threshold=job.params.threshold,
            permutations=job.params.permutations,
            preference=Preference(**job.params.preference),
            entries=job.params.entries,
            pairs=job.output.pairs,
            counts=job.output.counts,
        )
