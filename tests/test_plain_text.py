"""Text of strangers steers no terminal, no log and no file that people read."""

import ast
import json
import math
import re
import subprocess
import sys
import time
import unicodedata

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st
from workflow import ROOT, write_jsonl

from corpusmill.cli.init import in_yaml, quoted
from corpusmill.cli.main import main
from corpusmill.cli.screen import Lines, OneLine
from corpusmill.messages.markdown import plain
from corpusmill.messages.plain_text import (
    LONGEST_LINE,
    LONGEST_MESSAGE,
    STEERING,
    json_text,
    short,
    shown,
    shown_json,
)
from corpusmill.reader.patience import to_stderr

EVIL = "\x1b]0;title\x07\x1b[2J\x9b31m\u202egnp\r\x7f"


def steers(text: str) -> bool:
    return bool(re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text))


@given(st.text())
def test_shown__steers_nothing_and_leaves_the_rest(text):
    assert not steers(shown(text))
    plain_ones = [c for c in text if unicodedata.category(c) not in STEERING]
    assert shown("".join(plain_ones)) == "".join(plain_ones)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_shown_json__says_the_same(text):
    told = shown_json(json.dumps({"a": text}, ensure_ascii=False))
    assert json.loads(told) == {"a": text}
    assert not steers(told)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_quoted__is_read_back_by_yaml(text):
    told = quoted([text])
    assert yaml.safe_load(f"files: {told}") == {"files": [text]}
    assert not steers(told)
    assert len(told.splitlines()) == 1


def test_init__writes_yaml_that_can_be_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "a\x1b[31m\x9b\u202e\u2028b.jsonl"
    write_jsonl(tmp_path / name, [{"text\x1b[2J\x85\ufeff": "some text"}])
    done = CliRunner().invoke(main, ["init", name])
    assert done.exit_code == 0, done.output
    assert not steers(done.output)
    (source,) = yaml.safe_load((tmp_path / "corpusmill.yaml").read_text("utf-8"))["sources"]
    assert (source["files"], source["text_field"]) == ([name], "text\x1b[2J\x85\ufeff")


@pytest.mark.parametrize(
    "command", [["verify"], ["why", "1", "--results"], ["eye-test"], ["watch"]]
)
def test_messages__show_names_as_they_are(command, tmp_path):
    (tmp_path / EVIL).mkdir()
    done = CliRunner().invoke(main, [*command, str(tmp_path / EVIL)])
    assert done.exit_code in (1, 2)
    assert "\\x1b]0;title" in done.output
    assert not steers(done.output)


def test_messages__of_a_command_that_is_none(capsys):
    done = CliRunner().invoke(main, [EVIL])
    assert not steers(done.output)


def test_lines__of_screens_and_readers(capsys):
    Lines().say(EVIL)
    OneLine().show(EVIL)
    to_stderr(EVIL)
    assert not steers(capsys.readouterr().err)


def test_logs__show_what_a_record_says(tmp_path):
    body = (
        "import logging, sys\nfrom corpusmill.run.step_log import step_log\n"
        "with step_log(sys.argv[1]):\n"
        "    logging.warning('a name: %s', sys.argv[2])\n    raise ValueError(sys.argv[2])\n"
    )
    command = [sys.executable, "-c", body, str(tmp_path / "a.log"), EVIL]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    for told in (done.stderr, (tmp_path / "a.log").read_text()):
        assert "\\x1b]0;title" in told
        assert not steers(told)


def test_card__of_a_source_with_a_name_that_steers():
    assert not steers(plain(EVIL + "\n# Title"))
    assert "\n" not in plain("\n")


def test_command__says_nothing_but_through_echo():
    """Whoever prints in another way forgets the names of strangers."""
    tree = ast.parse((ROOT / "corpusmill/cli/main.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [ast.unparse(node.func) for node in calls]
    assert names.count("click.echo") == 1
    assert "print" not in names


def test_short__cuts_words_lines_and_messages():
    assert short("a path/of/some length") == "a path/of/some length"
    assert short(f"its {'a' * 5000} is") == f"its {'a' * 100}... (5,000 characters) is"
    assert len(short("a b " * 10_000)) < LONGEST_LINE + 100
    assert short(f"{'a b ' * 10_000}. Correct it.").endswith("b . Correct it.")
    assert len(short("a b\n" * 100_000)) < LONGEST_MESSAGE + 100


def test_short__takes_time_in_proportion_to_the_message():
    """Words just too short to be cut took 2 s of CPU per megabyte."""
    began = time.process_time()
    short(("a" * 1000 + " ") * 20_000)
    assert time.process_time() - began < 20


def test_json_text__is_json_whatever_the_numbers_are():
    told = {"a": math.nan, "b": [math.inf, (-math.inf, 1.5)], "c": {"d": math.nan}}
    assert json.loads(json_text(told), parse_constant=pytest.fail) == {
        "a": None, "b": ["inf", ["-inf", 1.5]], "c": {"d": None}
    }  # fmt: skip


LONG = "A" * 70_000


@pytest.mark.whole
@pytest.mark.parametrize(
    "more",
    [{"sources": [{"name": "a", "files": [LONG]}]}, {"tokenizer": {"source": LONG}},
     {"tokenizer": {"source": f"/{LONG}"}}, {"sources": [{"name": LONG, "files": ["b.jsonl"]}]},
     {"filters": [{"name": "x", "file": LONG}]}, {LONG: 1},
     {"sources": [{"name": "a", "files": ["a.jsonl"], "text_field": LONG}]}],
    ids=["pattern", "tokenizer", "folder", "source", "filter", "key", "field"],
)  # fmt: skip
def test_check__repeats_no_long_value_whole(tmp_path, monkeypatch, more):
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "a.jsonl", [{"text": "some text"}])
    config = {"sources": [{"name": "a", "files": ["a.jsonl"]}], "tokenizer": {"source": "train"}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config | more))
    for command in ("check", "scan"):
        done = CliRunner().invoke(main, [command, "mine.yaml"])
        assert isinstance(done.exception, SystemExit | None), done.exception
        assert len(done.output) < 12_000
        if done.exit_code:
            assert "AAA... (70," in done.output or "b.jsonl" in done.output


@pytest.mark.whole
def test_check_and_init__tell_nul_and_depth_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "a.jsonl", [{"text": "some text"}])
    config = {"sources": [{"name": "a", "files": ["a.jsonl"]}], "tokenizer": {"source": "a\0b"}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
    done = CliRunner().invoke(main, ["check", "mine.yaml"])
    assert "tokenizer.source: expected a folder or an id" in done.output
    (tmp_path / "deep.jsonl").write_text('{"text":"a","x":' + "[" * 100_000 + "]" * 100_000 + "}")
    done = CliRunner().invoke(main, ["init", "-o", "new.yaml", "deep.jsonl"])
    assert isinstance(done.exception, SystemExit | None), done.exception
    assert "deep" in done.output


@example("2024-13-45")
@example("[" * 100)
@example("[EOS")
@example("a: b")
@example("<|im_end|>")
@example("yes")
@given(st.text())
def test_name__of_any_kind_is_read_back_from_yaml(name):
    (back,) = yaml.safe_load(f"- {in_yaml(name):<24}  # a comment")
    assert back == name
