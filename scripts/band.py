"""Sort the LSH band keys and the digests of one part's documents."""

import logging
from pathlib import Path

import numpy as np

from corpusmill.mill.dedup.lsh import Banding, sorted_bands, sorted_digests
from corpusmill.mill.dedup.order import Ranked
from corpusmill.mill.dedup.policies import Comparing, compared_of_part
from corpusmill.mill.dedup.sketches import have_shingles
from corpusmill.mill.storage.arrays import load_array
from corpusmill.mill.storage.files import content_digest, save_json
from corpusmill.run.job import run
from corpusmill.run.job_progress import phase


def band(
    signatures: Path,
    digests: Path,
    ranked: Ranked,
    banding: Banding,
    comparing: Comparing,
    band_entries: Path,
    text_entries: Path,
    counts: Path,
) -> None:
    table = load_array(signatures)
    compared = compared_of_part(ranked, comparing)
    near = compared.near
    # A text without shingles is similar only to equal texts, not to all others without shingles.
    # SlimPajama's scripts group such texts; with their settings the filter rejects all of them.
    grouped = ~compared.kept & (banding.method == "sketch")
    comparable = near & (grouped | have_shingles(table)) if banding.bands else near
    # Method sketch finds equal texts by their band keys, if all have one.
    by_keys = banding.method == "sketch" and not comparing.any_exact
    by_text = near & ~comparable if by_keys else near | compared.exact
    chosen = np.flatnonzero(comparable).astype(np.uint32)
    with phase("sorting bands", banding.bands + 1, "bands"):
        sorted_bands(table, chosen, banding.bands, banding.rows, band_entries, compared.salts)
        equals = np.flatnonzero(by_text).astype(np.uint32)
        sorted_digests(load_array(digests), equals, text_entries, compared.salts)
    files = {
        "bands": band_entries,
        "texts": text_entries,
        "signatures": signatures,
        "digests": digests,
        **ranked._asdict(),
    }
    save_json(
        counts,
        {
            "documents": len(table),
            "banded": int(chosen.size),
            **{name: str(file) for name, file in files.items()},
            "digests_of_files": {name: content_digest(file) for name, file in files.items()},
        },
    )
    logging.info("%d of %d documents in %d bands", chosen.size, len(table), banding.bands)


if __name__ == "__main__":
    run(band)
