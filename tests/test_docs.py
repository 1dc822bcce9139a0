"""What README, ARCHITECTURE and docs say is what the code does: tree, commands, keys, files."""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
import zstandard
from test_rooms import PACKAGE, allowed
from warm import warm_python
from workflow import ROOT, small_corpus, snakemake, write_jsonl

from corpusmill.cli import reference as commands
from corpusmill.cli.main import main
from corpusmill.mill.demo.files import EVALUATION_FILES, FILES
from corpusmill.mill.filters.reference import limits
from corpusmill.run.config import Config
from corpusmill.run.layout import Layout
from corpusmill.run.reference import page
from corpusmill.run.steps import STEPS

README = (ROOT / "README.md").read_text("utf-8")
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
CONFIGURATION = (ROOT / "docs/reference/configuration.md").read_text("utf-8")
FORMATS = "".join(
    (ROOT / f"docs/{page}.md").read_text("utf-8")
    for page in ("reference/formats", "internals/files")
)
RULES = {path.name: path.read_text("utf-8") for path in sorted((ROOT / "rules").glob("*.smk"))}
RULE_NAMES = set(re.findall(r"^rule (\w+):", "\n".join(RULES.values()), re.MULTILINE))

STAGES = [step.folder for step in STEPS.values() if step.counts]

FIRST_WORDS = {"corpusmill", "snakemake", "make", "source", "python", "pip", "torchrun"}
WHERE = '"$(corpusmill where)"'
NOT_HERE = {
    "--profile profiles/slurm": not importlib.util.find_spec("snakemake_executor_plugin_slurm"),
    "--sdm conda": not shutil.which("conda"),
}


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def rows(section: str, text: str = README) -> list[list[str]]:
    """The cells of the table in a section, without its heading."""
    body = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]
    table = [line for line in body.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[2:]]


PAGES = {"README.md": README} | {
    f"docs/{name}.md": (ROOT / f"docs/{name}.md").read_text("utf-8")
    for name in (
        "start/quickstart",
        "start/choose-filters",
        "how-to/train",
        "how-to/runs",
        "how-to/bands",
        "start/faq",
    )
}


def commands_of(page: str, program: str = "") -> list[str]:
    lines = [line for block in blocks("sh", PAGES[page]) for line in block.splitlines()]
    return [line for line in lines if line.startswith(program)]


def milled_for_real(page: str) -> list[str]:
    """The commands of a page from its first `init` on, that is, after the demo; they work on the
    reader's data/. Those on mine.yaml are tried dry."""
    lines = commands_of(page, "corpusmill")
    (first, *_) = (n for n, line in enumerate(lines) if line.startswith("corpusmill init"))
    return [line for line in lines[first:] if "mine.yaml" not in line]


COMMANDS = [line for page in PAGES for line in commands_of(page)]
# A report is of a finished run: tests/test_report.py.
ON_MINE = [line for line in COMMANDS if "mine.yaml" in line and "--report" not in line]


# Rooms and files.


def test_rooms_table__says_what_the_rooms_say():
    listed = {row[0].strip("`"): row[2] for row in rows("The rooms of corpusmill/", ARCHITECTURE)}
    found = {
        room: ", ".join(sorted(others)) or "nothing" for room, others in allowed(PACKAGE).items()
    }
    assert listed == found


def test_architecture__names_only_files_that_exist():
    named = set(
        re.findall(r"`((?:corpusmill|rules|scripts|docs|tests|qa)/[\w/.]+\.\w+)`", ARCHITECTURE)
    )
    assert len(named) > 30
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_every_test_file__has_tests():
    """One was emptied by a commit, and nothing noticed."""
    files = sorted(file for place in ("tests", "qa") for file in (ROOT / place).glob("test_*.py"))
    assert [file.name for file in files if "\ndef test_" not in file.read_text("utf-8")] == []


# Commands.


def write_as_its_ending_says(path: Path, records: list[dict]) -> None:
    """A dry run looks at the first records, so they have to be what the name of the file says."""
    if path.suffix == ".parquet":
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(records), path)
        return
    write_jsonl(path, records)
    if path.suffix == ".zst":
        path.write_bytes(zstandard.compress(path.read_bytes()))


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory) -> Path:
    """A folder with README's mine.yaml, the files that it names, presets and profiles."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (mine,) = blocks("yaml")
    (folder / "mine.yaml").write_text(mine)
    for source in yaml.safe_load(mine)["sources"]:
        for pattern in source["files"]:
            record = {source.get("text_field", "text"): "grain"}
            write_as_its_ending_says(folder / pattern.replace("*", "0"), [record])
    for name in ("presets", "profiles"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def test_commands__are_of_known_programs_and_targets():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    of_developers = blocks("sh", (ROOT / "CONTRIBUTING.md").read_text())
    for command in COMMANDS + [line for block in of_developers for line in block.splitlines()]:
        program, *arguments = shlex.split(command)
        assert program in FIRST_WORDS, command
        if program == "make":
            assert set(arguments) <= targets, command


@pytest.mark.parametrize(
    "page", sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - {ROOT / "CHANGELOG.md"})
)
def test_commands__in_sentences_and_tables_exist(page):
    named = re.findall(r"`corpusmill ([a-z][a-z-]+)[ `]", page.read_text("utf-8"))
    assert [name for name in named if name not in main.commands] == []


@pytest.mark.parametrize("command", list(dict.fromkeys(ON_MINE)))
def test_command_on_mine_yaml__runs_dry(command, elsewhere):
    if missing := [option for option, absent in NOT_HERE.items() if absent and option in command]:
        pytest.skip(f"this machine has nothing for {missing[0]}")
    for place in (WHERE, "/path/to/corpusmill/Snakefile"):
        command = command.replace(place, str(ROOT / "Snakefile"))
    program, *arguments = shlex.split(command)
    arguments += [] if {"-n", "--dry-run"} & set(arguments) else ["-n"]
    done = {"snakemake": snakemake, "corpusmill": corpusmill}[program](elsewhere, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["slurm", "slurm-small"])
def test_profiles__parse_and_do_not_meet(name):
    """profiles/default wins over --profile, so a key of both would be lost."""
    default, slurm = (
        yaml.safe_load((ROOT / f"profiles/{one}/profile.yaml").read_text())
        for one in ("default", name)
    )
    assert slurm["executor"] == "slurm"
    assert not set(default) & set(slurm)


def test_small_profile__groups_rules_that_exist():
    small = yaml.safe_load((ROOT / "profiles/slurm-small/profile.yaml").read_text())
    assert set(small["groups"]) <= RULE_NAMES
    # In no group: a job of its own, done where Snakemake runs, or only with `spans`.
    apart = {"demo", "plan", "columns", "join", "pack", "export", "manifest", "recall", "summarize",
             "report", "card", "span", "repeat", "cut"}  # fmt: skip
    assert RULE_NAMES - set(small["groups"]) <= apart


def corpusmill(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [warm_python(), "-m", "corpusmill", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def follow(page: str, folder: Path) -> Path:
    """Do what a page says, on small data of one's own."""
    small_corpus(folder)
    (folder / "raw").rename(folder / "data")
    for command in milled_for_real(page):
        done = corpusmill(folder, *shlex.split(command)[1:])
        assert done.returncode == 0, f"{command}: {done.stdout} {done.stderr}"
    return folder


@pytest.fixture(scope="module")
def milled(tmp_path_factory) -> Path:
    """Where somebody has followed README: a finished run."""
    return follow("README.md", tmp_path_factory.mktemp("milled"))


def test_readme__goes_from_data_to_tokens(milled):
    commands = [command.split()[1] for command in milled_for_real("README.md")]
    assert commands[:3] == ["init", "check", "run"]
    assert (milled / "results/tokens/train/00000.bin").stat().st_size > 0


# What needs torch, a server or certain sources: tests/test_stream_docs.py.
PYTHON = [
    (page, block)
    for page in ("README.md", "docs/how-to/runs.md", "docs/how-to/train.md")
    for block in blocks("python", PAGES[page])
    if not re.search("torch|https:|docstrings", block)
]


@pytest.mark.parametrize(("page", "block"), PYTHON)
def test_python_block__runs_on_a_finished_run(page, block, milled, monkeypatch):
    monkeypatch.chdir(milled)
    exec(compile(block, page, "exec"), {})


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_quickstart__reads_shards_of_both_dtypes(dtype, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results/tokens/train"
    folder.mkdir(parents=True)
    ids = np.arange(40, dtype=np.dtype(dtype).newbyteorder("<"))
    ids.tofile(folder / "00000.bin")
    np.arange(0, 41, 10, dtype="<u8").tofile(folder / "00000.idx")
    (folder / "00000.json").write_text(json.dumps({"dtype": dtype}))
    page = "docs/start/quickstart.md"
    (block,) = (block for block in blocks("python", PAGES[page]) if "facts" in block)
    names: dict = {}
    exec(compile(block, page, "exec"), names)
    assert names["document"].tolist() == list(range(30, 40))


def test_quickstart__ends_with_batches(tmp_path, monkeypatch):
    page = "docs/start/quickstart.md"
    (more,) = blocks("yaml", PAGES[page])
    (tmp_path / "train.yaml").write_text(more)
    monkeypatch.chdir(follow(page, tmp_path))
    names: dict = {}
    for block in blocks("python", PAGES[page]):
        exec(compile(block, page, "exec"), names)
    inputs, targets = names["get_batch"]("val", batch_size=3, block_size=16)
    assert inputs.shape == targets.shape == (3, 16)
    assert np.array_equal(inputs[:, 1:], targets[:, :-1])
    assert names["document"][-1] == names["meta"]["eos_token_id"]


# The reference of commands.


def test_command_pages__are_what_the_help_says():
    """After a change of a docstring or an option: python -m corpusmill.cli.reference"""
    found = {page.name: page.read_text("utf-8") for page in commands.FOLDER.glob("*")}
    assert found == commands.pages()


@pytest.mark.parametrize("name", commands.main.commands)
def test_command_page__has_every_option_with_a_meaning(name):
    page = commands.pages()[f"{name}.md"]
    cells = [line.strip("|").split(" | ") for line in page.splitlines() if line.startswith("| `-")]
    listed = {option for row in cells for option in re.findall("--[a-z-]+", row[0])}
    options = {one for param in commands.main.commands[name].params for one in param.opts}
    assert listed >= {option for option in options if option.startswith("--")}
    assert all(row[-1].strip(" |.") not in ("", "None") for row in cells)


def test_command_pages__say_in_a_sentence_what_each_does():
    page = commands.pages()["index.md"]
    assert re.findall(r"^\| \[(.*?)\]", page, re.MULTILINE) == list(commands.main.commands)
    assert "..." not in page


def test_choose_filters__measures_with_its_own_list(tmp_path):
    page = "docs/start/choose-filters.md"
    (tmp_path / "filters.yaml").write_text(*blocks("yaml", PAGES[page]))
    small_corpus(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "raw").rename(tmp_path / "data/web")
    before_the_run = [line for line in milled_for_real(page) if line.split()[1] != "estimate"][:-2]
    assert [line.split()[1] for line in before_the_run] == ["init", "check", *["calibrate"] * 2]
    for command in before_the_run:
        done = corpusmill(tmp_path, *shlex.split(command)[1:])
        assert done.returncode == 0, f"{command}: {done.stdout} {done.stderr}"


def test_mixtures__examples_are_valid():
    page = (ROOT / "docs/how-to/mixtures.md").read_text("utf-8")
    examples = [yaml.safe_load(block) for block in blocks("yaml", page)]
    complete = [one for one in examples if "mixture" in one]
    assert ["stages" in one for one in complete] == [False, True]
    shipped = yaml.safe_load((ROOT / "config.yaml").read_text())
    for number, one in enumerate(complete):
        names = ["web", "code", "books"][: 3 - number]
        sources = [{"name": name, "files": ["a"]} for name in names]
        given = shipped | {"sources": sources, "tokenizer": shipped["tokenizer"] | {"source": "a"},
                           "mixture": shipped["mixture"] | one["mixture"]}  # fmt: skip
        config = Config.read(given | {"stages": one.get("stages", [])})
        assert [*config.faults()] == []


# Links.


def anchors(page: Path) -> set[str]:
    """What headings are called in links."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]))
def test_links__lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_readme__is_short():
    assert len(README.splitlines()) <= 200


# The configuration.


def keys_of(schema: dict, name: str = "") -> set[str]:
    """`dedup.bands`, `sources[].name`: every key of a schema that holds a value."""
    inner = schema.get("items", schema)
    if "properties" not in inner:
        return {name}
    own = {name} if "." in name and schema["type"] != "object" else set()
    name += "[]" if inner is not schema else ""
    members = inner["properties"].items()
    return own.union(*(keys_of(value, f"{name}.{key}".strip(".")) for key, value in members))


def test_configuration_md__is_what_the_module_writes():
    assert page() == CONFIGURATION, "run `python -m corpusmill.run.reference`"


def test_limits__of_a_list_names_the_values_as_they_are():
    assert limits({"type": "array", "items": {"enum": ["one", "two"]}}) == "list of: one, two"
    assert limits({"type": "array", "items": {"type": "string"}}) == "list of strings"


def keys_listed() -> list[list[str]]:
    cells = (line.strip("|").split(" | ") for line in CONFIGURATION.splitlines())
    return [[cell.strip() for cell in row] for row in cells if row[0].startswith(" `")]


def test_configuration_md__has_the_keys_of_the_schema():
    schema = Config.schema()
    listed = [row[0].strip("`") for row in keys_listed()]
    assert len(listed) == len(set(listed))
    assert set(listed) == keys_of(schema)


def test_configuration_md__has_the_values_of_config_yaml():
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    for name, value, *_ in keys_listed():
        if "[]" in name:
            continue
        found = config
        *sections, key = name.strip("`").split(".")
        for section in sections:
            found = found[section] if isinstance(found, dict) else None
        if isinstance(found, dict):  # otherwise a key of an optional object
            assert yaml.safe_load(value.strip("`")) == found[key], name


def test_configuration_md__has_the_defaults_of_sources_that_the_layout_takes(tmp_path):
    """What a source without the key gets, asked of the code."""
    write_jsonl(tmp_path / "a.jsonl", [{"text": "grain"}])
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    config["sources"] = [{"name": "a", "files": [str(tmp_path / "a.jsonl")]}]
    config = Config.of(config)
    layout = Layout.planned(config, tmp_path / "results", {})
    listed = {row[0].strip("`"): row[1] for row in keys_listed()}
    default = {key: yaml.safe_load(listed[f"sources[].{key}"].strip("`")) for key in
               ("text_field", "weight", "max_malformed_fraction")}  # fmt: skip
    ((_, _, field, malformed),) = layout.inputs.found_files()
    got = {"text_field": field, "weight": config.weights["a"], "max_malformed_fraction": malformed}
    assert got == default


def test_conda_environment__has_the_versions_of_requirements():
    environment = yaml.safe_load((ROOT / "envs/corpusmill.yaml").read_text())
    (pinned,) = (entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    first, _ = (ROOT / "envs/requirements.txt").read_text().split("# What they need.")
    assert pinned == re.findall(r"^([^#\s]+)", first, re.MULTILINE)


# Rules and the files they write.


def test_architecture__has_a_row_for_every_rule_and_no_other():
    listed = [row[0].strip("`") for row in rows("Data flow", ARCHITECTURE)]
    assert sorted(listed) == sorted(RULE_NAMES)


def test_formats__name_only_rules_that_exist():
    named = set(re.findall(r"[Ww]ritten by\s+`(\w+)`", FORMATS))
    assert named <= RULE_NAMES
    assert len(named) > 15


def written_paths() -> set[str]:
    """Every path under results/ that a rule names, as the pages on files spell it."""
    found = set()
    for text in RULES.values():
        for path in re.findall(r'"((?:results|\{DEMO\})/[^"]*)"', text):
            path = path.replace("{DEMO}", "results/demo").replace("train/00000", "{split}/{shard}")
            stages = STAGES if "{stage}" in path else ("",)
            found |= {path.replace("{stage}", stage) for stage in stages}
    found |= {f"results/corpus/{{split}}/{{shard}}.{ending}" for ending in ("jsonl.zst", "parquet")}
    demo = found & {"results/demo/{name}"}
    return found - demo | {f"results/demo/{name}" for name in FILES | EVALUATION_FILES}


def test_formats__document_every_path_of_the_rules():
    paths = written_paths()
    assert len(paths) > 40
    assert sorted(path for path in paths if path not in FORMATS) == []


def test_formats__name_the_versions_that_files_carry(milled):
    files = ["manifest.json", "summary.json", "tokens/train/00000.json"]
    lines = [json.loads((milled / "results" / file).read_text()) for file in files]
    lines.append(json.loads((milled / "results/plan/parts.jsonl").read_text().splitlines()[0]))
    marks = {key: value for line in lines for key, value in line.items() if "corpusmill." in key}
    assert len(marks) == 4
    for mark, version in marks.items():
        assert re.search(rf"{re.escape(mark)}\W+{version}\b", FORMATS), mark
