"""The names of the demo corpus files; separate from the code that makes them, to import fast."""

# File name -> bytes of UTF-8 text. Nominal, to plan before the files exist: measured with
# Python 3.11; the standard library of other versions has other sizes.
FILES = {
    "code.jsonl.zst": 12_000_000,
    "docstrings.jsonl.gz": 2_000_000,
    "topics.parquet": 470_000,
    "passages.jsonl": 17_000,
    "planted.jsonl.zst": 7_400_000,
}

# Not milled: the texts that decontamination looks for.
EVALUATION_FILES = {"evaluation.jsonl": 30_000}

DEMO = "results/demo"
"""Folder of the demo files."""
GENERATED = {f"{DEMO}/{name}": size for name, size in (FILES | EVALUATION_FILES).items()}
"""Path, as configurations name it -> bytes."""
