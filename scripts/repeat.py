"""Find the spans that occurred earlier in the corpus, in one bucket of all keys."""

import logging
from functools import partial
from pathlib import Path

import numpy as np

from corpusmill.mill.read.spans import Spans, by_place, count_spans, repeats_of_slice
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.buckets import Buckets, bounded_slices, bucket_slices
from corpusmill.mill.storage.files import content_digest, load_listing, save_json
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def repeat(
    listing: list[Path], span_bucket: int, buckets: Buckets, repeats: Path, counts: Path
) -> None:
    """listing: the span files of all parts."""
    parts = [
        Spans.open(number, Path(part["file"])) for number, part in enumerate(load_listing(listing))
    ]
    found = [np.zeros((4, 0), np.uint64)]
    (share,) = bucket_slices(span_bucket, buckets.jobs, 1)
    spans = count_spans(parts, share)
    with phase("comparing", spans, "spans") as progress:
        for piece in bounded_slices(share, buckets.entries, partial(count_spans, parts)):
            found.append(repeats_of_slice(parts, piece))
            progress.advance(count_spans(parts, piece))
    table = by_place(np.concatenate(found, axis=1))
    save_array(repeats, table)
    save_json(
        counts,
        {"repeats": table.shape[1], "file": str(repeats), "digest": content_digest(repeats)},
    )
    logging.info("%d spans, %d of them later occurrences", spans, table.shape[1])


if __name__ == "__main__":
    run(repeat)
