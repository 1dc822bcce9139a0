"""Configurations over every key of the schema that fit together."""

import random

import yaml
from workflow import ROOT

from corpusmill.run.config import Config

SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
SCHEMA = Config.schema()["properties"]

WITHIN = ["dump", "meta.dump"]
"""Members for dedup.within that most records have, with few values."""

PREFER_KINDS = ["integers", "decimals", "texts", "dates", "dates and texts"]


def laid_over(shipped: dict, config: dict) -> dict:
    """The whole configuration, as Snakemake makes it of the shipped one and the user's."""
    whole = dict(shipped)
    for key, value in config.items():
        both = isinstance(value, dict) and isinstance(shipped.get(key), dict)
        whole[key] = laid_over(shipped[key], value) if both else value
    return whole


def whole(config: dict) -> dict:
    return laid_over(SHIPPED, config)


def _often(random: random.Random, usual, others: list, chance: float = 0.5):
    return random.choice(others) if random.random() < chance else usual


def _minhash(random: random.Random) -> dict:
    return {
        "scheme": _often(random, "affine32", ["legacy"], 0.25),
        "permutations": _often(random, 128, [1, 2, 8, 16, 32, 64, 100, 256]),
        "shingle_chars": _often(random, 13, [1, 2, 3, 5, 8, 25, 256]),
        "seed": _often(random, 1, [0, 2, 2**32 - 1]),
    }


def _bands(random: random.Random, permutations: int) -> tuple:
    if permutations >= 126 and random.random() < 0.4:
        return 21, 6
    if permutations >= 2 and random.random() < 0.4:
        return "auto", "auto"
    rows = random.choice([rows for rows in (1, 2, 3, 4, 6, 13) if rows <= permutations])
    return random.choice([permutations // rows, max(1, permutations // rows // 2)]), rows


def _dedup(random: random.Random, permutations: int) -> dict:
    method = _often(random, "verified", ["sketch", "exact"], 0.4)
    bands, rows = _bands(random, permutations)
    prefer = {"field": None, "order": random.choice(["highest", "lowest"])}
    if random.random() < 0.4:
        prefer["field"] = random.choice(["score", "date", "Größe", "corpusmill", "a b"])
    return {
        "method": method,
        "threshold": _often(random, 0.8, [0.05, 0.3, 0.5, 0.7, 0.75, 0.9, 0.95, 0.99, 0.625]),
        "bands": bands,
        "rows": rows,
        "candidates": _often(random, "kept", ["all"], 0.35),
        "resolve": "component"
        if method == "sketch"
        else _often(random, "kept", ["component"], 0.3),
        "earlier_first": random.random() < 0.6,
        "prefer": prefer,
        "max_group_texts": _often(random, 10_000, [None, None, 1000, 200, 2, 5, 30], 0.25),
        "engine": _often(random, "union_find", ["networkit"], 0.15),
    }


def within(random: random.Random) -> str | None:
    """The member whose values divide the documents that are compared."""
    return _often(random, None, [*WITHIN, *WITHIN, "url", "meta.a", "absent.member"], 0.3)


def policies(random: random.Random, config: dict) -> None:
    """Set with whom sources are compared, and how many of them must agree."""
    sources = [source for source in config["sources"] if not source.get("held_out")]
    for source in sources if random.random() < 0.5 else []:
        source["duplicates"] = random.choice(["near", "near", "exact", "exact", "none"])
    compared = sum(source.get("duplicates") != "none" for source in sources)
    wanted = _often(random, 1, [2, 2, 3], 0.25)
    too_many = random.random() < 0.02
    config["dedup"]["min_sources"] = compared + 2 if too_many else min(wanted, max(1, compared))


def _splits(random: random.Random) -> dict:
    few = [0, 0, 0.005, 0.05, 0.1, 0.3]
    shares = {"validation": random.choice(few), "test": random.choice(few)}
    return {"validation": 0.5, "test": 0.49} if random.random() < 0.05 else shares


def _filters(random: random.Random) -> list[dict]:
    """Both of them, mostly; sometimes one, none, or the other first."""
    least = _often(random, 200, [0, 1, 5, 13, 30, 100, 300], 0.7)
    short = {"name": "too_short"} | ({} if least == 200 else {"min_chars": least})
    empty = {"name": "empty"}
    return _often(random, [empty, short], [[short, empty], [short], [empty], []], 0.15)


def least_chars(config: dict) -> int:
    """What the filter too_short asks for; 0 without it."""
    asked = [one.get("min_chars", 200) for one in config["filters"] if one["name"] == "too_short"]
    return asked[0] if asked else 0


def settings(random: random.Random) -> dict:
    """Every key but `sources` and `tokenizer.source`."""
    minhash = _minhash(random)
    unit = _often(random, "none", ["line", "paragraph", "sentence"], 0.5)
    return {
        "input": {"part_bytes": _often(random, 65536, [131_072, 268_435_456, 268_435_456], 0.7)},
        "normalize": {"mode": _often(random, "nfc", ["ftfy", "none"], 0.45)},
        "spans": {
            "unit": unit,
            "min_chars": _often(random, 50, [1, 10, 30, 80]),
            "width": _often(random, 3, [1, 2, 4]),
        },
        "filters": _filters(random),
        "minhash": minhash,
        "dedup": _dedup(random, minhash["permutations"]),
        "splits": _splits(random),
        "shuffle": {"seed": _often(random, 42, [0, 1, 2**63, 2**70])},
        "output": {
            "format": _often(random, "jsonl.zst", ["parquet"]),
            "shard_bytes": _often(random, 65536, [100_000, 268_435_456], 0.5),
            "join": random.random() < 0.4,
        },
        "tokenizer": tokenizer(random),
        "mixture": {},
        "stages": [],
    }


def lengths(random: random.Random) -> list[int]:
    """Lengths of packed rows, sometimes: some that cut most documents, some that cut none."""
    if random.random() < 0.4:
        return []
    known = [2, 3, 7, 16, 64, 64, 200, 512, 2048, 2**20]
    return list(dict.fromkeys(random.sample(known, random.choice([1, 1, 2, 3]))))


def _milled(config: dict) -> list[str]:
    return [one["name"] for one in config["sources"] if not one.get("held_out")]


def _units(config: dict) -> list[str]:
    """Units of a budget, tokens often: few corpora can have them."""
    counted = [] if config["tokenizer"]["source"] == "train" else ["tokens"] * 3
    return ["bytes", "documents", *counted]


def _budget(random: random.Random, unit: str, sizes: dict[str, int]) -> int:
    """Mostly a part of all texts, of which filters and deduplication leave some; or a fixed size,
    which may be too small for a document or too large. sizes: of all texts by unit."""
    if random.random() < 0.25:
        return random.choice([1, 30, 3000, 100_000] if unit != "documents" else [1, 7, 60])
    return max(1, int(sizes[unit] * random.choice([0.02, 0.1, 0.1, 0.3, 0.3, 0.6, 1.5])))


def stages(random: random.Random, config: dict, sizes: dict[str, int]) -> list[dict]:
    """Stages over a mixture or with budgets of their own, sometimes."""
    mixture = config["mixture"]
    if random.random() < (0.4 if mixture else 0.85):
        return []
    if mixture.get("budget"):
        ((unit, size),) = mixture["budget"].items()
    else:  # a stage with copies alone counts bytes, and all stages count the same
        unit = "bytes" if mixture else random.choice(_units(config))
        size = _budget(random, unit, sizes)
    found: list[dict] = []
    for name in random.sample(["stable", "decay", "a_1"], random.choice([1, 2, 3])):
        stage: dict = {"name": name}
        if not mixture or random.random() < 0.7:
            stage["budget"] = {unit: max(1, size // random.choice([1, 3, 7]))}
        if random.random() < 0.3:
            stage |= {"shares": "proportional", "by": ["source"]}
        elif random.random() < 0.3:
            stage |= {"shares": "proportional", "by": _axes(random, _milled(config), config)}
        if "by" in stage and isinstance(config["mixture"].get("max_epochs"), dict):
            stage["max_epochs"] = 2.5  # the names may be of other cells
        if random.random() < 0.3:
            stage["seed"] = random.choice([0, 7])
        if found and random.random() < 0.6:
            stage["exclude"] = [one["name"] for one in found if random.random() < 0.7]
        if not mixture:
            stage["on_shortage"] = _often(random, "rescale", ["fail", "repeat"], 0.4)
        found.append(stage)
    return found


def mixture(random: random.Random, config: dict, sizes: dict[str, int]) -> dict:
    """A mixture over the sources of a configuration that is complete but for it."""
    if random.random() < 0.4:
        return {}
    names = _milled(config)
    weights = {one["name"]: one.get("weight", 1) for one in config["sources"]}
    unit = random.choice(_units(config))
    size = _budget(random, unit, sizes)
    found = {"budget": {unit: size}, "by": _axes(random, names, config)}
    shares = [random.choice([0, 1, 1, 2.5]) if weights[name] else 0 for name in names]
    kind = random.random()
    if kind < 0.35 and sum(shares) and found["by"][0] == "source":
        found["shares"] = dict(zip(names, shares, strict=True))
        found["normalize"] = True
    elif kind < 0.5:
        found["shares"] = {"temperature": random.choice([0, 0.3, 1])}
    elif kind < 0.65:
        found |= {"shares": "unimax", "max_epochs": random.choice([0.5, 1, 3.7])}
    found["max"] = random.choice([1, 2, 8, 8])
    found["on_shortage"] = _often(random, "rescale", ["fail", "repeat"], 0.4)
    if "max_epochs" not in found and random.random() < 0.5:
        found["max_epochs"] = random.choice([0.7, 1, 2.5, 8])
    found["copies"] = _curves(random, config)
    if found["copies"] and random.random() < 0.2:
        return {"copies": found["copies"], "by": found["by"], "max": found["max"]}
    if "max_epochs" in found and random.random() < 0.5:
        found["max_epochs"] = _maxima(random, found["max_epochs"], names, found["by"][0])
    return found


def _maxima(random: random.Random, each: float, names: list[str], first: str | dict) -> dict:
    """Maxima of epochs: of each cell, of all, of some cells."""
    some = [0.5, 1, 2.5, 8]
    found: dict = {"each": each}
    if random.random() < 0.5:
        found["all"] = random.choice(some)
    if first == "source":
        found["cells"] = {name: random.choice(some) for name in names if random.random() < 0.5}
    elif isinstance(first, dict) and "quantiles" in first:
        found["cells"] = {"q2": random.choice(some), "none": 1}
    return found


def order(random: random.Random, config: dict) -> str | dict:
    """`shuffle.order` of a configuration that is complete but for it."""
    if random.random() < 0.5:
        return random.choice(["shuffled", "as_found", "as_found"])
    known = ["text_bytes", "text_bytes", "duplicates",
             {"member": config["dedup"]["prefer"]["field"] or "n"}]  # fmt: skip
    if any(one["name"] == "too_short" for one in config["filters"]):
        known.append("chars")
    found = {"by": random.choice(known), "bands": random.choice([1, 2, 3, 8, 256])}
    if random.random() < 0.4:
        found["descending"] = random.random() < 0.7
    if random.random() < 0.2:
        found["missing"] = _often(random, "last", ["fail"], 0.5)
    return found


def _axes(random: random.Random, names: list[str], config: dict) -> list:
    field = config["dedup"]["prefer"]["field"] or "n"
    known = ["source", "duplicates", {"value": "text_bytes", "bins": [100, 500.5, 2000]},
             {"value": "text_bytes", "quantiles": random.choice([2, 3, 7])},
             {"value": "duplicates", "quantiles": 2}, {"member": field},
             {"groups": {"all": names[:1], "others": names[1:]}}]  # fmt: skip
    if len(names) < 2:
        known.pop()
    if any(one["name"] == "too_short" for one in config["filters"]):
        known.append({"value": "chars", "quantiles": 4})
    return random.sample(known, random.choice([1, 1, 2, 3]))


def _curves(random: random.Random, config: dict) -> list[dict]:
    known = [{"by": "duplicates", "curve": {1: 1, 2: 2, 5: 0.5}},
             {"by": "text_bytes", "curve": {0: 0, 300: 1.5}},
             {"by": "text_bytes", "quantiles": {0: 0, 0.4: 1, 0.9: 3}}]  # fmt: skip
    return random.sample(known, random.choice([0, 0, 1, 2]))


def tokenizer(random: random.Random) -> dict:
    """`source` is `train` or the kind of small_tokenizers.py that is to be made."""
    chosen = {
        "source": "train",
        "end_of_text": _often(random, "auto", ["<|endoftext|>"], 0.3),
        "engine": _often(random, "auto", ["reference", "gigatoken"]),
        "train_vocabulary": _often(random, 300, [301, 400, 1000]),
        "max_lost_fraction": _often(random, 0.001, [0, 0.01, 0.2], 0.4),
    }
    if random.random() < 0.45:
        kinds = ["byte-level", "byte-level NFC", "metaspace", "wordpiece", "without fallback"]
        chosen["source"] = random.choice(kinds)
        chosen["engine"] = _often(random, "auto", ["reference"])
        if chosen["source"] in kinds[3:] and random.random() < 0.7:  # these lose characters
            chosen["max_lost_fraction"] = 1
    return chosen


def source_keys(random: random.Random) -> dict:
    """What a milled source may have beside its name and files."""
    keys = {}
    if random.random() < 0.4:
        keys["weight"] = random.choice([0, 0.5, 0.5, 1, 2, 2.5, 3.0, 0.01])
    if random.random() < 0.5:
        keys["priority"] = random.choice([0, 1, 1, 2, 5, 1_000_000])
    if random.random() < 0.3:
        keys["cut_spans"] = random.random() < 0.4
    # Copies are the point here, so a guard at 0.9 would stop half of the runs.
    if random.random() < 0.93:
        keys["max_duplicate_fraction"] = 1
    elif random.random() < 0.5:
        keys["max_duplicate_fraction"] = random.choice([0, 0.1, 0.5])
    return keys


def reached(config: dict) -> dict[str, object]:
    """Key of the schema -> its value in a whole configuration, sources as a list of values."""
    flat = {}
    for section, values in config.items():
        if section in ("sources", "stages"):
            continue
        if section == "filters":
            flat["filters"] = " ".join(one["name"] for one in values) or "none"
            flat["filters.min_chars"] = least_chars(config)
            continue
        for key, value in values.items():
            for deeper, inner in value.items() if isinstance(value, dict) else [(None, value)]:
                flat[f"{section}.{key}" + (f".{deeper}" if deeper else "")] = inner
    flat["stages"] = len(config["stages"])
    budgets = [one.get("budget") for one in [config["mixture"], *config["stages"]]]
    flat["mixture.unit"] = next((unit for one in budgets for unit in one or []), "none")
    flat["mixture.by"] = [
        next(iter({**one})) if isinstance(one, dict) else one for one in config["mixture"]["by"]
    ]
    for key in SCHEMA["sources"]["items"]["properties"]:
        if key not in ("name", "files"):
            flat[f"sources[].{key}"] = [source.get(key) for source in config["sources"]]
    return flat
