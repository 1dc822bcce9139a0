"""Find the pairs of documents that share a band key, in one bucket of all band keys."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.buckets import bucket_slices
from corpusmill.files import load_json, save_array
from corpusmill.lsh import Bands, pairs_of_slice
from corpusmill.progress import phase
from corpusmill.step_log import step_log


def pair(listing: Path, bucket: int, buckets: int, bands: int, pairs: Path) -> None:
    """listing: the band files of all parts."""
    parts = [
        Bands.open(number, Path(part["file"]))
        for number, part in enumerate(load_json(listing)["parts"])
    ]
    found = [np.zeros((0, 2), np.uint64)]
    slices = bucket_slices(bucket, buckets, bands)
    with phase("pairing", len(slices), "bands") as progress:
        for share in slices:
            found.append(pairs_of_slice(parts, share))
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
            pairs=Path(snakemake.output.pairs),
        )
