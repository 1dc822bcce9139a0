"""Recommend values of dedup.bands and dedup.rows, based on a sample.

Shows the recall and the cost of several LSH settings, and recommends a setting. The defaults of the
options come from the shipped config.yaml. FILE is an input file such as a .jsonl.zst or .parquet
file.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import yaml

from corpusmill.messages.plain_text import shown_lines, told_lines
from corpusmill.mill.dedup.band_settings import RECALL, BandSetting
from corpusmill.mill.dedup.minhash import MinHasher
from corpusmill.mill.read.readers import format_of
from corpusmill.mill.storage.files import replacing
from corpusmill.run.config import Config
from corpusmill.run.job_progress import Heartbeat, phase
from corpusmill.run.typed import as_given
from corpusmill.run.workflow_files import workflow_home
from corpusmill.tools.tune.bands.design import histogram, recommend
from corpusmill.tools.tune.bands.picture import Curve, picture
from corpusmill.tools.tune.bands.report import facts, recommendation, table
from corpusmill.tools.tune.bands.sampling import Sample, sample_documents, source_of
from corpusmill.tools.tune.sample import Wanted

WELL_KNOWN = {"SlimPajama": BandSetting(9, 13), "datatrove": BandSetting(14, 8)}


def shipped() -> Config:
    """Return the shipped configuration, which has the defaults."""
    return Config.read(yaml.safe_load((workflow_home() / "config.yaml").read_text("utf-8")))


def shortest(config: Config) -> int:
    """Return the limit of the filter too_short in the shipped configuration."""
    (asked,) = (one.settings["min_chars"] for one in config.filters if one.name == "too_short")
    return asked


def parser(config: Config) -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(
        "corpusmill designer",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = arguments.add_argument
    add("files", nargs="+", metavar="FILE", help="input file, such as .jsonl.zst or .parquet")
    add("--text-field", default="text", help="field or column that holds the text")
    add("--threshold", type=float, default=config.dedup.threshold,
        help="minimum Jaccard similarity of duplicates")  # fmt: skip
    add(
        "--bands",
        type=int,
        help="also show a setting with this number of bands; needs --rows",
    )
    add(
        "--rows",
        type=int,
        help="also show a setting with this number of sketch values per band; needs --bands",
    )
    add("--permutations", type=int, default=config.minhash.permutations,
        help="number of values per sketch")  # fmt: skip
    add(
        "--recall",
        type=float,
        default=RECALL,
        help="required recall: among pairs whose similarity equals the threshold, the share that "
        "must be found",
    )
    add("--documents", type=int, default=20_000, help="number of documents to sample")
    add("--min-chars", type=int, default=shortest(config),
        help="leave out documents with fewer characters than this")  # fmt: skip
    add("--picture", type=Path, metavar="FILE.svg", help="output file for a plot of the S-curves")
    return arguments


def check(given: argparse.Namespace) -> None:
    """Raise ValueError for the first invalid option."""
    for path in given.files:
        format_of(path)
        if not os.path.isfile(path):
            raise ValueError(f"{path}: expected a file, found none. Correct the path.")
    for name in ("threshold", "recall"):
        if not 0 < (value := getattr(given, name)) < 1:
            raise ValueError(f"--{name}: expected between 0 and 1, got {value}. Correct it.")
    limits = {"permutations": (1, 4096), "documents": (2, 200_000), "min_chars": (0, 1_000_000)}
    for name, (least, most) in limits.items():
        if not least <= (value := getattr(given, name)) <= most:
            option = name.replace("_", "-")
            raise ValueError(f"--{option}: expected {least} to {most}, got {value}. Correct it.")
    if (given.bands is None) != (given.rows is None):
        raise ValueError("--bands and --rows: expected both or none, got one. Give both.")
    if given.bands is not None:
        if given.bands < 1 or given.rows < 1:
            raise ValueError(
                f"--bands and --rows: expected 1 or more, got {given.bands} and {given.rows}. "
                "Correct them."
            )
        if given.bands * given.rows > given.permutations:
            raise ValueError(
                f"--bands ({given.bands}) x --rows ({given.rows}) = {given.bands * given.rows} "
                f"exceeds --permutations ({given.permutations}). Lower one or raise the other."
            )


def curves_of(given: argparse.Namespace, config: Config, best: BandSetting | None) -> list[Curve]:
    """Return the settings to compare, each once with all its names: that of the options or
    config.yaml, the recommended one, and well-known ones."""
    if given.bands is not None:
        named = {"given": BandSetting(given.bands, given.rows)}
    else:
        dedup = replace(config.dedup, threshold=given.threshold)
        named = {"config.yaml": dedup.band_setting(given.permutations)}
    if best:
        named["recommended"] = best
    labels: dict[BandSetting, list[str]] = {}
    for label, setting in (named | WELL_KNOWN).items():
        labels.setdefault(setting, []).append(label)
    return [Curve(", ".join(names), setting) for setting, names in labels.items()]


def sampled(given: argparse.Namespace, config: Config) -> Sample:
    """Sample the given files. Raise ValueError if they have no pair."""
    hasher = MinHasher(**as_given(config.minhash) | {"permutations": given.permutations})
    source = source_of(given.files, given.text_field)
    wanted = Wanted.by(config)
    sample = sample_documents(source, wanted, hasher, given.min_chars, given.documents)
    if len(sample.comparable()) < 2:
        raise ValueError(
            f"{', '.join(given.files)}: expected at least 2 documents with at least "
            f"{given.min_chars} "
            f'characters in "{given.text_field}", found {len(sample.comparable())} among '
            f"{sample.of.documents:.0f} documents and {sample.of.malformed} malformed records. "
            "Give other files, --text-field or --min-chars."
        )
    return sample


def design(given: argparse.Namespace, config: Config) -> Iterator[str]:
    """Yield the report for the terminal, then write the picture if requested."""
    sample = sampled(given, config)
    with phase("comparing pairs", unit="pairs"):
        counts = histogram(sample.comparable())
    best = recommend(counts, given.threshold, given.recall)
    curves = curves_of(given, config, best)
    yield from facts(sample, counts, given)
    if fitting := [curve for curve in curves if curve.setting.values <= given.permutations]:
        yield f"\n{table(sample, counts, given.threshold, fitting)}\n"
    for curve in curves:
        if curve not in fitting:
            yield f"not in the table: {curve.label} needs {curve.setting.values} permutations"
    yield (
        "Each false candidate costs a comparison. If candidates are not verified, it costs a "
        "document."
    )
    yield recommendation(best, given, config)
    if given.picture:
        note = f"{counts.sum():,} pairs of {len(sample.comparable()):,} documents"
        with replacing(given.picture) as temporary:
            temporary.write_text(picture(counts, given.threshold, curves, note), "utf-8")


def main(arguments: list[str] | None = None) -> None:
    config = shipped()
    given = parser(config).parse_args(arguments)
    heartbeat = Heartbeat(lambda line: print(line, file=sys.stderr))
    heartbeat.start()
    try:
        check(given)
        for line in design(given, config):
            print(shown_lines(line))
    except (ValueError, OSError) as error:
        sys.exit(told_lines(f"error: {error}"))
    finally:
        heartbeat.stop()
