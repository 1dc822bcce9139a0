"""A tokenizer folder that an enemy made: its code is never run, what it says is checked."""

import builtins
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from workflow import ROOT, write_jsonl

from corpusmill.mill.tokens.bounded import Bounds, in_bounded_process, quiet
from corpusmill.mill.tokens.named_files import refuse_named_files_below
from corpusmill.mill.tokens.probes import PROBES
from corpusmill.mill.tokens.tokenizer_check import check_tokenizer, own_code, whole_vocabulary
from corpusmill.mill.tokens.tokenizer_folder import keep_tokenizer
from corpusmill.mill.tokens.tokenizers import (
    PLAIN_FILE,
    LightReference,
    TokenizerFacts,
    decoded,
    load_kept,
    load_received,
    load_reference,
    normalized,
    reference_ids,
)
from corpusmill.mill.tokens.vocabulary import MOST_IDS, token_ids_of
from corpusmill.run.early_checks import TokenizerCheck
from corpusmill.run.job_progress import Heartbeat

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
        assert "custom code (auto_map), which corpusmill never runs" in refused


@pytest.mark.parametrize(
    "name", [b"\xff.json", b"a\x1b[31m.json", b"{part}.json", b"<results>.json"]
)
def test_run__refuses_a_tokenizer_with_a_name_that_no_job_reads(name, tokenizer, tmp_path):
    with open(os.fsencode(tokenizer) + b"/" + name, "w"):
        pass
    write_jsonl(tmp_path / "a.jsonl", [{"text": "some text"}])
    config = {"sources": [{"name": "a", "files": ["a.jsonl"]}],
              "tokenizer": {"source": str(tokenizer)}}  # fmt: skip
    (tmp_path / "mine.yaml").write_text(json.dumps(config))
    command = [sys.executable, "-m", "corpusmill", "run", "mine.yaml", "-n"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False,
                          env=environment)  # fmt: skip
    assert done.returncode == 1
    assert "tokenizer.source: " in done.stderr
    assert "Rename the file" in done.stderr
    assert "Traceback" not in done.stderr


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
    return TokenizerCheck("corpusmill.mill.tokens.tokenizer_check", arguments, "", ROOT)


@pytest.mark.whole
def test_check__says_that_code_is_not_run(tokenizer):
    said_in(tokenizer, "tokenizer_config.json", AUTO_MAPS["beside a class of transformers"])
    check = begun_check(tokenizer)
    (note,) = check.notes()
    assert check.faults() == []
    assert note == own_code(tokenizer)
    assert "tokenizer_config.json refers to custom code (auto_map). corpusmill never runs" in note


@pytest.mark.whole
def test_check__of_a_token_with_line_ends_says_its_reason_in_one_line(tokenizer):
    said_in(tokenizer, "tokenizer_config.json", {"eos_token": "\x1b]0;x\n!!python\u2028"})
    (fault,) = begun_check(tokenizer).faults()
    assert fault.startswith("tokenizer.")
    assert "!!python" in fault
    assert "\x1b" not in fault


def test_check__of_a_config_without_end(tokenizer):
    (tokenizer / "tokenizer_config.json").write_text('{"a":' * 100_000)
    (fault,) = begun_check(tokenizer).faults()
    assert "tokenizer_config.json" in fault
    assert "Copy the tokenizer again." in fault


@pytest.mark.whole
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
    with pytest.raises(
        ValueError, match=r"tokenizer\.json: expected content written by corpusmill"
    ):
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
        "import sys\nfrom corpusmill.mill.tokens.tokenizers import load_reference\n"
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
        "import sys\nfrom corpusmill.mill.tokens.tokenizers import load_reference\n"
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
    with pytest.raises(ValueError, match="expected at most 16,777,216 ids"):
        keep_tokenizer(tmp_path / "kept", str(tokenizer), "auto", "auto")
    assert time.process_time() - began < 5


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "added_tokens.json"])
def test_tokenizer__of_10_gb_of_nothing_is_refused_wherever_it_is_loaded(name, tokenizer):
    with open(tokenizer / name, "ab") as file:
        file.truncate(10 << 30)
    with pytest.raises(ValueError, match=rf"{name}: expected at most 536,870,912 bytes"):
        load_reference(str(tokenizer))
    if name != "added_tokens.json":
        with pytest.raises(ValueError, match=rf"{name}: expected at most [\d,]+ bytes"):
            check_tokenizer(tokenizer)


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
              "use_regex": False}  # fmt: skip


def replacing(pattern: dict, content: str) -> dict:
    return {"type": "Replace", "pattern": pattern, "content": content}


def added(id: int, content: str) -> dict:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {"id": id, "content": content} | flags


BEYOND_BOUNDS = {
    "steps": ({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [BYTE_LEVEL] * 2000}},
              "pre_tokenizer: expected at most 64 steps, found 2,001"),
    "steps that double": (
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [BYTE_LEVEL] * 12}},
        "pre_tokenizer: all steps together: expected at most 256 output characters per character"),
    "steps that multiply": (
        {"decoder": {"type": "Sequence", "decoders": [replacing({"Regex": "."}, "aaaa")] * 16}},
        "decoder: all steps together: expected at most 256 output characters"),
    "steps that match nothing": (
        {"normalizer": {"type": "Sequence", "normalizers": [replacing({"Regex": "x*"}, "a")] * 9}},
        "normalizer: all steps together: expected at most 256 output characters per character"),
    "a long part": ({"normalizer": {"type": "Prepend", "prepend": "x" * 20_000_000}},
                    "normalizer: expected at most 4,194,304 bytes, found 20,"),
    "a long string": ({"normalizer": {"type": "Prepend", "prepend": "x" * 100_000}},
                      "normalizer: a string: expected at most 10,000 characters, found 100,000"),
    "many values": ({"post_processor": {"type": "TemplateProcessing", "single": [5] * 100_000}},
                    "post_processor: expected at most 20,000 values, found 100,00"),
    "a long prefix": ({"model": {"type": "WordPiece", "continuing_subword_prefix": "#" * 20_000}},
                      "model.continuing_subword_prefix: expected at most 10,000 characters"),
    "long words": ({"model": {"type": "WordPiece", "max_input_chars_per_word": 1 << 60}},
                   "model.max_input_chars_per_word: expected at most 10,000 characters"),
    "chance": ({"model": {"type": "BPE", "dropout": 0.5, "vocab": {}, "merges": []}},
               "model.dropout: expected none, because dropout gives different ids in every run"),
    "many added tokens": ({"added_tokens": [added(n, f"<{n}>") for n in range(100_001)]},
                          "added_tokens: expected at most 100,000 tokens, found 100,001"),
    "a long added token": ({"added_tokens": [added(9, "x" * 10_001)]},
                           "added_tokens: a token: expected at most 10,000 characters"),
    "a far added token": ({"added_tokens": [added(1 << 31, "x")]},
                          "added_tokens: expected at most 16,777,216 ids, found 2,147,483,649"),
}  # fmt: skip


@pytest.mark.some(4)
@pytest.mark.parametrize("kind", BEYOND_BOUNDS)
def test_definition__beyond_bounds_is_refused_wherever_it_is_loaded(kind, tokenizer):
    members, expected = BEYOND_BOUNDS[kind]
    said_in(tokenizer, "tokenizer.json", members)
    began = time.process_time()
    for load in (whole_vocabulary, LightReference, lambda folder: load_reference(str(folder))):
        with pytest.raises(ValueError, match=re.escape(expected)) as refused:
            load(tokenizer)
        assert "\n" not in str(refused.value)
    assert time.process_time() - began < 10


PANICS = {
    "in a pre-tokenizer": {"pre_tokenizer": {"type": "FixedLength", "length": 0}},
    "in a normalizer": {"normalizer": replacing({"String": ""}, "a")},
    "in a pattern": {"normalizer": replacing({"Regex": "(a+)+$"}, "b")},
    "in a table": {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAAAAAA"}},
    "in a decoder": {
        "decoder": {"type": "Strip", "content": "e", "start": 1 << 63, "stop": 1 << 63}
    },
}


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", PANICS)
def test_keep_tokenizer__of_what_a_library_gives_up_on_is_a_sentence(
    kind, tokenizer, tmp_path, capfd
):
    said_in(tokenizer, "tokenizer.json", PANICS[kind])
    with pytest.raises(ValueError, match=r"^tokenizer\.source: .* Give ") as refused:
        keep_tokenizer(tmp_path / "kept", str(tokenizer), "auto", "auto")
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "kept").exists()
    assert "panicked" not in capfd.readouterr().err


@pytest.mark.parametrize("length", ["", "x", [1]])
def test_keep_tokenizer__of_settings_of_another_type_is_a_sentence(length, tokenizer, tmp_path):
    said_in(tokenizer, "tokenizer_config.json", {"model_max_length": length})
    with pytest.raises(ValueError, match=r"cannot use .* \(TypeError: .*\)\. Give another"):
        keep_tokenizer(tmp_path / "kept", str(tokenizer), "auto", "auto")


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["in a pre-tokenizer", "in a normalizer", "in a table"])
def test_check__of_what_a_library_gives_up_on_is_a_sentence(kind, tokenizer):
    said_in(tokenizer, "tokenizer.json", PANICS[kind])
    (fault,) = begun_check(tokenizer).faults()
    assert re.match(r"tokenizer\.source: the tokenizers library cannot use .*\. Give", fault)
    assert "Panic" not in fault


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", PANICS)
def test_received__is_tried_where_a_panic_is_not_seen(kind, tiny_tokenizer, tokenizer, capfd):
    said_in(tokenizer, "tokenizer.json", PANICS[kind])
    with pytest.raises(ValueError, match=r"the tokenizer libraries cannot use"):
        load_received(tokenizer, tiny_tokenizer[1])
    assert "panicked" not in capfd.readouterr().err


@pytest.mark.parametrize("name", ["config.json", "added_tokens.json", "chat_template.jinja"])
def test_load_reference__waits_for_no_fifo(name, tokenizer):
    os.mkfifo(tokenizer / name)
    with pytest.raises(ValueError, match="expected a regular file, found a FIFO"):
        load_reference(str(tokenizer))


def test_load_reference__refuses_many_special_tokens(tokenizer):
    tokens = {"additional_special_tokens": [f"<{n}>" for n in range(50_000)]}
    said_in(tokenizer, "tokenizer_config.json", tokens)
    for load in (check_tokenizer, lambda folder: load_reference(str(folder))):
        with pytest.raises(ValueError, match="expected at most 10,000 special tokens, found 50,0"):
            load(tokenizer)


def test_check__refuses_settings_of_many_tokens_or_bytes(tokenizer):
    one = {"content": "x", "special": False}
    tokens = {"added_tokens_decoder": dict.fromkeys(range(30_001), one)}
    said_in(tokenizer, "tokenizer_config.json", tokens)
    with pytest.raises(ValueError, match="expected at most 30,000 added tokens, found 30,001"):
        check_tokenizer(tokenizer)
    said_in(tokenizer, "tokenizer_config.json", {"x": "x" * (1 << 24)})
    with pytest.raises(ValueError, match="expected at most 16,777,216 bytes"):
        check_tokenizer(tokenizer)


NAMING = {
    "another definition": {"fast_tokenizer_files": ["../outside/tokenizer.1.0.json"]},
    "one by its whole path": {"fast_tokenizer_files": ["{outside}/tokenizer.1.0.json"]},
    "one beside it": {"fast_tokenizer_files": ["tokenizer.1.0.json"]},
    "a GGUF file": {"gguf_file": "{outside}/x.gguf"},
    "a vocabulary": {"vocab_file": "/etc/passwd"},
    "merges": {"merges_file": "/etc/passwd"},
    "a vocabulary as such": {"vocab": "/etc/passwd"},
    "an object": {"tokenizer_object": "x"},
    "positional ones": {"init_inputs": ["/etc/passwd"]},
    "a SentencePiece model": {"sp_model_kwargs": {"model_file": "/etc/passwd"}},
    "a dictionary": {"sudachi_kwargs": {"sudachi_config_path": "/etc/passwd"}},
    "options": {"mecab_kwargs": {"mecab_option": "-r /etc/passwd"}},
    "a template": {"chat_template": [{"name": "../../PWNED", "template": "x"}]},
    "a template by its path": {"chat_template": [{"name": "/tmp/PWNED", "template": "x"}]},
    "templates by name": {"chat_template": {"default": "x", "..": "y"}},
    "no template": {"chat_template": [5]},
}


@pytest.mark.some(4)
@pytest.mark.parametrize("kind", NAMING)
def test_tokenizer__that_names_files_is_refused_wherever_it_is_loaded(
    kind, tokenizer, tiny_tokenizer, tmp_path
):
    outside = tmp_path / "outside"
    outside.mkdir()
    other = json.loads((tokenizer / "tokenizer.json").read_text())
    other["added_tokens"].append(added(len(other["model"]["vocab"]), "SECRET"))
    for folder in (outside, tokenizer):
        (folder / "tokenizer.1.0.json").write_text(json.dumps(other))
    told = json.dumps(NAMING[kind]).replace("{outside}", str(outside))
    said_in(tokenizer, "tokenizer_config.json", json.loads(told))
    heavy = tiny_tokenizer[1]._replace(light=False)
    refused = []
    for load in (
        check_tokenizer,
        lambda folder: load_reference(str(folder)),
        lambda folder: keep_tokenizer(tmp_path / "kept", str(folder), "auto", "auto"),
        lambda folder: load_received(folder, heavy),
    ):
        with pytest.raises(ValueError, match=r"tokenizer_config\.json: ") as error:
            load(tokenizer)
        refused.append(str(error.value))
    assert len(set(refused)) == 1
    assert "\n" not in refused[0]
    (fault,) = begun_check(tokenizer).faults()
    assert fault == refused[0]


@pytest.mark.parametrize(
    ("file", "members"),
    [
        ("special_tokens_map.json", {"merges_file": "/etc/passwd"}),
        ("config.json", {"configuration_files": ["config.../../outside.json"]}),
        ("inner/tokenizer_config.json", {"fast_tokenizer_files": ["../tokenizer.1.json"]}),
    ],
)
def test_tokenizer__whose_other_files_name_files_is_refused(file, members, tokenizer):
    (tokenizer / file).parent.mkdir(exist_ok=True)
    said_in(tokenizer, file, members)
    for load in (check_tokenizer, lambda folder: load_reference(str(folder))):
        with pytest.raises(ValueError, match=rf"{file}: its member {next(iter(members))} names a"):
            load(tokenizer)


@pytest.mark.whole
def test_tokenizer__may_say_where_it_once_lay(tokenizer, tiny_tokenizer):
    said_in(tokenizer, "tokenizer_config.json", {
        "tokenizer_file": "/root/.cache/tokenizer.json", "name_or_path": "/tmp/x",
        "special_tokens_map_file": "/root/x.json", "vocab_file": None, "sp_model_kwargs": {},
        "chat_template": [{"name": "tool_use", "template": "x"}], "init_inputs": [],
    })  # fmt: skip
    assert begun_check(tokenizer).faults() == []
    assert len(load_reference(str(tokenizer))) == tiny_tokenizer[1].vocabulary


def test_definition__of_an_inner_tokenizer_is_within_bounds_too(tokenizer):
    (tokenizer / "inner").mkdir()
    members, expected = BEYOND_BOUNDS["a long string"]
    said_in(tokenizer, "inner/tokenizer.json", {"model": {}} | members)
    with pytest.raises(ValueError, match=re.escape(expected)):
        load_reference(str(tokenizer))


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["for a class of its own", "a list"])
def test_check__refuses_code_that_the_run_cannot_do_without(kind, tokenizer):
    a_list = {"auto_map": ["evil.T", "evil.T"], "tokenizer_class": "T"}
    said_in(tokenizer, "tokenizer_config.json", AUTO_MAPS.get(kind, a_list))
    with pytest.raises(ValueError, match="custom code") as refused:
        load_reference(str(tokenizer))
    assert begun_check(tokenizer).faults() == [str(refused.value)]


@pytest.mark.whole
def test_check__refuses_a_tokenizer_of_inner_ones_that_the_run_refuses(tokenizer):
    for inner in ("question_encoder_tokenizer", "generator_tokenizer"):
        (tokenizer / inner).mkdir()
        said_in(tokenizer / inner, "tokenizer_config.json", {"tokenizer_class": "RagTokenizer"})
    rag = {"model_type": "rag", "question_encoder": {"model_type": "rag"}, "generator": {}}
    said_in(tokenizer, "config.json", rag)
    said_in(tokenizer, "tokenizer_config.json", {"tokenizer_class": "RagTokenizer"})
    with pytest.raises(ValueError, match="transformers cannot load") as refused:
        load_reference(str(tokenizer))
    assert begun_check(tokenizer).faults() == [str(refused.value)]


@pytest.mark.whole
@pytest.mark.parametrize("id", [4294967295, 4294967290, MOST_IDS])
def test_check__refuses_ids_that_the_run_refuses(id, tokenizer):
    definition = json.loads((tokenizer / "tokenizer.json").read_text())
    definition["model"]["vocab"]["far away"] = id
    (tokenizer / "tokenizer.json").write_text(json.dumps(definition))
    (fault,) = begun_check(tokenizer).faults()
    assert f"model.vocab: expected at most 16,777,216 ids, found {id + 1:,}" in fault


def plain_of(kind: str, tokenizer: Path) -> str:
    definition = json.loads((tokenizer / "tokenizer.json").read_text())
    if kind == "a far id":
        definition["model"]["vocab"]["far away"] = 4294967290
    elif kind == "too many steps":
        definition["pre_tokenizer"] = BEYOND_BOUNDS["steps"][0]["pre_tokenizer"]
    else:
        return '{"model":' * 100_000
    return json.dumps(definition)


@pytest.mark.parametrize("kind", ["a far id", "too many steps", "deep"])
def test_encoder__of_a_plain_definition_beyond_bounds_is_refused(kind, tokenizer, tiny_tokenizer):
    (tokenizer / PLAIN_FILE).write_text(plain_of(kind, tokenizer))
    program = (
        "import sys\nfrom corpusmill.mill.tokens.tokenizers import *\n"
        "facts = TokenizerFacts.of(json.loads(sys.argv[2]), 'facts')\n"
        "try:\n    encoder_of(Path(sys.argv[1]), facts)\n"
        "except ValueError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", "import json\n" + program, str(tokenizer),
         json.dumps(tiny_tokenizer[1]._asdict())],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(rf"{PLAIN_FILE}: expected content written by corpusmill, found", done.stdout)


ON_TEXTS = {"decoder": {"type": "Sequence", "decoders": [
    BYTE_LEVEL, replacing({"Regex": "(?:[b-z]+ ?)+#"}, "x")]}}  # fmt: skip
"""Passes PROBES, and panics on a text of long words."""


def test_panic__behind_the_probes_is_one_sentence(tiny_tokenizer, tokenizer, capfd):
    said_in(tokenizer, "tokenizer.json", ON_TEXTS)
    reference = load_received(tokenizer, tiny_tokenizer[1])
    (ids,) = reference_ids(reference, ["the quick brown fox jumps over the lazy dog " * 9])
    with pytest.raises(ValueError, match="the tokenizer libraries cannot use") as refused:
        decoded(reference, ids)
    assert "\n" not in str(refused.value)
    assert capfd.readouterr().err == ""
    os.write(2, b"there again")
    assert capfd.readouterr().err == "there again"


def slow(tokenizer: Path) -> list[int]:
    """Let the tokenizer take minutes for the ids that are returned, and no time for PROBES."""
    definition = json.loads((tokenizer / "tokenizer.json").read_text())
    vocabulary = definition["model"]["vocab"]
    last = max(vocabulary, key=vocabulary.__getitem__)
    id = vocabulary.pop(last)
    vocabulary["x" * 400 + "zy"] = id
    definition["model"]["merges"] = [
        pair for pair in definition["model"]["merges"] if "".join(pair) in vocabulary
    ]
    pattern = {"Regex": "x*x*x*y"}
    definition["decoder"] = {"type": "Sequence", "decoders": [replacing(pattern, "z"), BYTE_LEVEL]}
    definition["normalizer"] = replacing(pattern, "z")
    (tokenizer / "tokenizer.json").write_text(json.dumps(definition))
    return [id] * 50


SLOW_TEXT = ("x" * 400 + "z") * 2 + "y"
OF_A_CORPUS = {
    "decoding": lambda reference, ids: decoded(reference, ids),
    "normalizing": lambda reference, _: normalized(reference, SLOW_TEXT),
    "encoding": lambda reference, _: reference_ids(reference, [SLOW_TEXT]),
}


@pytest.mark.parametrize("kind", OF_A_CORPUS)
def test_received__that_is_slow_on_a_corpus_is_told_and_ended(
    kind, tiny_tokenizer, tokenizer, monkeypatch
):
    ids, told = slow(tokenizer), []
    monkeypatch.setattr("corpusmill.mill.tokens.bounded.MOST_CPU_SECONDS_OF_A_CALL", 1)
    monkeypatch.setattr("corpusmill.messages.progress.SAY_EVERY_SECONDS", 0.1)
    reference = load_received(tokenizer, tiny_tokenizer[1], "results/tokenizer")
    heartbeat = Heartbeat(told.append)
    heartbeat.start()
    try:
        for _ in range(2):  # whoever asks again is told the same at once
            with pytest.raises(ValueError, match=r"results/tokenizer took too much time or mem"):
                OF_A_CORPUS[kind](reference, ids)
    finally:
        heartbeat.stop()
    assert any(line.startswith("waiting for the tokenizer results/tokenizer (") for line in told)


@pytest.mark.parametrize("kind", OF_A_CORPUS)
def test_received__that_is_slow_on_a_corpus_is_stopped(kind, tiny_tokenizer, tokenizer):
    ids = slow(tokenizer)
    reference = load_received(tokenizer, tiny_tokenizer[1])
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    began = time.process_time()
    signal.alarm(1)
    try:
        with pytest.raises(KeyboardInterrupt):
            OF_A_CORPUS[kind](reference, ids)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert time.process_time() - began < 1
    with pytest.raises(ValueError, match="took too much time"):  # its process is gone
        decoded(reference, [])


def test_received__whose_answer_is_huge_is_refused(tiny_tokenizer, tokenizer, monkeypatch):
    huge = {"type": "Sequence", "decoders": [BYTE_LEVEL, replacing({"String": "q"}, "x" * 200)]}
    said_in(tokenizer, "tokenizer.json", {"decoder": huge})
    monkeypatch.setattr("corpusmill.mill.tokens.bounded.MOST_ANSWER_BYTES", 1 << 10)
    reference = load_received(tokenizer, tiny_tokenizer[1])
    (ids,) = reference_ids(reference, ["q" * 9999])
    with pytest.raises(ValueError, match=r"expected at most [\d,]+ bytes from .*, found 1,999,"):
        decoded(reference, ids)
    assert decoded(reference, ids[:0]) == ""


@pytest.mark.parametrize("file", ["tokenizer.json", None])
def test_received__gives_what_the_reference_gives(file, tiny_tokenizer, tokenizer):
    setting = tiny_tokenizer[1]._replace(light=file is not None)
    received, reference = load_received(tokenizer, setting), load_kept(tokenizer, setting)
    ids = reference_ids(reference, PROBES)
    assert reference_ids(received, PROBES) == ids
    assert [decoded(received, one) for one in ids] == [decoded(reference, one) for one in ids]
    assert [normalized(received, one) for one in PROBES] == PROBES


def test_quiet__of_several_threads_ends_with_the_last(capfd):
    def often() -> None:
        for _ in range(500):
            with quiet():
                os.write(2, b"x")

    threads = [threading.Thread(target=often) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.write(2, b"there again")
    assert capfd.readouterr().err == "there again"


@pytest.mark.whole
def test_bounded_process__ends_what_takes_too_long_or_too_much():
    def busy() -> None:
        while True:
            pass

    began = time.monotonic()
    with pytest.raises(ValueError, match=r"^tokenizer\.source: x took too much time or memory"):
        in_bounded_process("x", Bounds(1), busy)
    assert time.monotonic() - began < 60
    with pytest.raises(ValueError, match="MemoryError"):
        in_bounded_process("x", Bounds(9), lambda: bytes(8 << 30))


def test_bounded_process__gives_back_results_and_errors():
    assert in_bounded_process("x", Bounds(9), lambda: {"a": [1]}) == {"a": [1]}

    def wrong() -> None:
        raise AssertionError("ours")

    with pytest.raises(AssertionError, match="ours"):
        in_bounded_process("x", Bounds(9), wrong)


@pytest.mark.parametrize("file", [None, "tokenizer/tokenizer.json"])
def test_bounded_process__gives_back_what_the_system_says_of_a_disk(file):
    def writes() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file)

    with pytest.raises(OSError, match="No space left") as caught:
        in_bounded_process("x", Bounds(9), writes)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, file)


@pytest.mark.whole
def test_bounded_process__that_waits_for_ever_is_ended(monkeypatch):
    monkeypatch.setattr("corpusmill.mill.tokens.bounded.MOST_SECONDS_PER_CPU_SECOND", 0.1)
    with pytest.raises(ValueError, match=r"took too much time .* \(signal 9\)"):
        in_bounded_process("x", Bounds(5), lambda: time.sleep(1000))


def test_bounded_process__needs_no_threads_of_a_library_that_was_used_before(
    tokenizer, monkeypatch
):
    from tokenizers import Tokenizer

    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "true")
    text = [f"some words {number}" for number in range(1000)]
    made = Tokenizer.from_file(str(tokenizer / "tokenizer.json"))
    made.encode_batch(text)
    ids = in_bounded_process("x", Bounds(5), lambda: [one.ids for one in made.encode_batch(text)])
    assert ids == [one.ids for one in made.encode_batch(text)]


def test_check_tokenizer__follows_no_link_out_of_the_folder(tokenizer, tmp_path):
    (tmp_path / "secret").write_text("TOP SECRET")
    (tokenizer / "chat_template.jinja").symlink_to(tmp_path / "secret")
    with pytest.raises(ValueError, match=r"chat_template\.jinja is a symlink out"):
        refuse_named_files_below(tokenizer)


def test_check_tokenizer__follows_the_links_of_a_snapshot(tokenizer, tmp_path):
    hub = tmp_path / "models--a--b"
    shutil.copytree(tokenizer, hub / "snapshots/1f")
    (hub / "blobs").mkdir()
    os.replace(hub / "snapshots/1f/tokenizer.json", hub / "blobs/ab")
    (hub / "snapshots/1f/tokenizer.json").symlink_to("../../blobs/ab")
    refuse_named_files_below(hub / "snapshots/1f")
