"""Find the pairs of documents that share a band key, in one bucket of all band keys."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.buckets import bucket_slices
from corpusmill.files import load_json, save_array
from corpusmill.lsh import Bands, bounded_slices, pairs_of_slice
from corpusmill.progress import phase
from corpusmill.step_log import step_log


def pair(listing: Path, bucket: int, buckets: int, bands: int, entries: int, pairs: Path) -> None:
    """listing: the band files of all parts. entries: band keys to hold at once."""
    parts = [
        Bands.open(number, Path(part["file"]))
        for number, part in enumerate(load_json(listing)["parts"])
    ]
    found = [np.zeros((0, 2), np.uint64)]
    slices = bucket_slices(bucket, buckets, bands)
    with phase("pairing", len(slices), "bands") as progress:
        for share in slices:
            for piece in bounded_slices(parts, share, entries):
                found.append(pairs_of_slice(parts, piece))
                logging.info("band %d: %d pairs", share.band, len(found[-1]))
            progress.advance(1)
    save_array(pairs, np.concatenate(found))


if __name__ == "__main__":
    with step_log(snakemake.log[0]):
        pair(
            listing=Path(snakemake.input.listing),
            bucket=int(snakemake.wildcards.bucket),
            buckets=snakemake.params.buckets,
            bands=snakemake.params.bands,
            entries=snakemake.params.entries,
            pairs=Path(snakemake.output.pairs),
        )
