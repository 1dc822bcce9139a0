"""A troublesome corpus for a seed: the input files of a run, and its configuration."""

import json
import random
import unicodedata
from collections import Counter
from pathlib import Path

from qa.fuzz import configs, files, records, small_tokenizers, texts

MOST_CHARS = 400_000
TEXT_FIELDS = ["text", "text", "text", "content", "body text", "Größe", "id", "corpusmill"]
FOLDERS = ["", "", "", "deep/er/", "part 1/"]
NAMES = [
    "a",
    "b",
    "c",
    "0",
    "10",
    "9",
    "Z",
    "name with spaces",
    "数",
    "é",
    "x.y",
    "semi;colon",
    "it's",
]


def generate(seed: int, folder: Path) -> dict:
    """Write the input files of a run (and sometimes a tokenizer) below `folder`; its config.

    The same seed gives the same bytes. Which kinds of texts and records there are is left in
    made.json, for the figures.
    """
    chance = random.Random(f"corpus {seed}")
    config = configs.settings(chance)
    kinds: Counter = Counter()
    pool = text_pool(chance, configs.whole(config), kinds)
    # Other draws stay as they were before there were policies.
    policy = random.Random(f"policy {seed}")
    config["dedup"]["within"] = configs.within(policy)
    prefer = (*_preferred(chance, config), config["dedup"]["within"])
    config["sources"] = []
    names = chance.sample(
        ["web", "books", "code-2", "A.b", "0", "x_y"], chance.choice([1, 2, 2, 3, 4])
    )
    shares = [chance.random() + 0.05 for _ in names]
    by_source = {name: [] for name in names}
    for text in pool:
        by_source[chance.choices(names, shares)[0]].append(text)
    for name in names:
        config["sources"].append(_source(chance, folder, name, by_source[name], prefer, kinds))
    for name in ["evaluation", "exam"][: chance.choice([0, 0, 1, 1, 2])]:
        config["sources"].append(_held_out(chance, folder, name, pool, kinds))
    chance.shuffle(config["sources"])
    configs.policies(policy, config)
    if config["tokenizer"]["source"] != "train":
        small_tokenizers.write(chance, folder / "tokenizer", config["tokenizer"]["source"])
        kinds[f"tokenizer {config['tokenizer']['source']}"] += 1
        config["tokenizer"]["source"] = "./tokenizer"
    size = sum(len(text.encode()) for text in pool)
    sizes = {"bytes": size, "documents": len(pool), "tokens": size // 3}
    config["mixture"] = configs.mixture(random.Random(f"mixture {seed}"), config, sizes)
    config["stages"] = configs.stages(random.Random(f"stages {seed}"), config, sizes)
    config["shuffle"]["order"] = configs.order(random.Random(f"order {seed}"), config)
    config["output"]["pack"] = configs.lengths(random.Random(f"pack {seed}"))
    kinds[f"prefer {prefer[1]}"] += 1
    (folder / "made.json").write_text(json.dumps(kinds, ensure_ascii=False), "utf-8")
    return config


def _preferred(chance: random.Random, config: dict) -> tuple[str | None, str | None]:
    """Name and kind of the field that duplicates are chosen by."""
    field = config["dedup"]["prefer"]["field"]
    if field is None:
        return None, None
    mixed = chance.random() < 0.08
    return field, "mixed" if mixed else chance.choice(configs.PREFER_KINDS)


def text_pool(chance: random.Random, config: dict, kinds: Counter) -> list[str]:
    """The texts of all milled sources, a profile of kinds that differs from seed to seed."""
    threshold, width = config["dedup"]["threshold"], config["minhash"]["shingle_chars"]
    least = max(1, configs.least_chars(config))
    common = [
        texts.piece(chance, config["spans"]["min_chars"]) for _ in range(chance.randint(3, 12))
    ]
    makers = {
        "near": lambda: texts.near(chance, threshold, width),
        "chain": lambda: texts.chain(chance, threshold, chance.randint(3, 9)),
        "family": lambda: texts.family(chance, chance.randint(2, 12)),
        "prose": lambda: [texts.prose(chance, chance.randint(20, 1500))],
        "odd": lambda: [texts.odd(chance, chance.choice([0, 100, least, 400]))],
        "odd copies": lambda: _forms(texts.odd(chance, chance.choice([0, least, 300]))),
        "tiny": lambda: [texts.tiny(chance)],
        "around min_chars": lambda: [texts.around(chance, least)],
        "unspaced": lambda: [texts.unspaced(chance, chance.choice([10, 100, 300, 1000]))],
        "long line": lambda: [texts.long_line(chance)] if chance.random() < 0.1 else [],
        "patchwork": lambda: [texts.patchwork(chance, common)],
    }
    weights = [chance.choice([0.2, 1, 3]) for _ in makers]
    if config["spans"]["unit"] != "none":
        weights[-1] = 6
    wanted, made = chance.choice([15, 100, 150, 250, 350]), []
    if chance.random() < 0.06:
        made += texts.family(chance, chance.randint(66, 90))
        kinds["family of more than 65"] += 1
    while len(made) < wanted and sum(map(len, made)) < MOST_CHARS:
        kind = chance.choices(list(makers), weights)[0]
        more = makers[kind]()
        kinds[kind] += len(more)
        made += more
    for text in chance.choices(made, k=len(made) // chance.choice([3, 8, 20])):
        made.append(text if chance.random() < 0.6 else texts.variant(chance, text))
        kinds["copy"] += 1
    chance.shuffle(made)
    return made


def _forms(text: str) -> list[str]:
    return [text, *(unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC"))]


def _source(chance, folder: Path, name: str, pool: list[str], prefer, kinds: Counter) -> dict:
    """Write the files of a milled source; its entry in the configuration."""
    entry = {"name": name, "files": []} | configs.source_keys(chance)
    field = chance.choice(TEXT_FIELDS)
    if field != prefer[0] and field != "text":
        entry["text_field"] = field
    field = entry.get("text_field", "text")
    faulty = chance.choice([0, 0, 0, 0.02, 0.1]) if chance.random() < 0.97 else 1
    bad, total = _write_files(chance, folder / "raw" / name, pool, field, prefer, faulty, kinds)
    entry["files"] = _patterns(chance, folder, name)
    if bad:
        entry |= _fraction(chance, bad, total)
    elif chance.random() < 0.2:
        entry["max_malformed_fraction"] = chance.choice([0, 0.5, 1])
    return entry


def _fraction(chance: random.Random, bad: int, total: int) -> dict:
    """Mostly more malformed records than there are, sometimes just as many or too few."""
    kind = chance.random()
    if kind < 0.03:
        return {}
    if kind < 0.06:
        return {"max_malformed_fraction": max(0.0, round(bad / total - 0.001, 6))}
    return {"max_malformed_fraction": bad / total if kind < 0.25 else 1}


def _held_out(chance, folder: Path, name: str, pool: list[str], kinds: Counter) -> dict:
    """Texts of the corpus in one form or another, and others."""
    picked = chance.choices(pool, k=min(len(pool), chance.choice([1, 10, 40])))
    held_out = []
    for text in picked:
        lines = text.split("\n")
        ways = [
            text,
            text,
            *_forms(text)[1:3],
            text.strip(),
            lines[-1],
            "\n".join(lines[1:]),
            lines[0],
        ]
        held_out.append(chance.choice(ways))
    held_out.append(texts.prose(chance, 100))
    faulty = chance.choice([0, 0, 0.1])
    prefer = None, None, None
    root = folder / "raw" / name
    bad, total = _write_files(chance, root, held_out, "text", prefer, faulty, kinds)
    entry = {"name": name, "files": _patterns(chance, folder, name), "held_out": True}
    return entry | (_fraction(chance, bad, total) if bad else {})


def _write_files(
    chance, folder: Path, pool: list[str], field: str, prefer, faulty: float, kinds: Counter
) -> tuple[int, int]:
    """Write the texts to files of all formats; how many records are malformed, and of how many."""
    many = chance.choice([1, 1, 2, 3]) if len(pool) > 3 else 1
    bad = total = 0
    for number, stem in enumerate(chance.sample(NAMES, many)):
        ending = chance.choice(files.ENDINGS)
        path = folder / chance.choice(FOLDERS) / f"{stem}{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        mine = pool[number::many]
        kinds[f"file {ending}"] += 1
        write = _write_parquet if ending == ".parquet" else _write_lines
        counts = write(chance, path, mine, field, prefer, faulty, kinds)
        bad, total = bad + counts[0], total + counts[1]
    if chance.random() < 0.1:
        (folder / "empty.jsonl").write_bytes(b"")
        kinds["file of no bytes"] += 1
    return bad, total


def _write_parquet(chance, path, pool: list, field: str, prefer, faulty: float, kinds) -> tuple:
    bad = [faulty == 1 or chance.random() < faulty for _ in pool]
    values = [
        chance.choice([None, files.NOT_UTF8]) if is_bad else text
        for is_bad, text in zip(bad, pool, strict=True)
    ]
    for column in files.write_parquet(chance, path, field, values, prefer):
        kinds[f"column {column}"] += 1
    kinds["malformed: row of Parquet"] += sum(bad)
    return sum(bad), len(bad)


def _write_lines(chance, path, pool: list[str], field: str, prefer, faulty: float, kinds) -> tuple:
    lines, bad = [], 0
    for text in pool:
        if faulty and chance.random() < faulty:
            fault = chance.choice(records.FAULTS)
            lines.append(records.malformed(chance, field, fault))
            kinds[f"malformed: {fault}"] += 1
            bad += 1
        if faulty == 1:
            continue
        raw = [(field, records.escaped(chance, text)), *records.members(chance, field)]
        if prefer[0] is not None and prefer[0] != field:
            raw = [(name, value) for name, value in raw if name != prefer[0]]
            value = records.preferred(chance, prefer[1])
            raw += [] if value is None else [(prefer[0], value)]
        if prefer[2] in configs.WITHIN:
            raw = records.dumped(f"{path.name} {len(lines)}", prefer[2], raw)
        lines.append(records.line(chance, raw))
    data = files.joined(chance, lines)
    pieces = chance.choice([1, 1, 2, 5])
    path.write_bytes(files.pack(data, files.ending_of(path), pieces))
    return bad, len(lines)


def _patterns(chance: random.Random, folder: Path, name: str) -> list[str]:
    """Patterns that match all files of a source."""
    root = folder / "raw" / name
    paths = sorted(
        path.relative_to(folder).as_posix() for path in root.rglob("*") if path.is_file()
    )
    style = chance.choice(["paths", "paths", "all", "by ending"])
    if style == "all":
        return [f"raw/{name}/**/*"]
    if style == "by ending":
        endings = sorted({files.ending_of(Path(path)) for path in paths})
        return [f"raw/{name}/**/*{ending}" for ending in endings]
    return chance.sample(paths, len(paths))
