"""Files of another recipe, brought back with their sums: refused, or made anew, or read by nobody.

A corpus is milled as it is, with other settings, with other inputs, and by other code. One file of
every kind of another run is laid over its like in a copy of the first, and the step that reads it
is run again: what comes out has to be what was there, to the byte.
"""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner
from warm import FIRST

from corpusmill.cli.main import main
from corpusmill.mill.storage.sums import sums_path
from corpusmill.tools.verify.kinds import rule_of
from qa.campaigns import corpus
from qa.campaigns.runs import ran
from qa.kinds_of_files import READ_BY, READ_BY_NOBODY, kind_of

OTHERS = ("settings", "input", "code")
"""In what the other runs differ."""
NEXT = READ_BY | {
    "plan/columns.arrow": ["gather"],
    "corpus/{split}/{n}.parquet": ["verify"],
    "allowed.json": ["pair"],
    "verify/{split}/{n}.json": ["manifest"],
    "ledger/{n}.parquet": ["manifest"],
    "tokens/{joined}.bin": ["manifest"],
    "eye_test.txt": ["summarize"],
    "plan/record.json": [""],  # every run
    "plan/recipes": [""],
}
"""By kind the rules that read it, or that wait for it."""
ALL_AT_ONCE = "all kinds at once"
COUNTED = {"text/{n}.json", "filter/{n}.json", "assign/{n}.json", "ledger/{n}.json",
           "admitted.json", "allowed.json", "duplicates.json"}  # fmt: skip
"""What `verify --deep` holds against the ledger, beside what is kept."""


@dataclass
class Seen:
    """What came of a file that was brought back."""

    kind: str
    other: str
    came: str
    """refused, remade, harmless, or accepted: that is the fault."""
    said: str
    verify: str
    """What `corpusmill verify` and `verify --deep` say before any run: damaged, whole, ..."""
    deep: str

    @property
    def faults(self) -> list[str]:
        return [f"{self.kind} is accepted: {self.said}"] if self.came == "accepted" else []


def made(folder: Path, other: str) -> Path:
    """A run, other in something than that of the corpus as it is."""
    config = corpus.corpus(folder)
    # One part, and a shard of each split: of every kind one file is enough.
    config["input"]["part_bytes"] = config["output"]["shard_bytes"] = 10_000_000
    if other == "settings":
        config["normalize"] = {"mode": "none"}
        config["spans"]["min_chars"] = 70
        config["filters"][-2]["min_chars"] = 120
        config["minhash"] = {"seed": 5}
        config["shuffle"] = {"seed": 5}
        config["tokenizer"]["train_vocabulary"] = 410
        config["output"]["shard_bytes"] = 10_000_001
    corpus.write_config(folder, config)
    if other == "input":
        for path in (folder / "raw").rglob("*.jsonl"):
            with open(path, "a") as file:
                file.write(json.dumps({"text": f"{corpus.every_fate.long(7777)} {path}"}) + "\n")
    environment = {FIRST: "qa.campaigns.other_code"} if other == "code" else {}
    done = ran(folder, cores=2, **environment)
    if done.code:
        raise RuntimeError(done.fault())
    return folder


def kinds(whole: Path, folder: Path) -> dict[str, Path]:
    """By kind a file of both runs that the other made otherwise."""
    found: dict[str, Path] = {}
    results = whole / "results"
    for path in sorted(path for path in results.rglob("*") if path.is_file()):
        name = path.relative_to(results)
        like = folder / "results" / name
        if path.name[0] == "." or not like.exists() or kind_of(name) in found:
            continue
        both = [one.read_bytes() for file in (path, like) for one in (file, sums_path(file))
                if one.exists()]  # fmt: skip
        if both[: len(both) // 2] != both[len(both) // 2 :]:
            found[kind_of(name)] = name
    return found


def bring_back(name: Path, of: Path, to: Path) -> None:
    """With its sums; of a folder that is made as a whole, the whole folder."""
    if name.parts[0] == "tokenizer":
        shutil.rmtree(to / "results/tokenizer")
        shutil.copytree(of / "results/tokenizer", to / "results/tokenizer")
        return
    for path in (of / "results" / name, sums_path(of / "results" / name)):
        if path.exists():
            at = to / path.relative_to(of)
            at.unlink()
            shutil.copyfile(path, at)  # it is of now, so that its step is believed


def asked(kind: str) -> list[str]:
    """Arguments of a run of the step that follows, and of nothing behind it."""
    rule = NEXT.get(kind, ["export" if kind.startswith("exports/") else "report"])[0]
    return ["-R", rule, "--until", rule] if rule else []


def looked_at(folder: Path, name: str, *options: str) -> str:
    """What verify says of a file that it looks at; of a whole folder without a name."""
    if name and not (rule_of(name) or kind_of(Path(name)) in COUNTED):
        return "-"
    before = Path.cwd()
    os.chdir(folder)
    try:
        done = CliRunner().invoke(main, ["verify", "--json", *options])
    finally:
        os.chdir(before)
    told = json.loads(done.stdout)
    named = {damage["path"] for damage in told["damages"]}
    if name in named or (
        name.startswith("exports/") and any(p.startswith("exports/") for p in named)
    ):
        return "damaged"
    return f"damaged ({', '.join(sorted(named)[:2])})" if named else "whole"


def tried(kind: str, name: Path, other: str, of: Path, whole: Path, folder: Path) -> Seen:
    """A copy of the whole run with a file of another, and the step run that follows."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder, symlinks=True)
    bring_back(name, of, folder)
    quick, deep = (looked_at(folder, str(name), *options) for options in ((), ("--deep",)))
    return seen(kind, [name], other, ran(folder, *asked(kind)), folder, whole, quick, deep)


def at_once(other: str, of: Path, whole: Path, folder: Path) -> Seen:
    """All kinds at once, and a run that is asked for nothing but all."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder, symlinks=True)
    found = kinds(whole, of)
    # A run refuses a record and a summary of two runs.
    names = [found[kind] for kind in found if kind not in ("plan/record.json", "summary.json")]
    for name in names:
        bring_back(name, of, folder)
    quick, deep = (looked_at(folder, "", *options) for options in ((), ("--deep",)))
    return seen(ALL_AT_ONCE, names, other, ran(folder, cores=2), folder, whole, quick, deep)


def seen(kind, names: list[Path], other: str, done, folder: Path, whole: Path, quick, deep) -> Seen:
    unlike = set(corpus.unlike(corpus.results(folder), corpus.results(whole)))
    own = {str(path.relative_to("/")) for name in names
           for path in (Path("/") / name, sums_path(Path("/") / name))}  # fmt: skip
    if done.code:
        came = "refused" if any(str(name) in done.said for name in names) else "accepted"
    elif not unlike:
        came = "remade"
    else:
        came = "harmless" if unlike <= own and kind in READ_BY_NOBODY else "accepted"
    told = done.said[-1500:] if done.code else ", ".join(sorted(unlike)[:5])
    return Seen(kind, other, came, told, quick, deep)


def each(others: list[str], only: str, base: Path) -> Iterator[Seen]:
    """All kinds, one after another, of every other run."""
    whole = made(base / "whole", "")
    for other in others:
        of = made(base / other, other)
        if only in ALL_AT_ONCE:
            yield at_once(other, of, whole, base / "run")
        for kind, name in kinds(whole, of).items():
            if only in kind:
                yield tried(kind, name, other, of, whole, base / "run")


def table(all_seen: list[Seen]) -> Iterator[str]:
    """A line per kind: what came of it, by what the other run differed in; what verify says."""
    others = [other for other in OTHERS if any(one.other == other for one in all_seen)]
    yield f"| kind | {' | '.join(others)} | verify | verify --deep |"
    yield f"|---|{len(others) * '---|'}---|---|"
    for kind in dict.fromkeys(one.kind for one in all_seen):
        mine = {one.other: one for one in all_seen if one.kind == kind}
        came = [mine[other].came if other in mine else "same" for other in others]
        looks = [
            " / ".join(dict.fromkeys(look))
            for look in ([one.verify for one in mine.values()], [one.deep for one in mine.values()])
        ]
        yield f"| `{kind}` | {' | '.join([*came, *looks])} |"
