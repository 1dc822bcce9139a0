"""A results folder that an enemy made: no command runs, imports or unpickles what lies in it."""

import json
import os
import pickle
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
import zstandard
from attacked import attacked
from click.testing import CliRunner
from handmade import write_bytes
from test_verify import edit_json, mend
from workflow import ROOT, mill

from corpusmill.cli.main import main
from corpusmill.cli.running import snakemake_command
from corpusmill.mill.account.cross_checks import Facts, contradictions
from corpusmill.mill.account.mixture_account import Mixed
from corpusmill.mill.filters.configured import ConfiguredFilter
from corpusmill.mill.storage.arrays import StoredArray
from corpusmill.mill.storage.files import save_json, writing
from corpusmill.mill.storage.plain_pickles import plain_values
from corpusmill.mill.storage.streams import ReadLimits
from corpusmill.mill.storage.sums import DamagedError
from corpusmill.mill.storage.untrusted import MOST_BYTES
from corpusmill.run.job_list import RuleJobs, save_job_list
from corpusmill.run.job_state import state_file
from corpusmill.tools.prove.run import refuse_own_code
from corpusmill.tools.tune.estimate.trial import _snakemake
from corpusmill.tools.verify.exports import MOST_FOREIGN
from corpusmill.tools.verify.findings import NoCorpusError
from corpusmill.tools.why.parquet_rows import Rows
from corpusmill.tools.why.results import MOST_PARTS, Results
from corpusmill.tools.why.texts import limits_of

READER = """
from corpusmill.mill.read.readers import Reader, record

class Lines(Reader):
    ending = ".own"
    def read(self, path, text_field, progress):
        with open(path) as lines:
            for number, line in enumerate(lines, 1):
                yield record(number, line.strip(), {})
"""


class Runs:
    """What an enemy pickles."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self._marker),)


@pytest.fixture
def run(every_fate, tmp_path) -> Path:
    shutil.copytree(every_fate, tmp_path / "run")
    return tmp_path / "run"


def armed(run: Path) -> Path:
    """Everywhere where code could be named or lie, such that leaves a mark; where that would be."""
    results, marker = run / "results", run / "ran"
    evil = run / "evil.py"
    evil.write_text(f"import os\nos.makedirs({str(marker)!r}, exist_ok=True)\n{READER}")
    for folder in (results, run, results / "tokenizer", results / "plan"):
        for name in ("evil", "sitecustomize", "conftest", "numpy", "corpusmill"):
            (folder / f"{name}.py").write_text(evil.read_text())
    (results / "tokens/meta.pkl").write_bytes(pickle.dumps(Runs(marker)))

    def named(summary: dict) -> None:
        config = summary["configuration"]
        config["input"]["readers"] = [str(evil)]
        config["filters"].append({"name": "evil", "file": str(evil)})
        config["tokenizer"]["source"] = str(results / "tokenizer")

    edit_json(results / "summary.json", named)
    config = {"auto_map": {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}, "tokenizer_class": "Evil"}
    edit_json(results / "tokenizer/tokenizer_config.json", lambda told: told.update(config))
    edit_json(results / "tokenizer/corpusmill.json", lambda told: told.update(light=False))
    for between in ("text", "cut", "edited"):
        for path in (results / between).glob("*.arrow"):
            path.unlink()
    mend(results)
    return marker


def test_commands__run_nothing_that_they_find(run):
    marker = armed(run)
    kept = next(iter((run / "raw/books").glob("*.parquet")))
    answers = attacked(
        {
            "why, an id": ["why", "0"],
            "why, a record": ["why", f"{kept.relative_to(run)}:3"],
            "why, a token": ["why", "tokens/train/00000.bin:5"],
            "why, a text": ["why", "--text", "there is no such text"],
            "why, a list": ["why", "--dropped", "--json"],
            "verify": ["verify"],
            "verify, deep": ["verify", "--deep"],
            "prove": ["prove"],
            "eye-test": ["eye-test"],
            "export": ["export", "nanogpt"],
            "publish": ["publish", "results", *PUBLISH],
            "watch": ["watch"],
            "stream": ["stream", "results"],
        },
        run,
    )
    assert {name: answer.problems() for name, answer in answers.items() if answer.problems()} == {}
    assert not marker.exists()
    assert "uses custom code" in answers["prove"].said
    assert "tokens/meta.pkl" in answers["verify, deep"].said


def test_why__takes_a_reader_from_the_command_line_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reader.py").write_text(READER)
    texts = [f"The {name} text of a format that nobody else reads." for name in ("one", "other")]
    (tmp_path / "raw.own").write_text("\n".join(texts))
    mill(tmp_path, {
        "sources": [{"name": "own", "files": ["raw.own"]}], "input": {"readers": ["reader.py"]},
        "filters": [], "splits": {"validation": 0, "test": 0},
        "tokenizer": {"source": "train", "train_vocabulary": 300},
    })  # fmt: skip
    shutil.rmtree("results/text")
    left = CliRunner().invoke(main, ["why", "0"])
    told = " ".join(left.stdout.split())
    assert (left.exit_code, "corpusmill why --reader FILE" in told) == (0, True), told
    read = CliRunner().invoke(main, ["why", "0", "--reader", "reader.py"])
    assert (read.exit_code, texts[0] in read.stdout) == (0, True), read.output


def test_prove__runs_the_code_that_the_user_names(run, monkeypatch):
    monkeypatch.chdir(run)
    edit_json(
        run / "results/summary.json",
        lambda told: told["configuration"]["filters"].append({"name": "e", "file": "e.py"}),
    )
    refused = CliRunner().invoke(main, ["prove"])
    assert refused.exit_code == 2
    assert "summary.json uses custom code, e.py, which runs only if" in refused.stderr
    proven = CliRunner().invoke(main, ["prove", "mine.yaml", "--parts", "1", "--shards", "0"])
    assert proven.exit_code == 0, proven.output


def test_summarize__unpickles_plain_values_alone(tmp_path):
    evil = pickle.dumps({"total_tokens": Runs(tmp_path / "ran")})
    with writing(tmp_path / "results/tokens/meta.pkl", kept=True) as file:
        file.write(evil)
    names = ("admitted", "allowed", "duplicates")
    files = {name: tmp_path / f"results/{name}.json" for name in names}
    for file in files.values():
        save_json(file, {"sources": {}, "dropped": {}})
    facts = Facts([], [], [], **files, scattered=[], meta=tmp_path / "results/tokens/meta.pkl")
    with pytest.raises(ValueError, match=r"meta\.pkl: expected a pickle of plain numbers and text"):
        contradictions({}, facts, [], Mixed({}, 0))
    assert not (tmp_path / "ran").exists()


PICKLES = {
    "nothing": b"", "a call": pickle.dumps(Runs(Path("x"))), "a list": pickle.dumps([1]),
    "a large memo": b"\x80\x04r\xff\xff\xff\x7f.", "no end": b"\x80\x04}(",
    "an empty stack": b"\x80\x04.", "no memo": b"\x80\x04h\x09.", "a name": b"cos\nsystem\n.",
    "other keys": pickle.dumps({1: 2}, 4), "deep dicts": pickle.dumps({"a": {"b": {"c": 1}}}, 4),
    "an extension": b"\x80\x04\x82\x01.", "a float": pickle.dumps({"a": 1.5}, 4),
    "a long text": b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fx.",
}  # fmt: skip


@pytest.mark.parametrize("kind", PICKLES)
def test_plain_values__of_anything_else_are_refused(kind):
    with pytest.raises(ValueError, match=r"^meta: expected a pickle of plain numbers and texts"):
        plain_values(PICKLES[kind], "meta")


def test_plain_values__are_those_that_were_pickled():
    meta = {"tokenizer": "train", "vocab_size": 1 << 40, "total_tokens": {"train": 3, "": -1}}
    assert plain_values(pickle.dumps(meta, 4), "meta") == meta


def test_run_and_estimate__import_nothing_of_the_folder(run, monkeypatch):
    """Beside somebody's data lie modules called as those that Python imports first."""
    monkeypatch.chdir(run)
    for name in ("snakemake", "json", "random", "numpy", "corpusmill"):
        (run / f"{name}.py").write_text("open('ran', 'w').close()\n")
    for profile in ("profiles/default", "default"):
        (run / profile).mkdir(parents=True)
        told = 'config: ["input={readers: [json.py]}"]\ndirectory: elsewhere\nnonsense: 1\n'
        (run / profile / "config.yaml").write_text(told)
    commands = [snakemake_command([Path("mine.yaml")], ["--dry-run", "--cores", "1"])]
    (run / "elsewhere").mkdir()
    commands.append(_snakemake(run / "elsewhere", {}, "--version"))
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert not (run / "ran").exists()


def without_sums(run: Path) -> Path:
    """The tokenizer of a copy of the results: sums are no part of a corpus."""
    for path in (run / "results/tokenizer").glob(".*.sums"):
        path.unlink()
    return run / "results/tokenizer"


@pytest.mark.parametrize("kind", ["deep lists", "a far id"])
def test_prove__of_a_plain_definition_that_harms_is_not_ended(kind, run):
    path = without_sums(run) / "corpusmill-plain.json"
    if kind == "deep lists":
        path.write_text('{"model":' + "[" * 100_000)
    else:
        edit_json(path, lambda told: told["model"]["vocab"].update(far=4294967290))
    mend(run / "results")
    (answer,) = attacked({"": ["prove", "--parts", "0", "--shards", "1"]}, run).values()
    assert (answer.problems(), answer.code) == ([], 1), answer.said
    assert "corpusmill-plain.json: expected content written by corpusmill, found" in answer.said


@pytest.mark.parametrize("kind", ["a FIFO", "a device", "10 GB", "deep lists"])
def test_watch__of_an_announcement_that_is_none_is_refused(kind, tmp_path):
    announcement = tmp_path / "logs/announced.json"
    announcement.parent.mkdir()
    makes = {
        "a FIFO": lambda: os.mkfifo(announcement),
        "a device": lambda: announcement.symlink_to("/dev/zero"),
        "10 GB": lambda: (announcement.touch(), os.truncate(announcement, 10 << 30)),
        "deep lists": lambda: announcement.write_text('{"before":' * 50_000),
    }
    makes[kind]()
    (answer,) = attacked({"watch": ["watch", "--json"]}, tmp_path).values()
    assert answer.problems() == []
    assert "logs/announced.json: " in answer.said


def test_watch__of_states_with_numbers_that_are_none_is_no_fault(tmp_path):
    log = tmp_path / "logs/normalize/00000.log"
    for number, told in enumerate([
        '{"state": "finished", "seconds": "9.9.9.9"}',
        f'{{"state": "finished", "seconds": 9, "memory_mb": {"9" * 5000}}}',
        f'{{"state": "running", "memory_mb": {"9" * 4000}}}',
        f'{{"state": "running", "process": {"9" * 30}, "host": "{os.uname().nodename}"}}',
        '{"state": "running", "began": -1e300, "seconds": 1e300}',
    ]):  # fmt: skip
        save_job_list({"normalize": RuleJobs(1, ["logs/normalize/00000.log"])},
                      tmp_path / "logs/jobs.json", str(number))  # fmt: skip
        write_bytes(state_file(log), told.encode())
        log.touch()
        (answer,) = attacked({"watch": ["watch", "--json"]}, tmp_path).values()
        assert answer.problems() == []


def test_results__of_more_lines_than_parts_are_refused(tmp_path):
    shipped = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
    write_bytes(tmp_path / "results/summary.json", json.dumps({"configuration": shipped}).encode())
    write_bytes(tmp_path / "results/plan/parts.jsonl", b"{}" + b"\n" * (MOST_PARTS + 2))
    with pytest.raises(ValueError, match=r"parts\.jsonl: expected at most 100,000 lines"):
        assert Results(tmp_path / "results").parts


def test_limits__of_a_foreign_configuration_are_bounded():
    def line_bytes(given: int) -> int:
        config = SimpleNamespace(input=SimpleNamespace(limits=ReadLimits(given, 27)))
        return limits_of(SimpleNamespace(config=config)).line_bytes

    assert line_bytes(1 << 40) == MOST_BYTES
    assert line_bytes(1000) == 1000


CUT_WHILE_READ = """
import os, sys
import pyarrow as pa, pyarrow.parquet as pq
from pathlib import Path
from corpusmill.tools.why.parquet_rows import Rows
path = Path(sys.argv[1])
pq.write_table(pa.table({"a": list(range(100_000))}), path)
file = Rows(path)
os.truncate(path, 0)
try:
    file.columns("a")
except ValueError as error:
    print(error)
"""


def test_why__of_a_ledger_that_is_cut_while_it_is_read_is_a_sentence(tmp_path):
    command = [sys.executable, "-c", CUT_WHILE_READ, str(tmp_path / "a.parquet")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "a.parquet: expected a table written by corpusmill" in done.stdout


def test_why__of_no_parquet_names_the_file(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"no Parquet at all")
    with pytest.raises(ValueError, match=r"a\.parquet: expected content written by corpusmill"):
        Rows(tmp_path / "a.parquet")


def npy(descr: str, shape: str) -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header


@pytest.mark.parametrize(
    ("descr", "shape"),
    [("'|O'", "(1,)"), ("'<u4'", "(1 << 40,)"), ("'<u4'", "(1000000000000, 8)"),
     ("'<u4'", "(-1, 8)"), ("'<u4'", "()"), ("5", "(1,)")],
)  # fmt: skip
def test_stored_array__of_another_header_names_the_file(descr, shape, tmp_path):
    write_bytes(tmp_path / "results/a.npy", npy(descr, shape) + bytes(8))
    with pytest.raises(DamagedError, match=r"results/a\.npy: not an array of corpusmill"):
        StoredArray.open(tmp_path / "results/a.npy")


NO_INDEX = {
    "pack-64.json": [b"[]", b"null", b'{"seed": "x"}', b'{"seed": -1}', b"5", b"\x93NUMPY"],
    "pack-64.npy": [
        b"", npy("'<u8'", "(1000000000000, 2)"), npy("'<u8'", "(0, 2)"), npy("'|O'", "(1, 2)"),
        npy("'<u8'", "(1, 2)") + bytes(16), npy("'<u8'", "(2,)") + bytes(16),
    ],
    "pack-64.rows.npy": [
        b"", npy("'<u8'", "(0,)"), npy("'<u8'", "(1,)") + bytes(8),
        npy("'<u8'", "(2,)") + b"\xff" * 16, npy("'<u8'", "(2,)") + bytes(8) + b"\xff" * 8,
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content"), [(name, one) for name, all in NO_INDEX.items() for one in all]
)
def test_verify__refuses_an_index_of_packed_rows(name, content, run):
    path = run / "results/tokens/train" / name
    path.unlink()
    path.write_bytes(content)
    mend(run / "results")
    commands = {"verify": ["verify", "--deep"], "stream": ["stream", "results"]}
    for command, answer in attacked(commands, run).items():
        if (command, path.suffix) != ("stream", ".json"):  # which the reader does not read
            assert answer.code == 1
            assert answer.problems() == []
            assert "tokens/train/pack-64." in answer.said


def exported(run: Path) -> Path:
    folder = run / "results/exports/nanogpt"
    (answer,) = attacked({"": ["export", "nanogpt", "results", "--to", str(folder)]}, run).values()
    assert answer.code == 0, answer.said
    return folder


def test_verify__tells_few_of_the_files_that_a_link_in_an_export_leads_to(run):
    folder, many = exported(run), run / "results/many"
    many.mkdir()
    for number in range(MOST_FOREIGN + 50):
        (many / f"{number}").touch()
    (folder / "more").symlink_to(many)
    (answer,) = attacked({"": ["verify"]}, run).values()
    assert answer.said.count("export.json does not list this file") == MOST_FOREIGN
    assert "more than 100 files that export.json does not list" in answer.said


@pytest.mark.parametrize(
    ("member", "value"),
    [("format", "$(id) \x1b[31m"), ("format", None), ("length", {"a": 1}), ("length", "2"),
     ("manifest_sha256", ["a"] * 100_000), ("manifest_sha256", "0" * 100_000)],
)  # fmt: skip
def test_verify__repeats_nothing_that_an_export_may_not_say(member, value, run):
    edit_json(exported(run) / "export.json", lambda told: told.update({member: value}))
    (answer,) = attacked({"": ["verify"]}, run).values()
    assert answer.code == 1
    assert "export.json: is not the description of an export" in answer.said
    assert len(answer.said) < 2000


def test_verify__reads_no_more_documents_than_the_index_has(run):
    text = next((run / "results/corpus/train").glob("00000.jsonl.zst"))
    line = zstandard.ZstdDecompressor().stream_reader(text.read_bytes()).read().splitlines(True)[0]
    text.write_bytes(zstandard.compress(line * 100_000))
    mend(run / "results")
    (answer,) = attacked({"": ["verify", "--deep"]}, run).values()
    found = re.search(r"([\d,]+) documents at least, the index has", answer.said)
    assert found, answer.said
    assert int(found[1].replace(",", "")) < 20_000


# Many folders, each with something else that is wrong.

SPOILT = (
    "summary.json", "plan/parts.jsonl", "manifest.json", "ledger/00000.parquet",
    "ledger/.00000.json.sums", "text/00000.arrow", "tokens/train/00000.idx",
    "placements/train/00000.parquet", "tokenizer/tokenizer.json", "tokenizer/corpusmill.json",
    "corpus/train/00000.json", "measures/00000.arrow", "quarantine/00000.jsonl",
    "tokens/train/pack-64.npy", "tokens/train/pack-64.rows.npy", "tokens/train/pack-64.json",
)  # fmt: skip
KINDS = {
    "a FIFO": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a loop": lambda path: path.symlink_to(path.name),
}
PUBLISH = ["s3://bucket/name", "-n", "--endpoint-url", "http://[::1]:1"]


def copies(run: Path, count: int) -> list[Path]:
    """The results as often, the bytes once."""
    return [
        shutil.copytree(run / "results", run / f"{number}/results", copy_function=os.link)
        for number in range(count)
    ]


def problems_of(commands: dict[str, list[str]], run: Path) -> dict[str, list[str]]:
    return {
        name: [*problems, answer.said[-300:]]
        for name, answer in attacked(commands, run).items()
        if (problems := answer.problems())
    }


def test_commands__wait_for_no_fifo_device_or_loop(run):
    commands = {}
    for number, (spoilt, results) in enumerate(zip(SPOILT, copies(run, len(SPOILT)), strict=True)):
        kind = list(KINDS)[number % len(KINDS)]
        (results / spoilt).unlink(missing_ok=True)
        KINDS[kind](results / spoilt)
        place = str(results)
        for words in (
            ["why", "0", "--results", place], ["why", "raw/web/1.jsonl:16", "--results", place],
            ["why", "tokens/train/00000.bin:5", "--results", place],
            ["why", "--dropped", "--results", place], ["verify", "--deep", place],
            ["eye-test", place, "--samples", "1"], ["watch", str(results.parent)],
            ["prove", "--results", place, "--shards", "0", "--parts", "1"],
            ["export", "megatron", place, "--to", f"{number}/export"],
            ["publish", place, *PUBLISH],
        ):  # fmt: skip
            commands[f"{words[:2]}: {kind} for {spoilt}"] = words
    assert problems_of(commands, run) == {}


VALUES = (None, 5, {}, "\x1b[31m", 10**10, -1, True)


def test_commands__say_in_a_sentence_that_a_summary_is_none(run):
    """Members of another type show in the middle of what uses them."""
    whole = json.loads((run / "results/summary.json").read_text())
    places = [(key,) for key in whole["configuration"]]
    places += [("minhash", "permutations"), ("minhash", "shingle_chars"), ("input", "readers"),
               ("input", "max_record_bytes"), ("shuffle", "seed"), ("normalize", "mode"),
               ("output", "format"), ("dedup", "method")]  # fmt: skip
    commands = {}
    for number, (place, results) in enumerate(zip(places, copies(run, len(places)), strict=True)):
        shutil.rmtree(results / "text")
        (results / "summary.json").unlink()  # one file by many names
        value = VALUES[number % len(VALUES)]
        summary = json.loads(json.dumps(whole))
        member = summary["configuration"]
        for key in place[:-1]:
            member = member[key]
        member[place[-1]] = value
        (results / "summary.json").write_text(json.dumps(summary))
        for words in (
            ["why", "0", "--results"], ["why", "--text", "nowhere", "--results"],
            ["why", "--dropped", "--results"], ["prove", "--results"], ["verify", "--deep"],
        )[:: 1 + number % 2]:  # fmt: skip
            commands[f"{words[:2]}: {place} is {value!r}"] = [*words, str(results)]
    assert problems_of(commands, run) == {}


def test_publish__sends_no_file_that_a_symlink_leads_to(run, monkeypatch):
    monkeypatch.chdir(run)
    (run / "secret").write_text("secret")
    (run / "results/summary.txt").unlink()
    (run / "results/summary.txt").symlink_to(run / "secret")
    done = CliRunner().invoke(main, ["publish", "results", *PUBLISH])
    assert done.exit_code == 1
    assert "summary.txt: expected a file, found a symlink" in done.stderr


def blown_up(path: Path, rows: int) -> None:
    """The first row of a Parquet file, so many times."""
    table = pq.read_table(path)
    path.unlink()
    pq.write_table(table.slice(0, 1).take(pa.array(np.zeros(rows, np.int64))), path)


def test_why__refuses_placements_of_more_rows_than_documents(run):
    blown_up(run / "results/placements/train/00000.parquet", 3_000_000)
    (answer,) = attacked({"": ["why", "tokens/train/00000.bin:5"]}, run).values()
    assert answer.code == 1
    assert "rows, as many as documents in the token index, found 3,000,000" in answer.said
    assert answer.problems() == []


def test_why__reads_one_copy_of_placements_without_an_index(run):
    blown_up(run / "results/placements/train/00000.parquet", 3_000_000)
    (run / "results/tokens/train/00000.idx").unlink()
    (answer,) = attacked({"": ["why", "corpus/train/00000.jsonl.zst:1"]}, run).values()
    assert (answer.code, answer.problems()) == (1, [])


@pytest.mark.parametrize("folder", ["cut", "edited"])
def test_why__refuses_more_pieces_than_the_ledger_counts(folder, run):
    path = run / f"results/{folder}/00000.parquet"
    blown_up(path, 2_000_000)
    id = pq.read_table(path, columns=["id"]).slice(0, 1)["id"][0].as_py()
    (answer,) = attacked({"": ["why", str(id)]}, run).values()
    assert (answer.code, answer.problems()) == (1, [])
    assert "found 2,000,000" in answer.said


def one_value(path: Path, table: pa.Table, **options: object) -> Rows:
    pq.write_table(table, path, compression="zstd", **options)
    return Rows(path)


def test_rows__that_expand_are_refused_before_they_are_read(tmp_path):
    large = pa.table({"reason": pa.array(["a" * 100_000_000]), "id": [1]})
    rows = one_value(tmp_path / "a.parquet", large)
    assert (tmp_path / "a.parquet").stat().st_size < 100_000
    assert rows.columns("id")["id"].to_pylist() == [1]
    with pytest.raises(ValueError, match=r"a\.parquet: expected a table .* a row group of more"):
        rows.at(np.array([0]))


def test_rows__hold_a_text_that_many_rows_share_once(tmp_path):
    shared = pa.DictionaryArray.from_arrays(pa.array(np.zeros(60_000, "i4")), ["a" * 1_000_000])
    rows = one_value(tmp_path / "a.parquet", pa.table({"reason": shared, "id": range(60_000)}))
    assert rows.columns("reason", "id").nbytes < 10_000_000


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"a": pa.array(np.zeros(3_000_000))}),
        pa.table({"a": [[1, 2], [3]]}),
        pa.table({f"a{number}": [1] for number in range(1_100)}),
    ],
    ids=["rows of no bytes", "lists", "columns"],
)
def test_rows__refuse_a_footer_that_corpusmill_does_not_write(table, tmp_path):
    with pytest.raises(ValueError, match=r"a\.parquet: expected a table written by corpusmill"):
        one_value(tmp_path / "a.parquet", table)


@pytest.mark.parametrize(
    "changed", [{"began": 1e308}, {"began": -1.0}, {"ended": 1e308, "outcome": "failed"}]
)
def test_watch__refuses_moments_that_are_none(changed, run):
    told = {"run": "a", "began": 1.0, "corpusmill.announced": 1}
    (run / "logs").mkdir(exist_ok=True)
    (run / "logs/announced.json").write_text(json.dumps(told | changed))
    (answer,) = attacked({"": ["watch", "--json"]}, run).values()
    assert answer.code == 1
    assert "expected times in seconds since 1970" in answer.said


@pytest.mark.parametrize(
    "link", ["exports", "exports/nanogpt", "exports/nanogpt/.export-made.txt",
             "exports/nanogpt/train.bin", "results/exports", "results/exports/nanogpt"],
)  # fmt: skip
def test_export__writes_through_no_link(link, run, tmp_path):
    outside, path = tmp_path / "outside", run / link
    outside.mkdir()
    path.parent.mkdir(parents=True, exist_ok=True)
    (outside / "mine").write_text("mine")
    path.symlink_to(outside if path.suffix == "" else outside / "mine")
    to = ["results", "--to", "results/exports/nanogpt"] if link.startswith("results") else []
    (answer,) = attacked({"": ["export", "nanogpt", *to]}, run).values()
    assert answer.code == 1
    assert "found a symlink" in answer.said
    assert [path.name for path in outside.iterdir()] == ["mine"]
    assert (outside / "mine").read_text() == "mine"


def test_export__waits_for_no_fifo_in_its_folder(run):
    (run / "exports/nanogpt").mkdir(parents=True)
    os.mkfifo(run / "exports/nanogpt/.export-made.txt")
    (answer,) = attacked({"": ["export", "nanogpt"]}, run).values()
    assert (answer.code, answer.problems()) == (1, [])


@pytest.mark.parametrize("made", [b"\xff\0", b"a" * 5000, b"../../results/manifest.json"])
def test_export__goes_on_with_no_list_of_other_files(made, run):
    folder = run / "exports/nanogpt"
    folder.mkdir(parents=True)
    (folder / ".export-begun.json").write_text("{}")
    (folder / ".export-made.txt").write_bytes(made)
    (answer,) = attacked({"": ["export", "nanogpt"]}, run).values()
    assert answer.problems() == []
    assert "Errno" not in answer.said
    assert "codec" not in answer.said
    assert (run / "results/manifest.json").exists()


def test_verify__cuts_what_it_quotes(run):
    def change(manifest: dict) -> None:
        manifest["sha256"] = "a" * 100_000
        manifest["files"][0]["path"] = "results/" + "b" * 4000

    edit_json(run / "results/manifest.json", change)
    (answer,) = attacked({"": ["verify"]}, run).values()
    assert (answer.code, answer.problems()) == (1, [])
    assert len(max(answer.said.split(), key=len)) < 1000


def test_unlock__removes_nothing_behind_a_link(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").touch()
    (tmp_path / ".snakemake").mkdir()
    (tmp_path / ".snakemake/locks").symlink_to(tmp_path / "mine")
    done = CliRunner().invoke(main, ["run", "--unlock"])
    assert done.exit_code == 1
    assert "expected Snakemake's lock files" in done.output
    assert (tmp_path / "mine/notes.txt").exists()


@pytest.mark.parametrize("kind", ["a folder", "a FIFO"])
def test_unlock__of_what_is_no_lock_is_one_sentence(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = tmp_path / ".snakemake/locks/x"
    place.parent.mkdir(parents=True)
    place.mkdir() if kind == "a folder" else os.mkfifo(place)
    done = CliRunner().invoke(main, ["run", "--unlock"])
    assert done.exit_code == 1
    assert f"{Path('.snakemake/locks/x')}: expected Snakemake's lock files" in done.output


@pytest.mark.parametrize("told", ["chrome_trace: victim", "a: [1", "opt: 7", "disable_jit: 1"])
def test_kernels__obey_no_settings_of_the_folder(told, tmp_path):
    (tmp_path / ".numba_config.yaml").write_text(told)
    (tmp_path / "victim").write_text("mine")
    code = "import corpusmill.kernels.lanes, corpusmill.kernels.words, numba, yaml"
    code += "; assert not numba.config.CHROME_TRACE and not numba.config.DISABLE_JIT"
    command, environment = [sys.executable, "-P", "-c", code], {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False,
                          env=os.environ | environment)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "victim").read_text() == "mine"


def test_watch__shows_no_log_behind_a_link(tmp_path):
    save_job_list({"sign": RuleJobs(1, ["logs/sign/0.log"])}, tmp_path / "logs/jobs.json", "")
    write_bytes(tmp_path / "secret", b"Traceback (most recent call last)\nTOP SECRET")
    log = tmp_path / "logs/sign/0.log"
    write_bytes(state_file(log), b'{"state": "failed", "said": "x", "is_fault": true}')
    log.symlink_to(tmp_path / "secret")
    (answer,) = attacked({"watch": ["watch"]}, tmp_path).values()
    assert "SECRET" not in answer.said


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"name": "url_blocklist", "domains": "/etc/hostname"}, "names a file for the filter"),
        ({"name": "metadata", "field": "url", "matches": "(?:.?){60}Z"}, "a regular expression"),
    ],
)
def test_prove__opens_and_matches_nothing_that_a_summary_names(entry, said):
    config = SimpleNamespace(filters=[ConfiguredFilter(entry)], input=SimpleNamespace(readers=[]))
    with pytest.raises(NoCorpusError, match=said):
        refuse_own_code(Path("summary.json"), config)


def test_replacing__leaves_a_folder_that_is_named_like_a_leftover(tmp_path):
    (tmp_path / ".a.json~1/sub").mkdir(parents=True)
    save_json(tmp_path / "a.json", {"a": 1})
    assert (tmp_path / ".a.json~1/sub").exists()
