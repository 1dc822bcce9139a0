"""Share of real text that each preset removes, filter by filter.

    python benchmarks/removal.py --data DIR [DIR] [--call FOLDER=NAME]

DIR holds folders of .jsonl.zst, each a source; folders with the same name are merged. If records
have `meta.language`, a row is one of the --languages, or all others together. Up to --megabytes of
text are read per row, in the order of the files. Shares are of documents by their fate: a document
counts only for the first filter that drops it. cut is a share of all bytes.
"""

import argparse
import datetime
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import yaml
import zstandard

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from corpusmill.mill.decide.fates import KEPT
from corpusmill.mill.filters.configured import ConfiguredFilter, configured
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.measuring import Measures, decided
from corpusmill.mill.read.normalization import normalizer
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.run.config_files import laid_over

ROOT = Path(__file__).parents[1]
BATCH_BYTES = 32 << 20


class Removed(NamedTuple):
    """Figures of a source with a preset. shares: of all documents, by filter. cut: of all bytes, by
    filter."""

    documents: int
    megabytes: float
    shares: dict[str, float]
    cut: dict[str, float]
    kept: float
    kept_bytes: float


def texts_by_source(
    folders: list[Path], names: dict[str, str], languages: list[str], most: float
) -> dict[str, list[str]]:
    """Return source, and language if known -> texts."""
    found: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.jsonl.zst")):
            with open(path, "rb") as file:
                lines = zstandard.ZstdDecompressor().stream_reader(file).read().splitlines()
            for record in map(json.loads, lines):
                name = names.get(folder.name, folder.name)
                if language := (record.get("meta") or {}).get("language"):
                    name += f", {language if language in languages else 'others'}"
                if sizes.get(name, 0) < most:
                    found.setdefault(name, []).append(record["text"])
                    sizes[name] = sizes.get(name, 0) + len(record["text"].encode())
    return dict(sorted(found.items()))


def batches(texts: list[str]) -> Iterator[Documents]:
    """Yield the texts as `measure` gets them from a part."""
    batch: list[bytes] = []
    for number, text in enumerate(map(str.encode, texts), 1):
        batch.append(text)
        if number == len(texts) or sum(map(len, batch)) > BATCH_BYTES:
            column = string_array(batch)
            files = pa.array(np.zeros(len(batch), np.uint32))
            record_batch = pa.record_batch({"text": column, "file": files})
            yield Documents(TextColumn.of(column), record_batch, [{"source": "", "path": ""}])
            batch = []


def removed(texts: list[str], filters: list[ConfiguredFilter]) -> Removed:
    measures = Measures(filters)
    sizes, cut = [], {filter.name: 0 for filter in filters if filter.edits}
    for documents in batches(texts):
        left, edits = measures.add(documents)
        for edit in edits:
            cut[edit.filter.name] += int((edit.cuts.stops - edit.cuts.starts).sum())
        sizes.append(left.texts.sizes())
    text_bytes = np.concatenate(sizes)
    source = pa.array([""] * len(texts)).dictionary_encode()
    table = pa.table({**measures.columns(), "text_bytes": text_bytes, "source": source})
    fates = decided(filters, table).fates
    whole = sum(len(text.encode()) for text in texts)
    return Removed(
        len(texts),
        whole / 1e6,
        {filter.name: fates.has(filter.name).mean() for filter in filters if filter.drops},
        {name: size / whole for name, size in cut.items()},
        fates.has(KEPT).mean(),
        text_bytes[fates.has(KEPT)].sum() / whole,
    )


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def table_of(sources: dict[str, list[str]], config: dict) -> Iterator[str]:
    """Yield a table in percent."""
    filters, mend = configured(config["filters"]), normalizer(config["normalize"]["mode"])
    rows = {name: removed(list(map(mend, texts)), filters) for name, texts in sources.items()}
    first = next(iter(rows.values()))
    heading = ["source", "documents", "MB", *(f"`{name}`" for name in first.shares)]
    heading += [*(f"cut by `{name}`" for name in first.cut), "kept", "kept bytes"]
    yield f"| {' | '.join(heading)} |"
    yield f"|---|{'--:|' * (len(heading) - 1)}"
    for name, row in rows.items():
        shares = [*row.shares.values(), *row.cut.values(), row.kept, row.kept_bytes]
        told = [name, f"{row.documents:,}", f"{row.megabytes:,.1f}", *map(percent, shares)]
        yield f"| {' | '.join(told)} |"


def presets() -> Iterator[tuple[str, dict]]:
    """Yield presets with filters, merged into the shipped configuration."""
    for path in sorted((ROOT / "presets").glob("*.yaml")):
        preset = yaml.safe_load(path.read_text("utf-8"))
        if "filters" in preset:
            yield path.stem, laid_over(ROOT / "config.yaml", preset)


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--data", type=Path, required=True, nargs="+")
    arguments.add_argument("--call", nargs="*", default=[], metavar="FOLDER=NAME")
    arguments.add_argument("--languages", nargs="*", default=["en", "fr"])
    arguments.add_argument("--megabytes", type=float, default=50)
    told = arguments.parse_args()
    names = dict(one.split("=", 1) for one in told.call)
    folders = [folder for data in told.data for folder in sorted(data.iterdir()) if folder.is_dir()]
    sources = texts_by_source(folders, names, told.languages, told.megabytes * 1e6)
    print(f"{datetime.date.today()}, at most {told.megabytes:g} MB of a row, shares in percent")
    for name, config in presets():
        print(f"\n### {name}\n", flush=True)
        print("\n".join(table_of(sources, config)), flush=True)


if __name__ == "__main__":
    main()
