"""A tokenizer folder that an enemy made: its code is never run, what it says is checked."""

import builtins
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from workflow import ROOT

from corpusmill.documents.vocabulary import MOST_IDS, token_ids_of
from corpusmill.run.early_checks import TokenizerCheck
from corpusmill.tokens.tokenizer_check import check_tokenizer, own_code
from corpusmill.tokens.tokenizer_folder import keep_tokenizer
from corpusmill.tokens.tokenizers import LightReference, TokenizerFacts, load_reference

AUTO_MAPS = {
    "beside a class of transformers": {"auto_map": {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}},
    "for a class of its own": {
        "auto_map": {"AutoTokenizer": ["evil.Evil", None]}, "tokenizer_class": "Evil"
    },
    "in another repository": {
        "auto_map": {"AutoTokenizer": ["evil/evil--evil.Evil", None]}, "tokenizer_class": "Evil"
    },
    "of no kind": {"auto_map": 5},
}  # fmt: skip


@pytest.fixture
def tokenizer(tiny_tokenizer, tmp_path, monkeypatch) -> Path:
    """A tokenizer with code beside it that leaves a mark; nobody answers a question."""
    kept, _ = tiny_tokenizer
    folder = tmp_path / "given"
    folder.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(kept / name, folder / name)
    (folder / "evil.py").write_text(
        f"import os\nos.mkdir({str(tmp_path / 'ran')!r})\nclass Evil:\n    pass\n"
    )

    def asked(*_: object) -> str:
        raise AssertionError("a question was asked")

    monkeypatch.setattr(builtins, "input", asked)
    return folder


def said_in(folder: Path, name: str, members: dict) -> None:
    path = folder / name
    there = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(there | members))


@pytest.mark.parametrize("kind", AUTO_MAPS)
def test_load_reference__runs_no_code_of_the_folder(kind, tokenizer, tmp_path):
    said_in(tokenizer, "tokenizer_config.json", AUTO_MAPS[kind])
    try:
        load_reference(str(tokenizer))
        refused = ""
    except ValueError as error:
        refused = str(error)
    assert not (tmp_path / "ran").exists()
    assert bool(refused) == (kind != "beside a class of transformers")
    assert "\n" not in refused
    if kind in ("for a class of its own", "in another repository"):
        assert "code of its own (auto_map), which corpusmill never runs" in refused


def test_load_reference__runs_no_code_of_a_model(tokenizer, tmp_path):
    (tokenizer / "tokenizer_config.json").unlink()
    said_in(tokenizer, "config.json", {
        "model_type": "evil", "auto_map": {"AutoConfig": "evil.Evil", "AutoTokenizer": "evil.Evil"},
    })  # fmt: skip
    load_reference(str(tokenizer))  # by its tokenizer.json alone
    assert not (tmp_path / "ran").exists()


def test_keep_tokenizer__keeps_no_name_of_code(tokenizer, tmp_path):
    said_in(tokenizer, "tokenizer_config.json", AUTO_MAPS["beside a class of transformers"])
    keep_tokenizer(tmp_path / "kept", str(tokenizer), "auto", "auto")
    assert "evil" not in (tmp_path / "kept/tokenizer_config.json").read_text()
    assert not (tmp_path / "ran").exists()


def begun_check(folder):
    arguments = [str(folder), "auto", "new", "auto"]
    return TokenizerCheck("corpusmill.tokens.tokenizer_check", arguments, "", ROOT)


def test_check__says_that_code_is_not_run(tokenizer):
    said_in(tokenizer, "tokenizer_config.json", AUTO_MAPS["beside a class of transformers"])
    check = begun_check(tokenizer)
    (note,) = check.notes()
    assert check.faults() == []
    assert note == own_code(tokenizer)
    assert "tokenizer_config.json names code of its own (auto_map). corpusmill never runs" in note


def test_check__of_a_config_without_end(tokenizer):
    (tokenizer / "tokenizer_config.json").write_text('{"a":' * 100_000)
    (fault,) = begun_check(tokenizer).faults()
    assert "tokenizer_config.json" in fault
    assert "Copy the tokenizer again." in fault


@pytest.mark.whole
def test_check__of_rules_that_multiply_a_text_ends(tokenizer):
    definition = json.loads((tokenizer / "tokenizer.json").read_text())
    times_four = {"type": "Replace", "pattern": {"Regex": "."}, "content": "aaaa"}
    definition["normalizer"] = {"type": "Sequence", "normalizers": [times_four] * 16}
    (tokenizer / "tokenizer.json").write_text(json.dumps(definition))
    (fault,) = begun_check(tokenizer).faults()
    assert fault.startswith("tokenizer.source: it took too much time or memory for a few words (")


def test_check__that_is_killed_has_a_fault(tokenizer):
    check = begun_check(tokenizer)
    check._process.kill()
    (fault,) = check.faults()
    assert "(signal 9)" in fault


BROKEN = [
    b"",
    b"[]",
    b"{}",
    b'{"model": 5}',
    b"\xff",
    b'{"a":' * 100_000,
    b'{"model": {"vocab": 1}}',
]


@pytest.mark.parametrize("content", BROKEN)
def test_light_reference__of_no_tokenizer_is_a_sentence(content, tmp_path):
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"tokenizer\.json: expected what corpusmill writes"):
        LightReference(tmp_path)


def test_light_reference__of_a_device_waits_for_nothing(tmp_path):
    (tmp_path / "tokenizer.json").symlink_to("/dev/zero")
    with pytest.raises(OSError, match="expected a regular file, found a device"):
        LightReference(tmp_path)


SOUND = [
    ("source", "x"), ("end_of_text", "x"), ("engine", "x"), ("added_bytes", None),
    ("added_bytes", 10**10), ("added_bytes", -1),
]  # fmt: skip


@pytest.mark.parametrize("member", TokenizerFacts._fields)
@pytest.mark.parametrize("value", [None, 10**10, -1, "x", [1.5], {"a": "b"}, ...])
def test_facts__with_a_member_that_cannot_be_are_refused(member, value, tiny_tokenizer):
    _, whole = tiny_tokenizer
    content = whole._asdict() | {member: value}
    if value is ...:
        del content[member]
    if (member, value) in SOUND:
        assert TokenizerFacts.of(content, "facts")
        return
    with pytest.raises(ValueError, match=r"^facts: ") as refused:
        TokenizerFacts.of(content, "facts")
    assert "\n" not in str(refused.value)


def test_facts__of_more_ids_than_anybody_counts_are_refused():
    sound = {"dtype": "uint32", "vocabulary": MOST_IDS, "end_of_text_id": MOST_IDS - 1}
    assert token_ids_of(sound, "facts").size == MOST_IDS
    with pytest.raises(ValueError, match="expected a vocabulary of 1 to 16,777,216 ids, found 167"):
        token_ids_of(sound | {"vocabulary": MOST_IDS + 1}, "facts")
    with pytest.raises(ValueError, match="expected a vocabulary of 1 to 65,536 ids"):
        token_ids_of(sound | {"dtype": "uint16"}, "facts")


def test_transformers__asks_nothing_at_a_terminal(tokenizer, tmp_path):
    """As a job: with a person who says yes to everything."""
    said_in(tokenizer, "tokenizer_config.json", AUTO_MAPS["for a class of its own"])
    program = (
        "import sys\nfrom corpusmill.tokens.tokenizers import load_reference\n"
        "load_reference(sys.argv[1])"
    )
    command = [sys.executable, "-c", program, str(tokenizer)]
    done = subprocess.run(
        command, input="y\n" * 9, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "[y/N]" not in done.stdout + done.stderr
    assert done.returncode == 1
    assert not (tmp_path / "ran").exists()


AUTO_CLASSES = ("AutoTokenizer", "AutoConfig", "AutoProcessor", "AutoModel", "AutoFeatureExtractor",
                "AutoImageProcessor")  # fmt: skip


@pytest.mark.parametrize("name", AUTO_CLASSES)
def test_transformers__asks_nothing_for_a_class_that_loads_others(name, tokenizer, tmp_path):
    """The class of the tokenizer is one of transformers, and loads what the folder names."""
    code = {"auto_map": dict.fromkeys(AUTO_CLASSES, "evil.Evil"), "model_type": "evil"}
    code["auto_map"]["AutoTokenizer"] = ["evil.Evil", "evil.Evil"]
    said_in(tokenizer, "tokenizer_config.json", code | {"tokenizer_class": name})
    for file in ("config.json", "processor_config.json", "preprocessor_config.json"):
        said_in(tokenizer, file, code | {"processor_class": "Evil", "image_processor_type": "Evil",
                                         "feature_extractor_type": "Evil"})  # fmt: skip
    program = (
        "import sys\nfrom corpusmill.tokens.tokenizers import load_reference\n"
        "load_reference(sys.argv[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tokenizer)], input="y\n" * 9, cwd=ROOT,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "[y/N]" not in done.stdout + done.stderr
    assert not (tmp_path / "ran").exists()


def test_keep_tokenizer__of_an_id_of_two_billion_is_refused_at_once(tokenizer, tmp_path):
    definition = json.loads((tokenizer / "tokenizer.json").read_text())
    definition["model"]["vocab"]["far away"] = 1 << 31
    (tokenizer / "tokenizer.json").write_text(json.dumps(definition))
    began = time.process_time()
    with pytest.raises(ValueError, match="expected 16,777,216 ids at most"):
        keep_tokenizer(tmp_path / "kept", str(tokenizer), "auto", "auto")
    assert time.process_time() - began < 5


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json"])
def test_check__of_10_gb_of_nothing_is_refused(name, tokenizer):
    with open(tokenizer / name, "r+b") as file:
        file.truncate(10 << 30)
    with pytest.raises(ValueError, match=r"expected 536,870,912 bytes at most"):
        check_tokenizer(tokenizer)


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "added_tokens.json"])
def test_load_reference__of_10_gb_of_nothing_is_refused(name, tokenizer):
    with open(tokenizer / name, "ab") as file:
        file.truncate(10 << 30)
    with pytest.raises(ValueError, match=rf"{name}: expected 536,870,912 bytes at most"):
        load_reference(str(tokenizer))
