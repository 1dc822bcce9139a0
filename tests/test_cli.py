"""The command line: what it writes, what it says, how it ends."""

import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from click.testing import CliRunner
from tokenizer_kinds import chat
from warm import warm_python
from workflow import ROOT, snakemake

from corpusmill.cli.failures import reasons
from corpusmill.cli.main import main
from corpusmill.cli.run_progress import Job, Run
from corpusmill.cli.running import FIRST_RUN, watched
from corpusmill.kernels.cache import cache_folder
from corpusmill.run.announcement import ANNOUNCEMENT, Told, load_announcement
from corpusmill.run.job_state import RUNNING, JobState, save_state

TEXT = "A miller keeps what is good, and what is left over goes to the pigs. " * 5


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def different_text(number: int) -> str:
    words = random.Random(number).choices(TEXT.split(), k=60)
    return f"{' '.join(words)} {number}"


def write_lines(path: Path, count: int = 30, field: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"id": n, field: different_text(n)}) for n in range(count)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def called(*arguments: str):
    return CliRunner().invoke(main, arguments)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "corpusmill", *arguments]


ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


def run_of(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    forked = [warm_python(), *command(*arguments)[1:]]
    return subprocess.run(forked, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)


def test_help__names_every_command_in_the_order_of_use():
    said = called("--help").output
    names = ("init", "check", "run", "demo", "calibrate", "why", "designer")
    places = [said.index(f"\n  {name} ") for name in names]
    assert places == sorted(places)


def test_where__is_the_snakefile(folder):
    assert Path(called("where").output.strip()) == ROOT / "Snakefile"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion__is_a_script_for_the_shell(shell):
    assert "_CORPUSMILL_COMPLETE" in called("completion", shell).output


def test_completion__completes_commands(folder):
    words = {"_CORPUSMILL_COMPLETE": "bash_complete", "COMP_WORDS": "corpusmill de",
             "COMP_CWORD": "1"}  # fmt: skip
    said = CliRunner().invoke(main, [], env=words, prog_name="corpusmill").output
    assert said.split() == ["plain,demo", "plain,designer"]


# init


def sources_written(path: str = "corpusmill.yaml") -> list[dict]:
    return yaml.safe_load(Path(path).read_text())["sources"]


def test_init__makes_a_source_of_every_folder(folder):
    write_lines(folder / "data/web/a.jsonl")
    (folder / "data/books").mkdir()
    table = pa.table({"isbn": ["1"] * 9, "content": [f"{TEXT} {n}" for n in range(9)]})
    pq.write_table(table, folder / "data/books/b.parquet")
    assert called("init", "data").exit_code == 0
    assert sources_written() == [
        {"name": "books", "files": ["data/books"], "text_field": "content"},
        {"name": "web", "files": ["data/web"], "text_field": "text"},
    ]


def test_init__takes_two_text_fields_apart(folder):
    write_lines(folder / "data/a.jsonl")
    with gzip.open(folder / "data/b.jsonl.gz", "wt") as file:
        file.write(json.dumps({"body": TEXT}) + "\n")
    called("init", "data")
    assert {(source["text_field"], *source["files"]) for source in sources_written()} == {
        ("text", "data/**/*.jsonl"),
        ("body", "data/**/*.jsonl.gz"),
    }


def test_init__says_what_it_leaves_out(folder):
    write_lines(folder / "data/a.jsonl")
    (folder / "data/notes.odd").write_text("id,text\n")
    said = called("init", "data").stderr
    assert "left out: 1 .odd" in said


def test_init__takes_numbered_folders_for_one_source_and_quotes_what_yaml_would_not(folder):
    for name in ("0", "1"):
        write_lines(folder / f"2024/{name}/a.jsonl")
    assert called("init", "2024").exit_code == 0
    assert [(s["name"], s["files"]) for s in sources_written()] == [("2024", ["2024"])]
    assert called("check").exit_code == 0


@pytest.mark.whole
@pytest.mark.parametrize("number", ["1e400", "7" * 5000], ids=["1e400", "5000 digits"])
def test_init_and_check__take_numbers_of_any_size(folder, number):
    (folder / "data").mkdir()
    (folder / "data/a.jsonl").write_text(f'{{"text": "{TEXT}", "score": {number}}}\n' * 3)
    made = called("init", "data")
    assert made.exit_code == 0
    assert "not JSON" not in made.stderr
    asks = "filters: [{name: empty}, {name: metadata, field: scores, one_of: [a]}]\n"
    Path("asks.yaml").write_text(asks)
    told = called("check", "corpusmill.yaml", "asks.yaml")
    assert (
        "needs the member scores, but none of the first records has it. Did you mean score"
        in told.output
    )
    Path("wrong.yaml").write_text("sources: [{name: a, files: [data], text_field: body}]\n")
    assert '"text", "score"' in called("check", "wrong.yaml").output


def test_init__names_a_line_that_is_no_json(folder):
    write_lines(folder / "data/a.jsonl")
    with open(folder / "data/a.jsonl", "a") as file:
        file.write('{"text": "cut o\n')
    said = called("init", "data").stderr
    assert "not sure: data/a.jsonl: line 31 is not JSON (Input data was truncated)" in said
    assert sources_written()[0]["text_field"] == "text"


@pytest.mark.parametrize("names", [[], ["table.odd"]])
def test_init__refuses_a_folder_without_text(folder, names):
    (folder / "data").mkdir()
    for name in names:
        (folder / "data" / name).write_text("id,text\n")
    got = called("init", "data")
    assert (got.exit_code, Path("corpusmill.yaml").exists()) == (1, False)
    assert "no file that ends in ." in got.stderr


@pytest.mark.parametrize(("name", "kind"), [("odd.jsonl", "a FIFO"), ("/dev/zero", "a device")])
def test_init__names_the_kind_of_what_is_no_file(folder, name, kind):
    os.mkfifo("odd.jsonl")
    got = called("init", name)
    assert got.exit_code == 1
    assert f"{name}: expected a regular file, found {kind}." in got.stderr
    assert "permissions" not in got.stderr


def test_init__never_replaces_a_file(folder):
    write_lines(folder / "a.jsonl")
    Path("corpusmill.yaml").write_text("mine")
    got = called("init", "a.jsonl")
    assert (got.exit_code, Path("corpusmill.yaml").read_text()) == (1, "mine")


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("eos", "ends"),
    [
        (None, ["  end_of_text: <|endoftext|> "]),
        ("<|endoftext|>", ["  end_of_text: <|endoftext|> "]),
        ("<|im_end|>", ["  end_of_text: <|endoftext|> ", "  # end_of_text: <|im_end|> "]),
    ],
)
def test_init__writes_which_token_ends_documents(eos, ends, folder):
    write_lines(folder / "a.jsonl")
    source = chat(folder / "given", eos) if eos else "train"
    got = called("init", "a.jsonl", "--tokenizer", source)
    assert ("<|im_end|> is also possible" in got.stderr) == (len(ends) == 2)
    lines = Path("corpusmill.yaml").read_text().splitlines()
    written = [line for line in lines if "end_of_text" in line]
    assert all(line.startswith(end) for line, end in zip(written, ends, strict=True))
    said = called("check")
    assert said.exit_code == 0, said.stderr
    assert f"tokenizer    {source}; documents end with <|endoftext|>\n" in said.stdout


def test_init__of_no_tokenizer_is_a_sentence(folder):
    write_lines(folder / "a.jsonl")
    got = called("init", "a.jsonl", "--tokenizer", "a/b/c")
    assert got.exit_code == 1
    assert "a/b/c is neither a folder nor the id of a tokenizer" in got.stderr
    assert not Path("corpusmill.yaml").exists()


@pytest.mark.some(3)
@pytest.mark.parametrize("chosen", ["<|endoftext|>", "<|im_end|>", "auto"])
def test_check__says_what_ends_documents(chosen, folder):
    write_lines(folder / "a.jsonl")
    source = chat(folder / "given", "<|im_end|>")
    settings = {"source": source, "end_of_text": chosen}
    sources = [{"name": "a", "files": ["a.jsonl"]}]
    Path("mine.yaml").write_text(json.dumps({"sources": sources, "tokenizer": settings}))
    got = called("check", "mine.yaml")
    assert got.exit_code == (chosen == "auto")
    if chosen == "auto":
        assert got.stderr.startswith("tokenizer.end_of_text: auto would end every document with")
        assert "1 to fix" in got.stderr
    else:
        assert f"documents end with {chosen}\n" in got.stdout


def test_init__leaves_the_filters_to_a_preset(folder):
    write_lines(folder / "a.jsonl")
    assert called("init", "a.jsonl").exit_code == 0
    assert "filters" not in yaml.safe_load(Path("corpusmill.yaml").read_text("utf-8"))


# check


def test_check__says_which_list_of_filters_does_not_count(folder):
    write_lines(folder / "a.jsonl")
    Path("preset.yaml").write_text("filters: [{name: empty}, {name: c4}]\n")
    Path("mine.yaml").write_text(
        "sources: [{name: a, files: [a.jsonl]}]\nfilters: [{name: empty}]\n"
    )
    got = called("check", "preset.yaml", "mine.yaml")
    note = "NOTE: filters: the list in mine.yaml replaces the list in preset.yaml."
    assert (got.exit_code, got.stderr.startswith(note)) == (0, True)
    dry = run_of(folder, "run", "preset.yaml", "mine.yaml", "--dry-run")
    assert (dry.returncode, dry.stderr.count("mine.yaml replaces the list in ")) == (0, 1), (
        dry.stderr
    )
    Path("mine.yaml").write_text("sources: [{name: a, files: [a.jsonl]}]\nsources: []\n")
    twice = run_of(folder, "run", "mine.yaml", "--dry-run")
    assert (twice.returncode, "mine.yaml:2: duplicate key sources" in twice.stderr) == (1, True)


def test_check__notes_a_member_that_no_first_record_has(folder):
    lines = ['{"text": "a", "meta": {"url": "b.org"}, "score": null}'] * 3
    (folder / "a.jsonl").write_text("\n".join(lines))
    write_lines(folder / "b.jsonl")
    (folder / "0.jsonl").write_text("")
    Path("list").write_text("bad\n")
    listed = {"name": "url_blocklist", "words": "list"}
    config = {
        "sources": [{"name": name, "files": [f"{name}.jsonl"]} for name in "0ab"],
        "filters": [
            listed,
            listed | {"name": "nested", "use": "url_blocklist", "field": "meta.url"},
            {"name": "metadata_number", "field": "score"},
            {"name": "other", "use": "metadata", "field": "score", "sources": {"a": False}},
        ],
    }
    Path("mine.yaml").write_text(yaml.safe_dump(config))
    got = called("check", "mine.yaml")
    assert got.exit_code == 0, got.output
    assert [line for line in got.stdout.splitlines() if line.startswith("NOTE")] == [
        "NOTE: the filter url_blocklist needs the member url, but none of the first records "
        "has it. Did you mean meta.url? Known names: meta, meta.url, score.",
        "NOTE: the filter other needs the member score, but none of the first records has it. "
        "Known names: id.",
    ]


def test_check__says_everything_at_once(folder):
    write_lines(folder / "field.jsonl", field="content")
    (folder / "wide.jsonl").write_bytes('{"text": "a"}\n'.encode("utf-16"))
    (folder / "table.jsonl").write_text("id,text\n1,a\n")
    sources = [{"name": name, "files": [f"{name}.jsonl"]} for name in ("field", "wide", "table")]
    Path("corpusmill.yaml").write_text(yaml.safe_dump({"sources": sources}))
    got = called("check")
    assert got.exit_code == 1
    assert [line.split(": ")[0] for line in got.stderr.splitlines()] == [
        "field.jsonl",
        "wide.jsonl",
        "table.jsonl",
        "3 to fix.",
    ]
    assert 'these records have "content", "id"' in got.stderr


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("sources: [\n\t", "found character '\\t'"),
        ("- a\n- b\n", "expected a mapping of keys to values, found a list"),
        ("dedup: {threshold: 0.7}\n", "no sources are configured, so this would run"),
        ("sources:\n  - {name: a, files: [nothing/*.jsonl]}\n", "no file matches nothing/*.jsonl"),
        ("sources:\n  - {name: a, files: [empty]}\n", "the folder empty has no file that ends in"),
        ("sources:\n  - {name: a/b, files: [a.jsonl]}\n", "sources[0].name"),
        ("sources:\n  - {name: a, files: [a.jsonl]}\n  - {name: b, files: [a.jsonl]}\n",
         'a.jsonl belongs to source "b" and to source "a"'),
        ("sources:\n  - {name: a, files: [a.jsonl]}\ntokenizer: {source: ./none}\n",
         "there is no folder ./none"),
        ("sources:\n  - {name: a, files: [a.jsonl]}\ntokenizer: {source: empty}\n",
         "tokenizer.source"),
        ("sources:\n  - {name: a, files: [a.jsonl]}\noutput: {join: no thanks}\n", "output.join"),
        ("sources:\n  - {name: a, files: [a.jsonl]}\ntokenizer: {end_of_text: <end>}\n",
         "tokenizer.end_of_text: a tokenizer trained on this corpus ends documents with"),
        ("sources:\n  - {name: a, files: [a.jsonl]}\ndedup: {threshold: 1e0}\n",
         "dedup.threshold"),
    ],
)  # fmt: skip
def test_check_and_run__say_what_is_wrong_in_a_sentence(folder, config, reason):
    write_lines(folder / "a.jsonl")
    (folder / "empty").mkdir()
    Path("mine.yaml").write_text(config)
    checked = called("check", "mine.yaml")
    assert (checked.exit_code, reason in checked.stderr) == (1, True), checked.stderr
    ran = run_of(folder, "run", "mine.yaml")
    assert (ran.returncode, reason in ran.stderr) == (1, True), ran.stderr
    assert "Traceback" not in ran.stderr + checked.stderr
    assert len(ran.stderr.splitlines()) <= 3
    assert not Path("results").exists()


def test_check__says_when_the_disk_is_too_small(folder, monkeypatch):
    write_lines(folder / "a.jsonl")
    Path("mine.yaml").write_text("sources:\n  - {name: a, files: [a.jsonl]}\n")
    usage = shutil.disk_usage(".")._replace(free=5000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    got = called("check", "mine.yaml")
    assert (got.exit_code, "but the run still has to write at least" in got.stderr) == (1, True)


def test_check__refuses_inputs_without_a_record(folder):
    Path("a.jsonl").touch()
    Path("b.jsonl.gz").write_bytes(gzip.compress(b""))
    write_lines(folder / "exam.jsonl")
    exam = "  - {name: exam, files: [exam.jsonl], held_out: true}\n"
    Path("mine.yaml").write_text("sources:\n  - {name: a, files: [a.jsonl, b.jsonl.gz]}\n" + exam)
    got = called("check", "mine.yaml")
    told = "a.jsonl and 1 more: expected records, found none, so there is nothing to mill."
    assert (got.exit_code, got.stderr.startswith(told)) == (1, True), got.stderr
    write_lines(folder / "a.jsonl")
    assert called("check", "mine.yaml").exit_code == 0


def test_check__names_the_key_that_a_record_is_too_long_for(folder):
    limit = "input: {max_record_bytes: 1024}\nsources:\n  - {name: a, files: [b.jsonl]}\n"
    Path("b.jsonl").write_text(json.dumps({"text": "a" * 3000}))
    Path("mine.yaml").write_text(limit)
    got = called("check", "mine.yaml")
    assert "input.max_record_bytes allows 1024. Raise input.max_record_bytes, or " in got.stderr


@pytest.mark.parametrize("door", ["corpusmill", "snakemake"])
def test_run__refuses_a_folder_whose_name_snakemake_takes_for_a_pattern(tmp_path, door):
    folder = tmp_path / "{n}"
    folder.mkdir()
    write_lines(folder / "a.jsonl")
    (folder / "mine.yaml").write_text("sources:\n  - {name: a, files: [a.jsonl]}\n")
    if door == "corpusmill":
        got = run_of(folder, "run", "mine.yaml")
    else:
        got = snakemake(folder, "--configfile", "mine.yaml", "--cores", "1")
    assert got.returncode == 1
    assert f"{folder}: Snakemake treats {{ and }} in a path as wildcards" in got.stderr
    assert "Traceback" not in got.stderr


def test_run__notes_a_job_that_needs_more_than_was_known_when_it_began(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": different_text(1) * 60_000}) + "\n")
    config = {"sources": [{"name": "a", "files": ["a.jsonl"]}], "filters": [{"name": "empty"}]}
    (tmp_path / "corpusmill.yaml").write_text(yaml.safe_dump(config))
    got = run_of(tmp_path, "run", "--", "--until", "sign", "--resources", "mem_mb=800")
    assert got.returncode == 0, got.stderr
    assert got.stderr.count("NOTE: --resources mem_mb allows 800 MB, but a job may now need 9") == 1


def test_run__without_a_config_file_says_how_to_get_one(folder):
    got = called("run")
    assert got.exit_code == 2
    assert "corpusmill init DATA" in got.stderr


def test_run__takes_config_values_as_a_file_has_them(folder):
    write_lines(folder / "a.jsonl")
    Path("mine.yaml").write_text("sources:\n  - {name: a, files: [a.jsonl]}\n")
    changed = 'dedup={"threshold":0.7}', 'filters=[{"name":"too_short","min_chars":7}]'
    got = run_of(folder, "run", "mine.yaml", "-n", "--", "--config", *changed)
    assert got.returncode == 0, got.stderr


# run


@pytest.fixture(scope="module")
def milled(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess]:
    """A folder with a run that ended well, and what it said."""
    folder = tmp_path_factory.mktemp("milled")
    write_lines(folder / "data/a.jsonl")
    config = {
        "sources": [{"name": "a", "files": ["data"]}],
        "tokenizer": {"train_vocabulary": 300},
    }
    (folder / "corpusmill.yaml").write_text(yaml.safe_dump(config))
    return folder, run_of(folder, "run")


def test_run__shows_the_account_and_what_lies_where(milled):
    got = milled[1]
    assert got.returncode == 0, got.stderr
    assert re.search(r"^a +30 ", got.stdout, re.MULTILINE)
    assert "results/tokens/" in got.stdout
    assert len(got.stdout.splitlines()) + len(got.stderr.splitlines()) < 30


def test_run__again_has_nothing_to_do(milled):
    again = run_of(milled[0], "run")
    assert (again.returncode, again.stdout.splitlines()) == (
        0,
        ["Nothing to do: results/ is up to date."],
    )


def test_watch__of_a_finished_run_knows_all_its_jobs(milled):
    folder = milled[0]
    seen = json.loads(run_of(folder, "watch", "--json").stdout)
    assert seen["state"] == "finished"
    assert seen["finished"] == seen["jobs"] == len([*folder.rglob("logs/**/*.log")])
    assert (seen["documents"], seen["tokens"] > 1000) == (30, True)
    bounded = [rule for rule in seen["rules"].values() if rule["mem_mb"]]
    assert all(0 < rule["peak_mb"] < rule["mem_mb"] for rule in bounded)
    assert len(bounded) > 20


@pytest.fixture
def going_on(milled, tmp_path) -> Path:
    """A copy of the milled folder in which there is something to do."""
    shutil.copytree(milled[0], tmp_path / "run", symlinks=True, copy_function=shutil.copy2)
    config = (tmp_path / "run/corpusmill.yaml").read_text()
    (tmp_path / "run/corpusmill.yaml").write_text(config.replace("300", "301"))
    return tmp_path / "run"


def seen_of(folder: Path) -> dict:
    return json.loads(called("watch", "--json", str(folder)).stdout)


SNAKEMAKE = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--configfile",
             "corpusmill.yaml", "--cores", "1"]  # fmt: skip


@pytest.mark.parametrize("door", [command("run"), SNAKEMAKE], ids=["corpusmill", "snakemake"])
def test_run__announces_itself_before_the_workflow_is_read(going_on, door):
    before = load_announcement(going_on / ANNOUNCEMENT).run
    process = subprocess.Popen(door, cwd=going_on, env=ENVIRONMENT, stdout=-3, stderr=-3)
    seen = []
    while process.poll() is None:
        if load_announcement(going_on / ANNOUNCEMENT).run != before:
            seen.append(seen_of(going_on))
        time.sleep(0.05)
    assert (process.returncode, seen_of(going_on)["state"]) == (0, "finished")
    assert seen[0]["state"] == "reading"
    states = [one["state"] for one in seen]
    assert set(states[: states.index("running")]) == {"reading"}
    assert set(states[states.index("running") :]) <= {"running", "waiting", "finished"}


@pytest.mark.parametrize("door", [command("run"), SNAKEMAKE], ids=["corpusmill", "snakemake"])
def test_run__that_is_refused_is_not_taken_for_the_one_before(going_on, door):
    (going_on / "corpusmill.yaml").write_text("sources: [{name: a, files: [nothing]}]\n")
    refused = subprocess.run(door, cwd=going_on, env=ENVIRONMENT, capture_output=True)
    assert refused.returncode == 1
    got = called("watch", str(going_on))
    assert (got.exit_code, "no file matches nothing" in got.stderr) == (1, True), got.stderr


def test_run__announces_no_dry_run_and_no_summary(going_on):
    before = (going_on / ANNOUNCEMENT).read_bytes()
    for more in ([*command("run"), "-n"], [*SNAKEMAKE, "-n"], [*SNAKEMAKE, "--summary"]):
        done = subprocess.run(more, cwd=going_on, env=ENVIRONMENT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert (going_on / ANNOUNCEMENT).read_bytes() == before


def test_run_and_watch__count_the_same_jobs_on_the_same_clock(milled, going_on):
    ran = run_of(going_on, "run")
    line = re.search(r"^\d+ jobs in [\d.]+ s", ran.stdout, re.MULTILINE)[0]
    assert called("watch", str(going_on)).stderr.splitlines()[0] == line
    # Of a run that goes on, no text was read.
    assert re.search(r"jobs in .*: 0\.0 MB of text read, ", milled[1].stdout)
    assert re.search(r"^\d+ jobs in [\d.]+ s$", ran.stdout, re.MULTILINE)


def test_run__says_the_reason_of_a_failed_job_last(tmp_path):
    lines = write_lines(tmp_path / "a.jsonl").read_text()
    (tmp_path / "a.jsonl").write_text(lines + '{"text": 1}\n')
    (tmp_path / "corpusmill.yaml").write_text("sources:\n  - {name: a, files: [a.jsonl]}\n")
    got = run_of(tmp_path, "run")
    assert got.returncode == 1
    assert re.search(
        r"^admit failed, log logs/admit/admit.log:\n.*1 of 31 records", got.stderr, re.MULTILINE
    )
    assert "Traceback" not in got.stderr


FULL = "Error recording metadata for finished job ([Errno 28] No space left on device)."


@pytest.mark.parametrize("state", [JobState(RUNNING, "reading"), None])
def test_reasons__of_a_full_disk_are_told_where_no_log_could_be_written(folder, state):
    if state is not None:
        Path("job.log").touch()
        save_state(Path("job.log"), state)
    run = Run()
    run.failed.append(Job("sign", Path("job.log"), 0))
    told = [*reasons(run, 1, FULL, [])]
    assert told[-1].startswith(f"{folder}: the disk is full (No space left")
    run.failed.clear()
    run.errors.append(("WorkflowError", FULL))
    assert [*reasons(run, 1, FULL, [])] == told[-1:]


def test_traceback__of_snakemake_goes_to_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = (
        "Building DAG\nTraceback (most recent call last):\n  File x\nRecursionError: too \x1bdeep\n"
    )
    own = tmp_path / "own.txt"
    own.write_text("mine")
    Path("logs").mkdir()
    Path("logs/snakemake.log").symlink_to(own)
    (told,) = reasons(Run(), 1, said, [])
    assert own.read_text() == "mine"
    assert told.startswith("Snakemake itself failed: RecursionError: too \\x1bdeep. If .snakemake")
    assert Path("logs/snakemake.log").read_text() == said.replace("\x1b", "\\x1b")
    assert [*reasons(Run(), 1, "a plain fault\n", [])] == ["a plain fault"]


def ignore_ctrl_c() -> None:
    """As a shell does for what it starts with `&`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.mark.parametrize(
    ("number", "code", "before"),
    [
        (signal.SIGINT, 130, None), (signal.SIGTERM, 143, None), (signal.SIGHUP, 129, None),
        (signal.SIGTERM, 143, ignore_ctrl_c),
    ],
)  # fmt: skip
def test_run__stopped_says_how_to_go_on(tmp_path, number, code, before):
    with open(tmp_path / "said", "w") as said:
        process = subprocess.Popen(
            command("demo"), cwd=tmp_path, env=ENVIRONMENT, stdout=said, stderr=said,
            preexec_fn=before,
        )  # fmt: skip
        while not (tmp_path / ".snakemake").exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(60) == code
    text = (tmp_path / "said").read_text()
    assert "Run the command again to resume" in text
    assert "Traceback" not in text
    assert not list(tmp_path.glob(".snakemake/locks/*"))


DEAF = """
import signal, sys, time
heard = []
signal.signal(signal.SIGINT, lambda *_: heard.append(1))
open(sys.argv[1], "w").close()
while len(heard) < 2:
    time.sleep(0.05)
"""
WATCHED = """
import sys
from corpusmill.cli import running
from corpusmill.run.announcement import Told
running.ASK_AGAIN_SECONDS = 0.2
sys.exit(running.watched([sys.executable, "-c", *sys.argv[1:]], quiet=True, told=Told(""))[0])
"""


def test_run__asks_again_who_has_not_heard(tmp_path):
    ready = tmp_path / "ready"
    process = subprocess.Popen(
        [sys.executable, "-c", WATCHED, DEAF, str(ready)],
        env=ENVIRONMENT, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not ready.exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert (process.returncode, "Stopped." in told) == (130, True)


def test_run__goes_on_when_the_terminal_of_nohup_is_closed(tmp_path):
    ready = tmp_path / "ready"
    process = subprocess.Popen(
        [sys.executable, "-c", WATCHED, DEAF, str(ready)],
        env=ENVIRONMENT, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # fmt: skip
    while not ready.exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=60)
    assert (process.returncode, "Stopped." in told) == (143, True)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_run__is_not_left_alone_by_a_terminal_that_is_gone(tmp_path, number, code):
    ready = tmp_path / "ready"
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", WATCHED.replace("quiet=True", "quiet=False"), DEAF, str(ready)],
        env=ENVIRONMENT | {"NUMBA_CACHE_DIR": str(tmp_path)}, stderr=writing,
    )  # fmt: skip
    os.close(writing)
    while not ready.exists() and process.poll() is None:
        time.sleep(0.05)
    os.close(reading)
    process.send_signal(number)
    assert process.wait(60) == code


def test_unlock__takes_away_the_lock_of_a_dead_run_alone(folder):
    locks = folder / ".snakemake/locks"
    locks.mkdir(parents=True)
    (locks / "0.input.lock").touch()
    alive = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "snakemake"])
    try:
        refused = called("run", "--unlock")
    finally:
        alive.kill()
        alive.wait()
    assert (refused.exit_code, f"process {alive.pid}" in refused.stderr) == (1, True)
    assert list(locks.iterdir())
    assert called("run", "--unlock").exit_code == 0
    assert not list(locks.iterdir())


def test_first_run__says_that_kernels_are_compiled(folder, monkeypatch, capsys):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    command = [sys.executable, "-c", ""]
    assert watched(command, quiet=False, told=Told(""))[0] == 0
    assert capsys.readouterr().err == FIRST_RUN + "\n"
    assert watched(command, quiet=True, told=Told(""))[0] == 0
    cache_folder().mkdir(parents=True)
    assert watched(command, quiet=False, told=Told(""))[0] == 0
    assert capsys.readouterr().err == ""


def test_hub__that_cannot_be_reached_is_told_before_any_job_and_not_asked_in_a_dry_run(folder):
    write_lines(folder / "a.jsonl")
    Path("mine.yaml").write_text(
        "sources:\n  - {name: a, files: [a.jsonl]}\ntokenizer: {source: mill/tiny}\n"
    )
    apart = ENVIRONMENT | {
        "HF_ENDPOINT": "http://127.0.0.1:1", "HF_HUB_OFFLINE": "0", "HF_HOME": str(folder / "home"),
    }  # fmt: skip
    for arguments, code in ((["check"], 1), (["run"], 1), (["run", "--dry-run"], 0)):
        done = subprocess.run(
            command(*arguments, "mine.yaml"), env=apart, capture_output=True, text=True
        )
        told = "mill/tiny is not on this machine, and the hub cannot be reached" in done.stderr
        assert (done.returncode, told) == (code, code == 1), done.stderr
        assert not Path("results").exists()


@pytest.mark.parametrize("links", ["fifo", "device", "nowhere", "circle"])
@pytest.mark.parametrize("words", [("check",), ("estimate",), ("calibrate",), ("init", "data")])
def test_commands__refuse_inputs_that_are_no_files_and_never_wait(folder, words, links):
    write_lines(folder / "data/0.jsonl")
    odd = folder / "data/odd.jsonl"
    match links:
        case "fifo":
            os.mkfifo(odd)
        case "device":
            odd.symlink_to("/dev/zero")
        case "nowhere":
            odd.symlink_to("gone")
        case "circle":
            odd.symlink_to("odd.jsonl")
    if words[0] != "init":
        (folder / "corpusmill.yaml").write_text("sources: [{name: s, files: [data]}]")
    done = run_of(folder, *words)
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    assert "data/odd.jsonl: expected a regular file, found " in said
    assert "Traceback" not in said


def test_check_and_init__enter_a_folder_once(folder):
    write_lines(folder / "data/0.jsonl")
    for name in "abcd":
        (folder / f"data/{name}").symlink_to(".")
    init = called("init", "data")
    assert 'files: ["data"]' in init.stdout
    assert "data/a is skipped: it is the folder data, which is already read." in init.stderr
    done = called("check")
    assert done.exit_code == 0
    assert "files: 1, " in done.stdout
    assert "NOTE: data/b is skipped: it is the folder data, which is already read." in done.stdout
