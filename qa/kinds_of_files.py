"""The kinds of files below results, and who reads them."""

import re
from pathlib import Path

from corpusmill.mill.storage.sums import SUMS, summed_path

READ_BY = {
    "plan/parts.jsonl": ["summarize"],
    "text/{n}.arrow": ["span", "cut"],
    "text/{n}.json": ["admit", "ledger", "manifest"],
    "quarantine/{n}.jsonl": ["ledger"],
    "admitted.json": ["summarize"],
    "spans/{n}.npy": ["repeat"],
    "spans/{n}.json": ["repeat"],
    "repeats/{n}.npy": ["cut"],
    "repeats/{n}.json": ["cut"],
    "cut/{n}.arrow": ["measure"],
    "cut/{n}.parquet": ["ledger"],
    "cut/{n}.npy": ["assign"],
    "cut/{n}.json": ["ledger"],
    "measures/{n}.arrow": ["filter", "band", "extract", "assign", "gauge", "ledger", "tally"],
    "edited/{n}.arrow": ["sign", "scatter", "ledger"],
    "edited/{n}.parquet": ["ledger"],
    "edited/{n}.npy": ["assign"],
    "edited/{n}.json": ["ledger"],
    "filter/{n}.arrow": ["band", "extract", "assign", "gauge", "scatter", "ledger", "tally"],
    "filter/{n}.json": ["allow"],
    "signatures/{n}.npy": ["band", "pair"],
    "digests/{n}.npy": ["band", "pair", "assign", "decontaminate"],
    "bands/{n}.npy": ["pair"],
    "bands/{n}.texts.npy": ["pair"],
    "bands/{n}.json": ["pair"],
    "pairs/{n}.npy": ["group", "extract"],
    "pairs/{n}.json": ["group", "extract"],
    "groups/labels.npy": ["extract"],
    "groups/starts.npy": ["extract"],
    "extracts/{n}.arrows": ["resolve"],
    "extracts/{n}.npy": ["resolve"],
    "extracts/{n}.edges.npy": ["resolve"],
    "extracts/{n}.starts.npy": ["resolve"],
    "extracts/{n}.json": ["resolve"],
    "resolved/{n}.npy": ["assign"],
    "resolved/{n}.winners.npy": ["weigh"],
    "resolved/{n}.json": ["assign", "weigh"],
    "assign/{n}.arrow": ["gauge", "scatter", "ledger", "tally"],
    "assign/{n}.json": ["holdout"],
    "clusters/{n}.parquet": ["ledger", "report"],
    "duplicates.json": ["summarize"],
    "holdout/{n}.npy": ["holdout"],
    "holdout/evaluation.npy": ["holdout"],
    "holdout/evaluation.json": ["manifest"],
    "holdout/all.npy": ["decontaminate"],
    "holdout/{n}.arrow": ["count", "weigh", "gauge", "scatter", "ledger", "tally"],
    "ids/{n}.bin": ["scatter"],
    "ids/{n}.npy": ["weigh", "scatter"],
    "candidates/{n}.arrow": ["apportion", "mix"],
    "candidates/{n}.json": ["apportion"],
    "mixture/train.json": ["mix", "label", "summarize"],
    "mixture/train.npy": ["mix"],
    "copies/{n}.arrow": ["gauge", "scatter", "label", "ledger", "tally"],
    "copies/{n}.json": ["summarize"],
    "values/{n}.arrow": ["arrange", "scatter"],
    "values/{n}.json": ["arrange"],
    "order/order.json": ["scatter", "summarize"],
    "order/starts.npy": ["scatter"],
    "scatter/{n}.arrows": ["gather", "encode"],
    "scatter/{n}.npy": ["gather", "encode"],
    "scatter/{n}.json": ["gather", "encode"],
    "corpus/{split}/{n}.jsonl.zst": ["verify"],
    "corpus/{split}/{n}.json": ["verify", "manifest", "summarize"],
    "tokenizer/tokenizer.json": ["encode"],
    "tokenizer/tokenizer_config.json": ["encode"],
    "tokenizer/corpusmill.json": ["encode"],
    "tokenizer/corpusmill-plain.json": ["encode"],
    "tokenizer/corpusmill-bytes.npy": ["encode"],
    "tokens/{split}/{n}.bin": ["verify", "join"],
    "tokens/{split}/{n}.idx": ["verify", "pack"],
    "tokens/{split}/{n}.json": ["verify", "join", "manifest", "summarize"],
    "tokens/{split}/pack-64.json": ["summarize"],
    "tokens/train.json": ["manifest"],
    "tokens/meta.pkl": ["summarize"],
    "placements/{split}/{n}.parquet": ["verify", "label"],
    "verify/{split}/{n}.txt": ["manifest"],
    "ledger/{n}.json": ["manifest", "summarize"],
    "tally/{n}.bins.parquet": ["report"],
    "tally/{n}.totals.parquet": ["report"],
    "tally/{n}.json": ["summarize"],
    "manifest.json": ["summarize", "card"],
    "summary.json": ["report", "card"],
    "summary.txt": ["report"],
}
"""Every kind of file that a later job reads, and the rules of these jobs. {n}: a number."""

READ_BY_NOBODY = {
    "allowed.json",
    "verify/{split}/{n}.json",
    "ledger/{n}.parquet",
    "tokens/{joined}.bin",
    "tokens/{split}/pack-64.npy",
    "tokens/{split}/pack-64.rows.npy",
    "tokens/{split}/groups.npy",
    "tokens/{split}/groups.json",
    "eye_test.txt",
    "report/statistics.parquet",
    "report/histograms.parquet",
}
"""Jobs wait for them, no more; or nothing comes after them. The manifest has what was meant."""


def kind_of(path: Path) -> str:
    """The kind of a file below results."""
    name = re.sub(r"\d{5}", "{n}", str(path))
    name = re.sub(r"(tokens)/(train|val|test)\.bin", r"\1/{joined}.bin", name)
    name = re.sub(r"(tokens)/(train|val|test)\.json", r"\1/train.json", name)
    return re.sub("/(train|validation|test)/", "/{split}/", name)


def written(folder: Path) -> list[Path]:
    """The files of a run that have sums, below results."""
    results = folder / "results"
    return sorted(summed_path(sums).relative_to(results) for sums in results.rglob(f".*{SUMS}"))
