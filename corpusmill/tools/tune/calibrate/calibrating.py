"""Show what the filters of a configuration would drop, on a sample of its corpus."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from corpusmill.mill.read.first_records import Asked, faults_of
from corpusmill.mill.storage.files import replacing, save_plain_json
from corpusmill.run.config import Config
from corpusmill.run.job_progress import phase
from corpusmill.run.plan import list_inputs
from corpusmill.tools.tune.calibrate.account import Calibration, Told, as_json
from corpusmill.tools.tune.calibrate.examples import examples_of
from corpusmill.tools.tune.calibrate.figures import (
    dropped_by_any,
    figures_of_filters,
    figures_of_rules,
    overlaps,
)
from corpusmill.tools.tune.calibrate.measured import measured
from corpusmill.tools.tune.calibrate.page import calibration_page
from corpusmill.tools.tune.calibrate.terminal import told
from corpusmill.tools.tune.sample import Sampled, Source, Wanted, even_sample, sources_of

FILES = "calibration.html", "calibration.json"


class Options(NamedTuple):
    documents: int
    read_megabytes: int
    examples: int
    seed: int | None  # default: that of the shuffle
    output: Path
    force: bool


def prepare(output: Path, force: bool) -> None:
    """Make the folder. Raise ValueError if it is not writable, or already has a page or figures."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"{output}: expected a folder that exists or can be created, found {error.strerror}. "
            "Name a different folder as --output."
        ) from error
    if not os.access(output, os.W_OK | os.X_OK):
        raise ValueError(
            f"{output}: no permission to write to this folder. Name a different one as --output."
        )
    for name in FILES:
        if not force and (output / name).exists():
            raise ValueError(
                f"{output / name} already exists. Give --force to replace it, or a different "
                "folder as --output."
            )


def checked_sources(config: Config, skipped: list[str]) -> list[Source]:
    """Return the milled sources after checking their first records. skipped: as in
    `list_inputs`."""
    readers = config.input.readers
    files = list_inputs(config.milled, {}, readers, skipped)
    fractions = {source.name: source.max_malformed_fraction for source in config.milled}
    sources = sources_of(config, files)
    asked = [
        Asked(source.name, file.path, source.text_field, fractions[source.name])
        for source in sources
        for file in source.files
    ]
    if faults := faults_of(asked, readers, config.input.limits):
        raise ValueError("\n".join(faults))
    return sources


def refuse_empty(sampled: list[Sampled], documents: int) -> None:
    """Raise ValueError if the sample is empty. documents: number requested."""
    for one in sampled:
        if one.documents and not one.sampled:
            raise ValueError(
                f'source "{one.name}": --documents {documents} leaves no document for it, as '
                f"{len(sampled)} sources share them. Raise --documents."
            )
        if not one.sampled:
            raise ValueError(
                f'source "{one.name}": expected documents in the text read from its files '
                f"({one.files}), found none and {one.malformed:,} malformed records. Correct "
                "sources[].files, or read more with --read."
            )


def calibrate(config: Config, options: Options) -> Iterator[str]:
    """Write page and figures; yield the lines for the terminal."""
    if not config.filters:
        raise ValueError("filters: there are none, so there is nothing to calibrate. Add a filter.")
    prepare(options.output, options.force)
    skipped: list[str] = []
    sources = checked_sources(config, skipped)
    yield from (f"NOTE: {one}" for one in dict.fromkeys(skipped))
    wanted = Wanted.by(config)
    if options.seed is not None:
        wanted = wanted._replace(seed=options.seed)
    with tempfile.TemporaryDirectory(prefix="corpusmill-") as folder:
        found = calibrated(config, sources, wanted, options, Path(folder) / "part.arrow")
    save_plain_json(options.output / "calibration.json", as_json(found))
    with replacing(options.output / "calibration.html") as temporary:
        temporary.write_text(calibration_page(found), "utf-8")
    yield from told(found)
    yield f"Wrote {options.output / FILES[0]} and {FILES[1]}."


def calibrated(
    config: Config, sources: list[Source], wanted: Wanted, options: Options, part: Path
) -> Calibration:
    """Compute the figures. part: path of the sample."""
    read_bytes = options.read_megabytes * 1_000_000
    with phase("reading", 2 * sum(one.bytes for one in sources)) as it:
        sampled = even_sample(sources, wanted, read_bytes, options.documents, part, it)
    refuse_empty(sampled, options.documents)
    with phase("measuring", sum(one.sampled for one in sampled), "documents") as it:
        of = measured(part, config.filters, sampled, it)
    entered = {path for one in sampled for path in one.entered}
    examples = examples_of(of, part, options.examples, config.filters, entered)
    filters, rules = overlaps(of)
    return Calibration(
        seed=wanted.seed,
        spans=config.spans.unit,
        sampled=sampled,
        of=of,
        rules=list(map(Told, of.rules, figures_of_rules(of), examples)),
        filters=figures_of_filters(of),
        any_filter=dropped_by_any(of),
        overlap_of_filters=filters,
        overlap_of_rules=rules,
    )
