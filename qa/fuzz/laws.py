"""Laws that hold whatever the corpus: runs that must come to the same, without an oracle.

Each takes a corpus that no limit refuses and gives a line per fault; none if the law holds.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from workflow import command

from qa.fuzz import configs, files
from qa.fuzz.corpora import generate
from qa.fuzz.facts import digests, fates, ledger, split_of_documents, unlike, unlike_fates
from qa.fuzz.runner import compared, expected, last_words, mill, write_config

FRESH_SEED = 1_000_000
"""Seeds of a law go on in such steps until a corpus suits it."""
ONE_SPLIT = {"validation": 0, "test": 0}


class RunFailedError(Exception):
    """A run of a law that had to end well did not."""


class NotSuitedError(Exception):
    """The corpus of a law has too little for its mixture, which only a run finds out."""


def check(law: str, seed: int, folder: Path) -> list[str]:
    """The faults of a law on the corpus of a seed, in a folder that is made anew."""
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            return LAWS[law](seed, folder)
        except RunFailedError as error:
            return [str(error)]
        except NotSuitedError:
            seed += FRESH_SEED


def corpus(seed: int, folder: Path, suits: Callable[[dict], object] = lambda config: True) -> dict:
    """The first corpus from `seed` on that suits, its limits lifted and its patterns paths."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        config = generate(seed, folder)
        for source in config["sources"]:
            source["files"] = paths_of(folder, source)
            source["max_malformed_fraction"] = 1
            if not source.get("held_out"):
                source["max_duplicate_fraction"] = 1
        config["dedup"]["max_group_texts"] = None
        # At least one source: more may have to agree than are compared.
        most = max(1, sum(source.get("duplicates") != "none" for source in milled(config)))
        config["dedup"]["min_sources"] = min(config["dedup"]["min_sources"], most)
        config["tokenizer"]["max_lost_fraction"] = 1
        if "prefer mixed" in json.loads((folder / "made.json").read_text("utf-8")):
            config["dedup"]["prefer"]["field"] = None
        if suits(config):
            return config
        shutil.rmtree(folder)
        seed += FRESH_SEED


def paths_of(folder: Path, source: dict) -> list[str]:
    found = {path for pattern in source["files"] for path in folder.glob(pattern) if path.is_file()}
    return sorted(path.relative_to(folder).as_posix() for path in found)


def milled(config: dict) -> list[dict]:
    return [source for source in config["sources"] if not source.get("held_out")]


def run(folder: Path, config: dict, cores: int = 1, warm: bool = True):
    done = mill(folder, config, cores=cores, warm=warm)
    if done.returncode:
        told = last_words(done.stdout + done.stderr)
        if "mixture: " in told:
            raise NotSuitedError
        raise RunFailedError(f"{folder.name}: a run failed: {told}")
    return done


def may_come_later(config: dict) -> list[tuple[str, str]]:
    """The files that a run can do without: if sources must agree, each keeps one."""
    sources = milled(config)
    if sum(len(source["files"]) for source in sources) < 2:
        return []
    fewest = 1 if config["dedup"]["min_sources"] == 1 else 2
    found = [source for source in sources if len(source["files"]) >= fewest]
    return [(source["name"], path) for source in found for path in source["files"]]


def copied(folder: Path, name: str) -> Path:
    """The same files, times too, beside `folder` for another run."""
    other = folder.with_name(name)
    shutil.copytree(folder, other)
    return other


def cores(seed: int, folder: Path) -> list[str]:
    """One core or two: the same bytes in every file."""
    config = corpus(seed, folder / "one")
    two = copied(folder / "one", "two")
    run(folder / "one", config)
    run(two, config, cores=2)
    return unlike(digests(folder / "one"), digests(two))


def killed(seed: int, folder: Path) -> list[str]:
    """Killed at some moment, unlocked and run again: the same bytes as never killed.

    Either Snakemake and its job are killed, as by a power cut, or Snakemake alone.
    """
    chance = random.Random(f"kill {seed}")
    config = corpus(seed, folder / "whole")
    broken = copied(folder / "whole", "broken")
    started = time.monotonic()
    run(folder / "whole", config, warm=False)  # as the one that is killed
    took = time.monotonic() - started
    write_config(broken, config)
    for _ in range(chance.choice([1, 1, 2])):
        kill_after(broken, took * chance.uniform(0.1, 0.95), with_jobs=chance.random() < 0.7)
        mill(broken, config, "--unlock")
    run(broken, config)
    return unlike(digests(folder / "whole"), digests(broken))


def kill_after(folder: Path, seconds: float, with_jobs: bool) -> None:
    """Start a run in a process group of its own and kill it, unless it is faster."""
    process = subprocess.Popen(
        command("--configfile", "mine.yaml", "--cores", "1"), cwd=folder, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        if with_jobs:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()


def settings_back(seed: int, folder: Path) -> list[str]:
    """Settings changed and changed back: the same bytes as before, and no file more. What comes
    of the run in between does not matter: it may be one that has to be refused.
    """
    chance = random.Random(f"settings {seed}")
    config = corpus(seed, folder)
    run(folder, config)
    before = digests(folder)
    others = configs.settings(chance)
    others["tokenizer"] = config["tokenizer"]
    others["dedup"]["max_group_texts"] = None
    others["dedup"]["prefer"] = config["dedup"]["prefer"]
    sections = ["minhash", "dedup", *chance.sample(sorted(set(others) - {"minhash", "dedup"}), 3)]
    mill(folder, config | {section: others[section] for section in sections})
    run(folder, config)
    return unlike(before, digests(folder))


def file_added(seed: int, folder: Path) -> list[str]:
    """A file that comes later: old documents keep id, text and split. With earlier_first and
    resolve `kept` none that was kept is a duplicate now. (With `component` it may be: a new
    document can join what did not hang together.) And all is as the oracle has it.
    """
    config = corpus(seed, folder, may_come_later)
    chance = random.Random(f"added {seed}")
    late = chance.choice(may_come_later(config))
    early = [
        source | {"files": [path for path in source["files"] if (source["name"], path) != late]}
        for source in config["sources"]
    ]
    run(folder, config | {"sources": [source for source in early if source["files"]]})
    before, old_parts = ledger(folder), split_of_documents(folder)
    done = run(folder, config)
    after, parts = ledger(folder), split_of_documents(folder)
    changed = [part for part in old_parts if old_parts[part] != parts[part]]
    faults = [f"part {part}: texts or splits changed" for part in changed]
    keeps = config["dedup"]["earlier_first"] and config["dedup"]["resolve"] == "kept"
    for place, row in before.items():
        if after[place]["id"] != row["id"]:
            faults.append(f"{place}: id {row['id']} became {after[place]['id']}")
        if keeps and row["fate"] == "kept" and after[place]["fate"] == "duplicate":
            faults.append(f"{place}: was kept, is a duplicate of {after[place]['winner']}")
    plan = (folder / "results/plan/parts.jsonl").read_text("utf-8").splitlines()[1:]
    planned = [[file["path"] for file in json.loads(line)["files"]] for line in plan]
    outcome = expected(folder, config, generations={late[1]: 2}, parts=planned)
    return faults + compared(folder, done, outcome)


def without_chance(config: dict) -> dict:
    """The same with nothing that depends on ids: everything in train, once."""
    sources = [{k: v for k, v in source.items() if k != "weight"} for source in config["sources"]]
    return config | {"splits": ONE_SPLIT, "sources": sources, "mixture": {}, "stages": []}


def file_split(seed: int, folder: Path) -> list[str]:
    """A file cut in two at a line: ids change, and so do split and order. What stays, without
    them, is what became of every record, and for which other one it was dropped.
    """

    def has_lines(config: dict) -> bool:
        return any(path.endswith(".jsonl") for s in milled(config) for path in s["files"])

    config = without_chance(corpus(seed, folder / "whole", has_lines))
    cut = copied(folder / "whole", "cut")
    long = max(
        (path for s in milled(config) for path in s["files"] if path.endswith(".jsonl")),
        key=lambda path: (cut / path).stat().st_size,
    )
    lines = files.read_lines(cut / long)
    half = len(lines) // 2
    # Both sort where the whole one did: no other name begins like it.
    first, second = long.replace(".jsonl", ".0.jsonl"), long.replace(".jsonl", ".1.jsonl")
    (cut / first).write_bytes(b"".join(lines[:half]))
    (cut / second).write_bytes(b"".join(lines[half:]))
    sources = [
        source | {"files": sorted({*source["files"], first, second} - {long})}
        if long in source["files"]
        else source
        for source in config["sources"]
    ]
    run(folder / "whole", config)
    run(cut, config | {"sources": sources})

    def in_whole(place: tuple[str, int]) -> tuple[str, int]:
        file, line = place
        return (long, line + half * (file == second)) if file in (first, second) else place

    return unlike_fates(fates(folder / "whole"), fates(cut, in_whole))


def order_of_files(seed: int, folder: Path) -> list[str]:
    """Patterns in another order, or one for all files: the same bytes."""
    config = corpus(seed, folder / "paths")
    other = copied(folder / "paths", "patterns")
    chance = random.Random(f"order {seed}")
    sources = [
        source | {"files": chance.choice([source["files"][::-1], [f"raw/{source['name']}/**/*"]])}
        for source in config["sources"]
    ]
    run(folder / "paths", config)
    run(other, config | {"sources": sources})
    but = ("rules", "config_digest", "configuration", "manifest", "sha256")
    return unlike(digests(folder / "paths", but), digests(other, but))


def source_doubled(seed: int, folder: Path) -> list[str]:
    """A source once more under another name, at the end: what became of the old records stays,
    and the new ones are dropped as the old ones are, or as their duplicates.

    Without splits, weights and spans: these go by id, and every span would be a repeated one.
    """
    config = without_chance(corpus(seed, folder / "once"))
    # A source with a policy may keep what it has twice, and a doubled one agrees with itself.
    config["sources"] = [
        {key: value for key, value in source.items() if key != "duplicates"}
        for source in config["sources"]
    ]
    config["dedup"]["min_sources"] = 1
    config["spans"] = configs.SHIPPED["spans"]
    twice = copied(folder / "once", "twice")
    source = random.Random(f"double {seed}").choice(milled(config))
    name = source["name"]
    shutil.copytree(twice / "raw" / name, twice / "raw/again")
    paths = [path.replace(f"raw/{name}/", "raw/again/", 1) for path in source["files"]]
    run(folder / "once", config)
    again = source | {"name": "again", "files": paths}
    run(twice, config | {"sources": [*config["sources"], again]})
    before, after = fates(folder / "once"), fates(twice)
    old = {place: facts for place, facts in after.items() if facts["source"] != "again"}
    faults = unlike_fates(before, old)
    for (file, line), facts in after.items():
        if facts["source"] == "again":
            first = before[file.replace("raw/again/", f"raw/{name}/", 1), line]
            filtered = first["fate"] in ("malformed", "empty", "too_short")
            if facts["fate"] != (first["fate"] if filtered else "duplicate"):
                faults.append(f"{file}:{line}: {facts['fate']}, the first time {first['fate']}")
    return faults


LAWS: dict[str, Callable[[int, Path], list[str]]] = {
    "cores": cores,
    "killed": killed,
    "settings-back": settings_back,
    "file-added": file_added,
    "file-split": file_split,
    "order-of-files": order_of_files,
    "source-doubled": source_doubled,
}
