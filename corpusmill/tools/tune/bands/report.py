"""The designer's report for the terminal: what LSH settings find and cost."""

import argparse
import time

import numpy as np

from corpusmill.messages.text_tables import aligned
from corpusmill.mill.dedup.band_settings import BandSetting, least_permutations, recall_at
from corpusmill.mill.dedup.lsh import band_keys
from corpusmill.run.config import Config
from corpusmill.tools.tune.bands.design import bytes_per_document, expected
from corpusmill.tools.tune.bands.picture import Curve
from corpusmill.tools.tune.bands.sampling import Sample

FEW_PAIRS = 30  # above the threshold; with fewer, the figures are uncertain


def sorting_seconds(signatures: np.ndarray, setting: BandSetting) -> float:
    """Measure making and sorting the band keys of these documents on one core: the best of 3."""
    document_rows = np.arange(len(signatures), dtype=np.uint32)
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        for band in range(setting.bands):
            first = band * setting.band_rows
            keys = band_keys(signatures, document_rows, first, setting.band_rows)
            np.argsort(keys, kind="stable")
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def number(value: float) -> str:
    """Format a number: `12,345`, `12.3`, `<0.01`."""
    if 0 < value < 0.01:
        return "<0.01"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def pairs_scale(sample: Sample) -> float:
    """Return the pairs of all documents per pair of the sample."""
    documents, taken = sample.of.documents, len(sample.signatures)
    return documents * (documents - 1) / (taken * (taken - 1))


def table(sample: Sample, counts: np.ndarray, threshold: float, curves: list[Curve]) -> str:
    """Return a line per setting. `missed` and `false` also give the number of sampled pairs."""
    permutations, signatures = counts.size - 1, sample.comparable()
    per_gb = 1e9 / sample.text_bytes.sum()
    lines = [
        ["", "bands", "recall", "missed", "in all", "false", "in all", "bytes per", "bands", ""],
        ["setting", "x rows", f"at {threshold:g}", "pairs", "files", "candidates", "files",
         "document", "s/GB", "MB/s"],
    ]  # fmt: skip
    for label, setting in curves:
        pairs = expected(counts, threshold, setting)
        band_seconds = sorting_seconds(signatures, setting) * per_gb
        lines.append([
            label,
            f"{setting.bands} x {setting.band_rows}",
            f"{recall_at(threshold, setting):.4f}",
            f"{number(pairs.missed)} of {pairs.above:,}",
            number(pairs.missed * pairs_scale(sample)),
            f"{number(pairs.false)} of {pairs.possible:,}",
            number(pairs.false * pairs_scale(sample)),
            f"{bytes_per_document(permutations, setting.bands):,}",
            f"{band_seconds:.2f}",
            f"{1000 / (sample.sketch_seconds * 1e9 + band_seconds):.1f}",
        ])  # fmt: skip
    return aligned(lines)


def facts(sample: Sample, counts: np.ndarray, given: argparse.Namespace) -> list[str]:
    """Describe the sample behind the table, and its uncertainty."""
    above = expected(counts, given.threshold, BandSetting(1, 1)).above
    error = (given.threshold * (1 - given.threshold) / given.permutations) ** 0.5
    lines = [
        f"corpus: {sample.of.documents:,.0f} documents in {sample.of.files} files, "
        f"{sample.of.malformed:,} malformed records left out",
        f"sample: {len(sample.signatures):,} documents, {sample.text_bytes.sum() / 1e6:.1f} MB; "
        f"left out: {sample.too_short.sum():,} shorter than {given.min_chars} characters, "
        f"{sample.without_shingle().sum():,} without a shingle",
        f"pairs:  {counts.sum():,} in the sample, {above:,} estimated at {given.threshold:g} or "
        f"more; all files have {number(pairs_scale(sample))} times as many",
        "        Estimated similarities have a binomial error; its standard deviation is "
        f"{error:.3f} at a similarity of {given.threshold:g} with {given.permutations} values.",
        f"time:   {sample.sketch_seconds * 1e9:.1f} s to sketch a GB of text, measured on one core "
        "here; MB/s includes sketches and bands",
    ]
    if above < FEW_PAIRS:
        lines.append(
            f"warning: {above} pairs above the threshold are too few to estimate missed pairs. "
            "Raise --documents or give more files; the recall at the threshold is still valid."
        )
    return lines


def recommendation(best: BandSetting | None, given: argparse.Namespace, config: Config) -> str:
    """Return the setting in the notation of config.yaml, or the sketch size that would allow
    one."""
    if best is None:
        least = least_permutations(given.threshold, given.recall)
        return (
            f"recommended: none: with {given.permutations} permutations no setting has recall "
            f"{given.recall:g} at {given.threshold:g}; {least:,} would suffice. Raise "
            "--permutations."
        )
    line = (
        f"recommended: dedup: {{threshold: {given.threshold:g}, bands: {best.bands}, "
        f"rows: {best.band_rows}}}"
    )
    if given.permutations != config.minhash.permutations:
        line += f"\n             minhash: {{permutations: {given.permutations}}}"
    return line
