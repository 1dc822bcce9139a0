"""Input files, parts, generations, and how many shards a split has."""

import glob
import math
from dataclasses import dataclass
from pathlib import Path

from qa.oracle.reading import TEXT_BYTES_PER_BYTE, ending

SPLITS = ("train", "validation", "test")


@dataclass
class InputFile:
    source: str
    path: str
    expected_bytes: int


def files_of(source: dict, folder: Path) -> list[InputFile]:
    paths = {
        path for p in source["files"] for path in glob.glob(p, root_dir=folder, recursive=True)
    }
    found = []
    for path in sorted(path for path in paths if (folder / path).is_file()):
        size = (folder / path).stat().st_size
        found.append(InputFile(source["name"], path, size * TEXT_BYTES_PER_BYTE[ending(path)]))
    return found


def milled_files(folder: Path, config: dict) -> list[InputFile]:
    milled = [source for source in config["sources"] if not source.get("held_out")]
    return [file for source in milled for file in files_of(source, folder)]


def plan_parts(files: list[InputFile], part_bytes: int) -> list[list[InputFile]]:
    """Parts in order: one is closed when the next file would make it larger than `part_bytes`."""
    parts: list[list[InputFile]] = []
    for file in files:
        room = part_bytes - sum(other.expected_bytes for other in parts[-1]) if parts else -1
        if file.expected_bytes > room:
            parts.append([])
        parts[-1].append(file)
    return parts


def shares(config: dict) -> dict[str, float]:
    validation, test = config["splits"]["validation"], config["splits"]["test"]
    return {"train": 1 - validation - test, "validation": validation, "test": test}


def mixed_bytes(expected: float, mixture: dict) -> float:
    """Expected bytes of train, with a mixture."""
    budget = mixture["budget"]
    if budget is None:
        return expected * mixture["max"] if mixture["copies"] else expected
    ((unit, size),) = budget.items()
    if unit == "documents":
        return expected * mixture["max"]
    return size * {"bytes": 1, "tokens": 6}[unit]


def splits_in_order(config: dict) -> list[str]:
    """The splits that may have shards: train or its stages, validation, test."""
    stages = sorted(one["name"] for one in config["stages"])
    return [*(stages or ["train"]), "validation", "test"]


def shard_counts(files: list[InputFile], config: dict) -> dict[str, int]:
    weights = {source["name"]: source.get("weight", 1) for source in config["sources"]}
    mixtures = {one["name"]: config["mixture"] | one for one in config["stages"]}
    mixtures = mixtures or {"train": config["mixture"]}
    counts = {}
    for split in splits_in_order(config):
        in_train = split in mixtures
        share = shares(config)["train" if in_train else split]
        expected = 0.0
        for file in files:
            weight = weights[file.source]
            repeats = weight if in_train else min(1, weight)
            expected += file.expected_bytes * share * repeats
        if in_train:
            expected = mixed_bytes(expected, mixtures[split])
        shards = max(1, math.ceil(expected / config["output"]["shard_bytes"]))
        counts[split] = shards if share > 0 else 0
    return counts
