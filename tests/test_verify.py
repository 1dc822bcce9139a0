"""`corpusmill verify`: every damage of a finished corpus is told by name, and nothing else."""

import hashlib
import io
import json
import os
import pickle
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from click.testing import CliRunner
from file_server import served
from hypothesis import given
from hypothesis import strategies as st
from workflow import jobs, snakemake

from corpusmill.cli.main import main
from corpusmill.cli.screen import OneLine
from corpusmill.messages.progress import Silence
from corpusmill.mill.decide.fates import SPLITS
from corpusmill.mill.read.ids import keyed_hash
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.storage.files import as_json, own_digest
from corpusmill.mill.tokens.tokenizers import encoder_of
from corpusmill.reader.patience import Patience
from corpusmill.reader.s3_store import S3Store
from corpusmill.run.config import digest_of_shaping
from corpusmill.run.job_progress import Phase
from corpusmill.tools.export.exporting import Exporting
from corpusmill.tools.verify import reading
from corpusmill.tools.verify import verifying as command
from corpusmill.tools.verify.between import differences
from corpusmill.tools.verify.copies import CopySums, copy_numbers, text_numbers
from corpusmill.tools.verify.decoding import Decoder, Spelling
from corpusmill.tools.verify.exports import Export
from corpusmill.tools.verify.files import FilesSeen, look_at_files
from corpusmill.tools.verify.findings import Findings
from corpusmill.tools.verify.kinds import rule_of
from corpusmill.tools.verify.listing import Kept, Listing, name_below_results
from corpusmill.tools.verify.locations import BucketPlace, LocalPlace, PlaceFile, place_of

QUICK = Patience(attempts=3, first_seconds=0.01, longest_seconds=0.02)


@pytest.fixture
def results(every_fate, tmp_path) -> Path:
    """A finished corpus to be spoilt: what is kept of it, and the summary."""
    copy = tmp_path / "results"
    for name in [*listed(every_fate / "results"), "manifest.json", "summary.json"]:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(every_fate / "results" / name, copy / name)
    return copy


def manifest(results: Path) -> dict:
    return json.loads((results / "manifest.json").read_text())


def listed(results: Path) -> list[str]:
    return [file["path"].removeprefix("results/") for file in manifest(results)["files"]]


def verified(results: Path | str, *options: str) -> dict:
    """What the command says as JSON; its exit code is what it says."""
    done = CliRunner().invoke(main, ["verify", str(results), "--json", *options])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    told = json.loads(done.stdout)
    assert done.exit_code == told["exit_code"]
    return told


def said(told: dict, name: str) -> str:
    return "; ".join(damage["what"] for damage in told["damages"] if damage["path"] == name)


def damaged(told: dict) -> set[str]:
    return {damage["path"] for damage in told["damages"]}


def mend(results: Path, change: Callable[[dict], None] = lambda content: None) -> None:
    """Let manifest and summary say what lies there, as whoever hides a change would."""
    content = manifest(results)
    for file in content["files"]:
        data = (results / file["path"].removeprefix("results/")).read_bytes()
        file |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    change(content)
    content["sha256"] = own_digest(content)
    (results / "manifest.json").write_text(as_json(content))
    seal(results / "summary.json", lambda summary: summary.update(manifest=content["sha256"]))


def seal(path: Path, change: Callable[[dict], object]) -> None:
    """Change a file that says its own SHA-256, as whoever hides a change would."""
    edit_json(path, change)
    edit_json(path, lambda content: content.update(sha256=own_digest(content)))


def edit_json(path: Path, change: Callable[[dict], object]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(as_json(content))


# A clean corpus.


@pytest.mark.parametrize("options", [[], ["--deep"]])
def test_verify__of_a_clean_corpus_finds_nothing(every_fate, options):
    told = verified(every_fate / "results", *options)
    assert (told["whole"], told["damages"], told["not_looked_at"]) == (True, [], [])
    assert told["files"] == len(listed(every_fate / "results")) > 60


def test_verify__needs_nothing_but_what_is_kept(results):
    (results / "summary.json").unlink()
    told = verified(results, "--deep")
    assert told["exit_code"] == 0
    assert [one["what"] for one in told["not_looked_at"]] == ["summary.json"]


def test_verify__says_in_words_what_it_read(every_fate, monkeypatch):
    monkeypatch.chdir(every_fate)
    done = CliRunner().invoke(main, ["verify"])
    assert done.exit_code == 0
    *others, last = done.stdout.splitlines()
    assert re.fullmatch(r"Whole: 9\d files, [\d.]+ MB, read at [\d,]+ MB/s\.", last)
    assert others == ["not checked: whether the files agree with one another (--deep checks that)"]


def test_verify__writes_nothing(results):
    def state() -> list:
        return sorted((str(path), path.stat().st_mtime_ns) for path in results.rglob("*"))

    before = state()
    verified(results, "--deep")
    assert state() == before


# Damaged files.


def test_verify__stopped_says_so(results, monkeypatch):
    def look(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "look_at_files", look)
    done = CliRunner().invoke(main, ["verify", str(results)])
    assert (done.exit_code, done.output) == (130, "Stopped. Nothing was changed.\n")


def test_folder__that_cannot_be_listed_is_no_damage(results):
    (results / "exports").write_text("no folder of ours")
    assert verified(results)["exit_code"] == 0
    (results / "exports").unlink()
    (results / "exports").symlink_to("exports")
    told = verified(results)
    assert (told["exit_code"], told["damages"]) == (2, [])
    assert [one["what"] for one in told["not_looked_at"]] == ["exports"]


def one_of_each_kind(results: Path) -> list[str]:
    """A file of every folder and ending, the last."""
    return list({re.sub(r"\d{5}", "", name): name for name in listed(results)}.values())


def flipped(path: Path, other: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def truncated(path: Path, other: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def longer(path: Path, other: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def removed(path: Path, other: Path) -> None:
    path.unlink()


def of_another(path: Path, other: Path) -> None:
    path.write_bytes(other.read_bytes())


def a_folder(path: Path, other: Path) -> None:
    path.unlink()
    path.mkdir()


SAID = {
    flipped: "expected SHA-256", truncated: "cut off", longer: "too long",
    removed: "missing", of_another: "bytes", a_folder: "",
}  # fmt: skip


@pytest.mark.parametrize("options", [[], ["--deep"]])
@pytest.mark.parametrize("damage", SAID)
def test_verify__tells_every_damaged_file(damage, options, results):
    names = [name for name in one_of_each_kind(results) if (results / name).stat().st_size]
    assert len({rule_of(name) for name in names}) == 11
    for name in names:
        damage(results / name, results / "manifest.json")
    told = verified(results, *options)
    assert told["exit_code"] == 1
    assert damaged(told) == set(names)
    for one in told["damages"]:
        assert SAID[damage] in one["what"]
        assert f"rule {one['rule']} rebuilds it" in one["way_out"]


def test_verify__says_whose_content_it_is(results):
    ours, other = (results / f"tokens/train/0000{n}.idx" for n in range(2))
    size = min(ours.stat().st_size, other.stat().st_size)
    for path in (ours, other):
        path.write_bytes(path.read_bytes()[:size])
    mend(results)
    shutil.copyfile(other, ours)
    (damage,) = verified(results)["damages"]
    assert "this is the content of tokens/train/00001.idx" in damage["what"]


def test_way_out__makes_the_rule_run(every_fate, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(every_fate, folder)
    names = [*one_of_each_kind(folder / "results"), "summary.json", "manifest.json"]
    for name in names:
        if name.startswith("tokenizer/"):
            shutil.rmtree(folder / "results/tokenizer", ignore_errors=True)
        else:
            (folder / "results" / name).unlink()
    dry = snakemake(folder, "--configfile", "mine.yaml", "-n", "--quiet", "rules")
    assert {rule_of(name) for name in names} <= set(jobs(dry))


def test_verify__tells_foreign_files_alone(results):
    foreign = ["tokens/train/00099.bin", "corpus/test/extra.parquet", "ledger/00009.parquet",
               "tokens/val2.bin", "tokenizer/added_tokens.json", "tokens/extra/00000.bin",
               "tokens/extra/00000.idx", "corpus/new/deep/00000.jsonl.zst",
               "placements/extra/00000.parquet"]  # fmt: skip
    others = ["tokens/.extra/00000.bin", "tokens/extra/notes.txt",
              "tokens/train/.00099.bin", "tokens/train/notes.txt", "ledger/00000.json",
              "text/00000.arrow", "cut/00000.arrow", "report.html"]  # fmt: skip
    for name in foreign + others:
        (results / name).parent.mkdir(exist_ok=True, parents=True)
        (results / name).write_bytes(b"{}")
    told = verified(results)
    assert told["exit_code"] == 1
    assert damaged(told) == set(foreign)


def test_verify__tells_foreign_files_that_links_lead_to(results):
    (results / "tokens/again").symlink_to("train")
    (results / "tokens/loop").symlink_to(".")
    (results / "tokens/train/00098.bin").symlink_to("00098.bin")
    (results / "tokens/train/00099.bin").symlink_to("/dev/zero")
    assert damaged(verified(results)) >= {"tokens/train/00098.bin", "tokens/train/00099.bin"}


@pytest.mark.parametrize("link", ["tokens/away", "ledger", "tokenizer"])
def test_verify__follows_no_link_out_of_the_results(link, results, tmp_path):
    outside, path = tmp_path / "outside", results / link
    (outside / "more").mkdir(parents=True)
    (outside / "more/mine.parquet").touch()
    (outside / "mine.bin").touch()
    if path.exists():
        shutil.rmtree(path)
    path.symlink_to(outside)
    told = verified(results)
    (left,) = (one for one in told["not_looked_at"] if one["what"] == link)
    assert "a link that leads out of" in left["why"]
    assert "mine" not in json.dumps(told)
    assert told["exit_code"] == (2 if link == "tokens/away" else 1)


def test_verify__tells_what_it_found_beside_a_folder_that_it_cannot_list(results, monkeypatch):
    (results / "corpus/zz/fdinfo").mkdir(parents=True)
    (results / "ledger/00000.parquet").unlink()
    scandir = os.scandir

    def refusing(path: Path) -> Any:
        if Path(path).name == "fdinfo":  # whoever runs the tests may read everything
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("os.scandir", refusing)
    told = verified(results)
    assert (told["exit_code"], damaged(told)) == (1, {"ledger/00000.parquet"})
    assert "corpus/zz/fdinfo" in [one["what"] for one in told["not_looked_at"]]


@pytest.mark.parametrize("folder", ["corpus/train", "ledger"])
def test_verify__tells_gaps_in_numbers(folder, results):
    def take_out(content: dict) -> None:
        content["files"] = [
            one for one in content["files"] if f"{folder}/00000." not in one["path"]
        ]

    mend(results, take_out)
    for path in results.glob(f"{folder}/00000.*"):
        path.unlink()
    told = verified(results, "--deep")
    said = [one["what"] for one in told["damages"] if one["path"] == "manifest.json"]
    assert any(one.startswith(f"{folder}/00000.") for one in said)
    assert "the content of the files" in [one["what"] for one in told["not_looked_at"]]


def test_deep__unpacks_no_endless_line(results, monkeypatch):
    monkeypatch.setattr(reading, "MOST_BYTES", 1 << 20)
    path = results / f"corpus/{SHARD}.jsonl.zst"
    path.write_bytes(zstandard.compress(b'{"text": "' + b" " * (1 << 23)))
    mend(results)
    said = [one["what"] for one in verified(results, "--deep")["damages"]]
    assert any("a line of more than 1,048,576 bytes" in one for one in said)


def test_advice__is_for_where_the_corpus_lies(results):
    store = S3Store("bucket", "a/name/versions/v1", "http://127.0.0.1:1")
    bucket = BucketPlace(store, lambda line: None, QUICK).advice
    assert bucket.damaged("ledger/00000.parquet").endswith(
        "corpusmill publish RESULTS s3://bucket/a/name --version v1"
    )
    assert "unpublish s3://bucket/a/name --version v1" in bucket.damaged("manifest.json")
    where = "s3://bucket/a/name/versions/v1/tokens/train/x.bin"
    assert bucket.foreign("tokens/train/x.bin") == f"delete {where}"
    (results / f"tokens/{SHARD}.idx").unlink()
    with served(results) as server:
        (damage,) = verified(server.address)["damages"]
        assert damage["way_out"] == (
            f"copy tokens/{SHARD}.idx again from the original results folder"
        )
        done = CliRunner().invoke(main, ["verify", f"{server.address}/nowhere"])
    assert "corpusmill run" not in done.stderr
    assert done.stderr.endswith("Name the address of a results folder, or of a published corpus.\n")


# The manifest.


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"generation": 1', '"generation": 2', "its last line gives SHA-256"),
        ('"generation": 1', '"generation":  1', "its last line gives SHA-256"),
        ('"files": [', '"files": {', "it is not a JSON object"),
    ],
)
def test_manifest__that_was_changed(old, new, said, results):
    path = results / "manifest.json"
    path.write_text(path.read_text().replace(old, new))
    told = verified(results)
    assert told["exit_code"] == 1
    assert damaged(told) == {"manifest.json"}
    assert said in told["damages"][0]["what"]


@pytest.mark.parametrize(
    "content", [None, '{"corpusmill.manifest": 2, "files": []}', '{"files": []}']
)
def test_manifest__that_is_none_of_ours(content, results):
    path = results / "manifest.json"
    path.unlink()
    if content:
        path.write_text(content)
    done = CliRunner().invoke(main, ["verify", str(results)])
    assert done.exit_code == 2
    assert re.search("Error: (there is no|.*expected manifest version 1)", done.stderr)
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "results/../../secret", "results/", "results/tokens//x", "results/./x",
     "results/a\\b", "results/\n", "secret", "x/results/../y"],
)  # fmt: skip
def test_manifest__leads_nowhere_else(path, results):
    assert name_below_results(path) is None
    mend(results, lambda content: content["files"][0].update(path=path))
    told = verified(results)
    assert told["exit_code"] == 1
    assert any("it is not followed" in one["what"] for one in told["damages"])


@pytest.mark.parametrize("path", ["results/a/b", "prefix/results/a/b", "results/results/a/b"])
def test_manifest__of_a_workflow_with_a_prefix(path):
    assert name_below_results(path) == "a/b"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bytes": -1}, "not whole numbers"), ({"bytes": "9"}, "not whole numbers"),
        ({"sha256": "ab"}, "no SHA-256"), ({"path": None}, "no path"),
        ({"path": "results/eye_test.txt"}, "listed twice"),
    ],
)  # fmt: skip
def test_manifest__with_an_entry_that_is_none(change, said, results):
    mend(results, lambda content: content["files"][0].update(change))
    told = verified(results)["damages"]
    assert [one["path"] for one in told if said in one["what"]] == ["manifest.json"]


# Changes that manifest and SHA-256 hide, which --deep sees.

SHARD = "train/00001"


def change_parquet(path: Path, **columns: Callable[[list], list]) -> None:
    table = pq.read_table(path)
    for name, change in columns.items():
        field = table.schema.field(name)
        values = pa.array(change(table[name].to_pylist()), field.type)
        table = table.set_column(table.schema.get_field_index(name), field, values)
    pq.write_table(table, path)


def change_text(results: Path) -> None:
    path = results / f"corpus/{SHARD}.jsonl.zst"
    lines = zstandard.decompress(path.read_bytes(), 1 << 26)
    path.write_bytes(zstandard.compress(lines.replace(b"mill", b"till", 1)))


def change_token(results: Path) -> None:
    flip = np.fromfile(results / f"tokens/{SHARD}.bin", "<u2")
    flip[0] += 1
    flip.tofile(results / f"tokens/{SHARD}.bin")


def swap_tokens(results: Path) -> None:
    ids = np.fromfile(results / f"tokens/{SHARD}.bin", "<u2")
    places = next(k for k in range(ids.size) if ids[k] != ids[k + 1])
    ids[[places, places + 1]] = ids[[places + 1, places]]
    ids.tofile(results / f"tokens/{SHARD}.bin")


def change_end(results: Path) -> None:
    ids = np.fromfile(results / f"tokens/{SHARD}.bin", "<u2")
    ids[-1] += 1
    ids.tofile(results / f"tokens/{SHARD}.bin")


def change_id(results: Path) -> None:
    ids = np.fromfile(results / f"tokens/{SHARD}.bin", "<u2")
    ids[0] = 60_000
    ids.tofile(results / f"tokens/{SHARD}.bin")


def change_index(results: Path) -> None:
    starts = np.fromfile(results / f"tokens/{SHARD}.idx", "<u8")
    starts[1] += 1
    starts.tofile(results / f"tokens/{SHARD}.idx")


def drop_line(results: Path) -> None:
    path = next(path for path in (results / "quarantine").iterdir() if path.stat().st_size)
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])


def change_meta(results: Path) -> None:
    path = results / "tokens/meta.pkl"
    meta = pickle.loads(path.read_bytes())
    meta["total_tokens"]["train"] += 1
    path.write_bytes(pickle.dumps(meta, protocol=4))


class Evil:
    def __reduce__(self):
        return (print, ("run",))


def another_fate(fates: list) -> list:
    place = fates.index("too_short")
    return [*fates[:place], "empty", *fates[place + 1 :]]


PLACED, LEDGER = f"placements/{SHARD}.parquet", "ledger/00000.parquet"
TEXT, TOKENS, META = f"corpus/{SHARD}.jsonl.zst", f"tokens/{SHARD}.bin", "tokens/meta.pkl"


def in_parquet(name: str, **columns: Callable[[list], list]) -> Callable[[Path], None]:
    return lambda results: change_parquet(results / name, **columns)


def in_json(name: str, *path: str) -> Callable[[Path], None]:
    """One more of a number."""

    def change(content: dict) -> None:
        for step in path[:-1]:
            content = content[step]
        content[path[-1]] += 1

    return lambda results: edit_json(results / name, change)


def in_numbers(name: str, change: Callable[[np.ndarray], None]) -> Callable[[Path], None]:
    """Change the array in a `.npy` file."""

    def spoil(results: Path) -> None:
        numbers = np.load(results / name)
        change(numbers)
        np.save(results / name, numbers)

    return spoil


def swapped(numbers: np.ndarray) -> None:
    numbers[:2] = numbers[1::-1]


def cut_shorter(spans: np.ndarray) -> None:
    spans[0, 1] -= 1


PACK, PACK_ROWS, PACK_FACTS = (f"tokens/train/pack-64.{end}" for end in ("npy", "rows.npy", "json"))
GROUPS = "tokens/train/groups.npy"

CHANGES = {
    "text": (change_text, {TEXT, TOKENS}),
    "a token": (change_token, {TOKENS}),
    "two tokens": (swap_tokens, {TOKENS}),
    "an end of text": (change_end, {TOKENS}),
    "an id beyond": (change_id, {TOKENS}),
    "index": (change_index, {TOKENS, PLACED}),
    "placed ids": (in_parquet(PLACED, id=lambda ids: ids[::-1]), {TEXT}),
    "placed rows": (in_parquet(PLACED, row=lambda rows: rows[::-1]), {PLACED}),
    "a fate": (in_parquet(LEDGER, fate=another_fate), {"summary.json"}),
    "digests": (in_parquet(LEDGER, digest=lambda all: [n and n ^ 1 for n in all]), {TEXT}),
    "winners": (
        in_parquet("clusters/00000.parquet", winner=lambda ids: ids[::-1]),
        {"clusters/00000.parquet"},
    ),
    "a malformed record": (drop_line, {"quarantine/00001.jsonl"}),
    "totals": (change_meta, {META}),
    "a pickle that calls": (lambda of: (of / META).write_bytes(pickle.dumps(Evil())), {META}),
    "joined": (lambda of: flipped(of / "tokens/train.bin", of), {"tokens/train.bin"}),
    "no Parquet": (lambda of: (of / PLACED).write_bytes(b"PAR1"), {PLACED}),
    "facts of text": (
        in_json(f"corpus/{SHARD}.json", "by_source", "web", "documents"),
        {f"corpus/{SHARD}.json"},
    ),
    "facts of tokens": (
        in_json(f"tokens/{SHARD}.json", "by_source", "web", "tokens"),
        {f"tokens/{SHARD}.json"},
    ),
    "the order of packed rows": (in_numbers(PACK, swapped), {PACK}),
    "a packed piece": (in_numbers(PACK, cut_shorter), {PACK}),
    "the ends of packed rows": (
        in_numbers(PACK_ROWS, lambda ends: np.add(ends, 1, out=ends)),
        {PACK},
    ),
    "no packed rows": (lambda of: (of / PACK).write_bytes(b"\x93NUMPY\x01\x00"), {PACK}),
    "packed rows that do not end": (in_numbers(PACK_ROWS, lambda ends: ends.fill(0)), {PACK}),
    "facts of packed rows": (in_json(PACK_FACTS, "cut_documents"), {PACK_FACTS}),
    "seed of packed rows": (in_json(PACK_FACTS, "seed"), {PACK_FACTS}),
    "packed rows in the summary": (
        in_json("summary.json", "packed", "train", "64", "rows"),
        {"summary.json"},
    ),
    "a source": (in_numbers(GROUPS, lambda all: np.subtract(all.max(), all, out=all)), {GROUPS}),
    "a group that is not there": (in_numbers(GROUPS, lambda all: all.fill(99)), {GROUPS}),
    "no groups": (lambda of: (of / GROUPS).write_bytes(b"\x93NUMPY\x01\x00"), {GROUPS}),
    "tokens of a group": (
        in_json("tokens/train/groups.json", "groups", 0, "tokens"),
        {"tokens/train/groups.json"},
    ),
    "end of text in the summary": (
        in_json("summary.json", "tokenizer", "end_of_text_id"),
        {"summary.json"},
    ),
    "summary": (
        in_json("summary.json", "sources", "web", "documents", "kept"),
        {"summary.json"},
    ),
}


@pytest.mark.some(4)
@pytest.mark.parametrize("change", CHANGES)
def test_deep__sees_what_sums_and_manifest_hide(change, results):
    spoil, names = CHANGES[change]
    spoil(results)
    mend(results)
    assert verified(results)["exit_code"] == 0
    told = verified(results, "--deep")
    assert told["exit_code"] == 1
    assert names <= damaged(told)


def test_deep__misses_a_shard_that_was_taken_out_everywhere(results):
    """The last one: of others the numbers have a gap."""
    bins = [name for name in listed(results) if re.fullmatch(r"tokens/train/\d+\.bin", name)]
    last = max(bins)[-9:-4]

    def take_out(content: dict) -> None:
        content["files"] = [one for one in content["files"] if f"train/{last}" not in one["path"]]

    mend(results, take_out)
    for path in [path for path in results.rglob(f"{last}.*") if path.parent.name == "train"]:
        path.unlink()
    assert verified(results)["exit_code"] == 0
    told = damaged(verified(results, "--deep"))
    assert {"tokens/meta.pkl", "tokens/train.bin", "summary.json"} <= told


@pytest.mark.parametrize("member", ["documents", "tokens"])
def test_deep__holds_the_numbers_of_the_manifest(member, results):
    def change(content: dict) -> None:
        entry = next(one for one in content["files"] if one["path"].endswith(f"tokens/{SHARD}.bin"))
        entry[member] += 1

    mend(results, change)
    assert verified(results)["exit_code"] == 0
    assert f"tokens/{SHARD}.json" in damaged(verified(results, "--deep"))


def test_deep__says_what_it_could_not_look_at(results):
    (results / f"corpus/{SHARD}.jsonl.zst").unlink()
    told = verified(results, "--deep")
    assert damaged(told) == {f"corpus/{SHARD}.jsonl.zst"}
    assert f"whether tokens/{SHARD}.bin matches the text" in [
        one["what"] for one in told["not_looked_at"]
    ]


def other_seed(summary: dict) -> None:
    summary["configuration"]["shuffle"]["seed"] += 1


def other_seed_and_digest(summary: dict) -> None:
    other_seed(summary)
    summary["config_digest"] = digest_of_shaping(summary["configuration"])


@pytest.mark.some(3)
@pytest.mark.parametrize("options", [[], ["--deep"]])
@pytest.mark.parametrize(
    ("edit", "change", "fault"),
    [
        (edit_json, lambda summary: summary.update(balanced=False), "it lists its SHA-256 as"),
        (seal, other_seed, "its configuration has the digest"),
        (seal, other_seed_and_digest, "describes manifest"),
        (seal, lambda summary: summary.update(manifest="0" * 64), "describes manifest 000"),
        (edit_json, dict.clear, ""),  # of an early version, for all that one can say
    ],
)
def test_verify__holds_the_summary_against_itself_and_the_manifest(
    edit, change, fault, options, results
):
    edit(results / "summary.json", change)
    told = verified(results, *options)
    assert fault in said(told, "summary.json")
    assert damaged(told) == ({"summary.json"} if fault else set())


BETWEEN = {
    "text/00000.json": ("by_source", "web", "records"),
    "filter/00000.json": ("by_source", "web", "dropped", "too_short"),
    "assign/00000.json": ("by_source", "web", "duplicates"),
    "ledger/00000.json": ("web", "kept"),
    "admitted.json": ("few", "records"),
    "allowed.json": ("web", "dropped", "empty"),
    "duplicates.json": ("sources", "books", "documents"),
}


def test_deep__holds_what_lies_between_the_steps_against_the_ledger(every_fate, tmp_path):
    results = shutil.copytree(every_fate / "results", tmp_path / "results")
    for name, path in BETWEEN.items():
        in_json(name, *path)(results)
    (results / "assign/00001.json").write_text("{")
    (results / "filter/00001.json").unlink()
    assert verified(results)["exit_code"] == 0
    told = verified(results, "--deep")
    assert damaged(told) == {*BETWEEN, "assign/00001.json"}
    for name, path in BETWEEN.items():
        assert re.search(rf"{re.escape(path[-1])} is \d+, found \d+$", said(told, name))
    assert all("remove it" in damage["way_out"] for damage in told["damages"])


# Counts, decoding, sums.


@given(st.lists(st.text(max_size=30), max_size=6))
def test_spelling__is_what_the_tokenizer_decodes(tiny_tokenizer, texts):
    folder, setting = tiny_tokenizer
    found = [
        ids.astype(np.int64) for ids in encoder_of(folder, setting)([t.encode() for t in texts])
    ]
    spelling = Spelling.of(folder, setting)
    for ids, text in zip(found, texts, strict=True):
        assert spelling.spelled(ids).tobytes() == text.encode()
        other = np.frombuffer(text.encode(), np.uint8).copy()
        other[1::3] ^= 1
        assert spelling.differing(ids, other).tolist() == list(range(1, other.size, 3))


@given(st.lists(st.text(max_size=12), min_size=1, max_size=5), st.data())
def test_unequal__names_the_documents_that_are_other_texts(tiny_tokenizer, texts, data):
    folder, setting = tiny_tokenizer
    end = np.array([setting.end_of_text_id])
    found = [
        np.append(ids, end) for ids in encoder_of(folder, setting)([t.encode() for t in texts])
    ]
    changed = data.draw(st.sets(st.integers(0, len(texts) - 1)))
    now = [f"{text}!" if row in changed else text for row, text in enumerate(texts)]
    column = TextColumn.of(string_array([text.encode() for text in now]))
    lengths = np.array([ids.size for ids in found])
    got = Decoder(folder, "tokenizer").unequal(column, np.concatenate(found), lengths)
    assert {one.row for one in got if one.lost or one.faulty} == changed


@given(
    st.lists(st.tuples(st.integers(0, 99), st.integers(1, 3)), unique_by=lambda one: one[0]),
    st.randoms(),
)
def test_copy_sums__are_those_of_the_set_in_any_order(documents, random):
    ids = np.array([id for id, _ in documents], np.uint64)
    copies = np.array([n for _, n in documents], np.uint16)
    digests = keyed_hash(ids, 1, "text")
    expected = CopySums({"train": 3}, {"train": 7})
    expected.add_kept(ids, {"train": copies}, digests)
    all_copies = [(id, copy) for id, n in documents for copy in range(n)]
    random.shuffle(all_copies)
    held = np.array(all_copies, np.uint64).reshape(-1, 2)
    assert expected.count.sum() == len(all_copies)
    of_copies = copy_numbers(held[:, 0], held[:, 1]).sum(dtype=np.uint64)
    of_texts = text_numbers(held[:, 0], held[:, 1], keyed_hash(held[:, 0], 1, "text"))
    assert expected.of_copies.sum(dtype=np.uint64) == of_copies
    assert expected.of_texts.sum(dtype=np.uint64) == of_texts.sum(dtype=np.uint64)


@given(st.lists(st.integers(0, 99), unique=True), st.integers(1, 4))
def test_copy_sums__of_a_split_that_is_not_shuffled_are_of_all_its_shards(numbers, shards):
    ids = np.array(numbers, np.uint64)
    both = CopySums({"train": shards}, {}), CopySums({"train": shards}, {})
    both[0].add_kept(ids, {"train": np.ones(ids.size, np.uint16)}, ids)
    for shard in range(shards):
        mine = ids[shard::shards]
        both[1].add_held(both[1].place("train", shard), mine, np.zeros(mine.size, np.uint64))
    assert both[0].of_copies.tolist() == both[1].of_copies.tolist()
    assert both[0].count.tolist() == both[1].count.tolist() == [ids.size]


def test_differences__are_told_by_their_path():
    assert differences({"a": {"b": 1}, "c": 2}, {"a": {"b": 1}, "c": 2}) == []
    got = differences({"a": {"b": 1}, "c": 2}, {"a": {"b": 3, "d": 4}})
    assert got == ["a.b is 1, found 3", "a.d is 0, found 4", "c is 2, found 0"]


# Places.


@given(st.binary(max_size=60), st.lists(st.tuples(st.integers(0, 70), st.integers(-1, 30))))
def test_place_file__is_read_as_a_file(tmp_path_factory, data, reads):
    folder = tmp_path_factory.getbasetemp()
    (folder / "some").write_bytes(data)
    got, expected = PlaceFile(LocalPlace(folder), "some", len(data)), io.BytesIO(data)
    for place, size in reads:
        if size % 2:
            got.seek(place)
            expected.seek(place)
        assert got.read(size) == expected.read(size)
        assert got.tell() == expected.tell() or expected.tell() > len(data)


# Exports.


def with_exports(results: Path) -> Path:
    for name, length in (("mds", 64), ("megatron", 64)):
        Exporting(name, results, results / f"exports/{name}", length).write(Silence())
    return results


def test_findings__beyond_the_most_that_are_listed_are_counted(results, monkeypatch):
    monkeypatch.setattr("corpusmill.tools.verify.findings.MOST_LISTED", 2)
    names = listed(results)
    for name in names:
        (results / name).unlink()
    told = verified(results)
    assert len(told["damages"]) == 2
    assert told["unlisted"] == len(names) - 2
    done = command.verified(LocalPlace(results), deep=False)
    lines = [*command.in_words(done)]
    assert f"and {len(names) - 2:,} more, which are left out here" in lines
    assert lines[-1].startswith(f"Damaged: {len(names)} files differ")
    assert all(done.findings.damaged(name) for name in names)


def test_exports__that_are_whole(results):
    told = verified(with_exports(results), "--deep")
    assert (told["exit_code"], told["damages"]) == (0, [])
    assert [one["folder"] for one in told["exports"]] == ["exports/mds", "exports/megatron"]
    of_exports = sum(one["files"] for one in told["exports"])
    assert told["files"] == len(listed(results)) + of_exports
    # The bytes of megatron are those of the shards; those of mds nobody holds against them.
    (unseen,) = told["not_looked_at"]
    assert unseen["what"] == "whether the ids of exports/mds are those of the corpus"


def test_exports__that_are_damaged_say_what_makes_them_anew(results):
    with_exports(results)
    folder = results / "exports/mds"
    first, second, *_ = (
        file["path"] for file in json.loads((folder / "export.json").read_text())["files"]
    )
    (folder / first).unlink()
    with open(folder / second, "ab") as file:
        file.write(b"more")
    (folder / "train/copy.mds").write_bytes(b"")
    told = verified(results)
    expected = {f"exports/mds/{name}" for name in (first, second, "train/copy.mds")}
    assert damaged(told) == expected
    ways = {damage["path"]: damage["way_out"] for damage in told["damages"]}
    command = f"corpusmill export mds {results} --to {folder} --length 64"
    assert f"remove {folder} and rebuild it: {command}" in ways[f"exports/mds/{first}"]
    assert {damage["rule"] for damage in told["damages"]} == {"export"}


def test_export__with_a_blank_in_its_folder_is_made_anew_by_what_is_said():
    listing = Listing({}, {}, "", 0)
    export = Export("exports/mds", "mds", 64, "", listing, "my results", "my results/exports/mds")
    words = ["export", "mds", "my results", "--to", "my results/exports/mds", "--length", "64"]
    assert shlex.split(export.command) == ["corpusmill", *words]


def test_exports__of_another_corpus_and_those_that_nobody_knows(results):
    with_exports(results)
    edit_json(
        results / "exports/mds/export.json", lambda told: told.update(manifest_sha256="0" * 64)
    )
    (results / "exports/megatron/export.json").rename(
        results / "exports/megatron/.export-begun.json"
    )
    (results / "exports/mine").mkdir()
    (results / "exports/spoilt").mkdir()
    (results / "exports/spoilt/export.json").write_text('{"corpusmill.export": 2}')
    told = verified(results)
    said = {damage["path"]: damage["what"] for damage in told["damages"]}
    assert "from another corpus" in said.pop("exports/mds/export.json")
    assert "begun and is not finished" in said.pop("exports/megatron")
    assert "it cannot be identified" in said.pop("exports/mine")
    assert "version 2, expected 1" in said.pop("exports/spoilt/export.json")
    assert not said


@pytest.mark.parametrize("path", ["../mine", "/etc/passwd", "a//b", "a\\b"])
def test_exports__lead_out_of_no_folder(results, path):
    with_exports(results)
    entry = {"path": path, "bytes": 1, "sha256": "0" * 64}
    edit_json(results / "exports/mds/export.json", lambda told: told.update(files=[entry]))
    (damage,) = verified(results)["damages"]
    assert "leads out of the folder" in damage["what"]


def test_exports__alone_are_looked_at_here_and_at_an_address(results, tmp_path):
    shutil.move(with_exports(results) / "exports/mds", tmp_path / "mds")
    done = CliRunner().invoke(main, ["verify", str(tmp_path / "mds")])
    assert done.exit_code == 0, done.output
    told, last = done.stdout.splitlines()
    origin = json.loads((results / "manifest.json").read_text())["sha256"]
    assert told == f"not checked: whether it is the corpus that you mean. Its manifest is {origin}"
    assert last.startswith("Whole: ")
    (tmp_path / "mds/train/index.json").write_text("{}")
    with served(tmp_path) as server:
        assert damaged(verified(f"{server.address}/mds")) == {"train/index.json"}


def test_http__is_looked_at_like_a_folder(results):
    with served(results) as server:
        told = verified(server.address, "--deep")
        assert (told["exit_code"], told["damages"]) == (0, [])
        assert [one["what"] for one in told["not_looked_at"]] == [
            "files that the manifest does not list, and exports"
        ]
        flipped(results / f"tokens/{SHARD}.bin", results)
        (results / f"tokens/{SHARD}.idx").unlink()
        told = verified(server.address)
        assert damaged(told) == {f"tokens/{SHARD}.bin", f"tokens/{SHARD}.idx"}


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        ("reset", 0, None),
        ("500", 2, "the server answered 500"),
        ("403", 2, "the server answered 403"),
    ],
)
def test_http__is_patient_and_says_what_it_could_not_read(fault, code, said, results):
    with served(results) as server:
        always = fault.isdigit()
        server.fault = lambda path, n: fault if "00001.bin" in path and (always or n == 1) else None
        done = command.verified(place_of(server.address, lambda line: None, QUICK), deep=False)
    assert done.findings.code == code
    whys = [one.why for one in done.findings.not_seen if not one.by_design]
    assert all(said in why for why in whys)
    assert bool(whys) == bool(said)


def test_one_line__is_redrawn_on_a_terminal_and_printed_elsewhere(capsys, monkeypatch):
    elsewhere = OneLine()
    elsewhere.show("verifying 1 of 2 files")
    elsewhere.close()
    assert capsys.readouterr().err == "verifying 1 of 2 files\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "10")
    line = OneLine()
    line.show("verifying 1 of 2 files")
    line.close()
    assert capsys.readouterr().err == "\r\x1b[Kverifying\r\x1b[K"


class Endless:
    """A place where a file is stopped at, and the others have no end."""

    def size(self, name: str) -> None:
        return None

    def blocks(self, name: str) -> Iterator[bytes]:
        while name != "stopped":
            yield bytes(64)
        raise KeyboardInterrupt


def test_look_at_files__stopped_waits_for_no_file():
    names = "stopped", "endless", "endless too"
    files = {name: Kept(name, 1 << 60, "0" * 64, None, None) for name in names}
    seen = FilesSeen(Phase("verifying", 0, "MB"), 3, Findings())
    with pytest.raises(KeyboardInterrupt):
        look_at_files(Endless(), Listing(files, {}, "", 0), Findings(), seen)


def test_place__of_another_kind_is_refused():
    done = CliRunner().invoke(main, ["verify", "gs://bucket/results"])
    assert done.exit_code == 2
    assert "expected a folder, or an address of http, https, s3 or hf, found gs" in done.stderr


def test_kinds__have_every_file_of_a_run(every_fate):
    names = listed(every_fate / "results")
    assert [name for name in names if not rule_of(name)] == []
    assert {split for split in SPLITS if f"corpus/{split}/00000.json" in names} == set(SPLITS)
