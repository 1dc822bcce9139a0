"""A tokenizer that has no ids for plain text is refused, in one line, before any job."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from tokenizer_kinds import END, EXACT, LOSSY, chat, config_only, saved
from tokenizers import Tokenizer, models, pre_tokenizers
from workflow import ROOT, mill, small_corpus, snakemake, summary, write_jsonl

from corpusmill.mill.storage.files import save_json
from corpusmill.mill.tokens.probes import PLAIN, refuse_useless
from corpusmill.mill.tokens.tokenizer_check import check_tokenizer
from corpusmill.mill.tokens.tokenizer_folder import keep_tokenizer


def knows_nothing(folder: Path) -> str:
    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0, "<eos>": 1, "水": 2}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return saved(folder, tokenizer, unk_token="<unk>", eos_token="<eos>")


def broken(folder: Path) -> str:
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_text('{"model": ')
    return str(folder)


USELESS = {
    "config only": (config_only, r"the tokenizer .* has no ids for 'Hello, world!', so texts"),
    "knows nothing": (knows_nothing, r"the tokenizer .* has only unknown ids for \['Hello, w"),
    "broken": (broken, r"tokenizers library cannot use .*tokenizer\.json \(.*data was truncated"),
}


@pytest.mark.parametrize("kind", [*EXACT, *LOSSY])
def test_check_tokenizer__accepts_what_has_ids_for_plain_text(kind, tmp_path):
    check_tokenizer(Path((EXACT | LOSSY)[kind](tmp_path)))


@pytest.mark.parametrize("kind", USELESS)
def test_check_tokenizer__refuses_what_has_none(kind, tmp_path):
    make, expected = USELESS[kind]
    with pytest.raises(ValueError, match=r"^tokenizer\.source: .*\. Give ") as told:
        check_tokenizer(Path(make(tmp_path / "given")))
    assert re.search(expected, str(told.value))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("kind", ["config only", "knows nothing"])
def test_keep_tokenizer__refuses_what_has_no_ids_for_plain_text(kind, tmp_path):
    source = USELESS[kind][0](tmp_path / "given")
    with pytest.raises(ValueError, match=USELESS[kind][1]):
        keep_tokenizer(tmp_path / "kept", source, "auto", "auto")
    assert not (tmp_path / "kept").exists()


CHATS = ["<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "<|eom_id|>", "[/INST]", "<mine>"]


@pytest.mark.some(4)
@pytest.mark.parametrize("eos", CHATS)
def test_auto__between_a_chat_turn_and_an_end_of_text_is_refused_with_both(eos, tmp_path):
    source = Path(chat(tmp_path / "given", eos))
    for refuse in (
        lambda: check_tokenizer(source),
        lambda: check_tokenizer(source, "auto", kept=True),
        lambda: keep_tokenizer(tmp_path / "kept", str(source), "auto", "auto"),
    ):
        with pytest.raises(ValueError, match=r"^tokenizer\.end_of_text: auto would end") as told:
            refuse()
        assert f"Set end_of_text to {END}, the token of base models, or to {eos}." in str(
            told.value
        )
        assert "\n" not in str(told.value)
    for chosen in (eos, END):
        assert check_tokenizer(source, chosen).end_of_text == chosen
        facts = keep_tokenizer(tmp_path / "kept", str(source), chosen, "auto")
        assert facts.end_of_text == chosen


@pytest.mark.parametrize("usual", ["<|end_of_text|>", "</s>", "<eos>"])
def test_auto__knows_the_usual_ends_of_text(usual, tmp_path):
    """Llama's is marked as special, and nothing names it."""
    tokenizer = Tokenizer(models.WordLevel({"Hello": 0, "<unk>": 1}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(["<|eot_id|>", usual])
    source = Path(saved(tmp_path / "chat", tokenizer, unk_token="<unk>", eos_token="<|eot_id|>"))
    with pytest.raises(
        ValueError, match=re.escape(f"end_of_text to {usual}, the token of base models")
    ):
        check_tokenizer(source)
    assert keep_tokenizer(tmp_path / "kept", str(source), usual, "auto").end_of_text == usual
    base = Path(saved(tmp_path / "base", tokenizer, unk_token="<unk>", eos_token=usual))
    assert check_tokenizer(base).end_of_text == usual
    assert keep_tokenizer(base, str(base), "auto", "auto").end_of_text == usual


def test_auto__takes_the_one_end_that_there_is(tmp_path):
    tokenizer = Tokenizer(models.WordLevel({"Hello": 0, "<unk>": 1, "<|im_end|>": 2}))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    source = saved(tmp_path / "given", tokenizer, eos_token="<|im_end|>")
    assert check_tokenizer(Path(source)).end_of_text == "<|im_end|>"


def test_end_of_text__that_no_file_names_is_looked_up_by_the_library(tmp_path):
    source = Path(EXACT["byte level"](tmp_path / "given"))
    settings = json.loads((source / "tokenizer_config.json").read_text())
    del settings["eos_token"]
    settings["tokenizer_class"] = "GPT2Tokenizer"
    (source / "tokenizer_config.json").write_text(json.dumps(settings))
    (source / "special_tokens_map.json").unlink(missing_ok=True)
    assert check_tokenizer(source).end_of_text == END


@pytest.mark.parametrize("written", ["[1]", '{"eos_token"', "[" * 5000, "\xff"])
def test_end_of_text__in_a_broken_file_is_one_line(written, tmp_path):
    source = Path(EXACT["byte level"](tmp_path / "given"))
    (source / "tokenizer_config.json").write_bytes(written.encode("latin-1"))
    with pytest.raises(ValueError, match=r"^tokenizer\.source: .*json is not a valid") as told:
        check_tokenizer(source)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("ids", "refused"),
    [
        ([[5], [0], [0, 0]], False),
        ([[5], [0], []], True),
        ([[0], [0], [0]], True),
        ([[], [], []], True),
    ],
)
def test_refuse_useless__wants_ids_for_each_text_and_a_known_one(ids, refused):
    assert len(ids) == len(PLAIN)
    if refused:
        with pytest.raises(ValueError, match="so texts would be lost"):
            refuse_useless("x", ids, {0})
    else:
        refuse_useless("x", ids, {0})


def test_check_tokenizer__loads_neither_transformers_nor_numpy(tmp_path):
    source = EXACT["byte level"](tmp_path)
    code = (
        "import sys; from pathlib import Path\n"
        "from corpusmill.mill.tokens.tokenizer_check import check_tokenizer\n"
        "check_tokenizer(Path(sys.argv[1]))\n"
        "assert not {'transformers', 'numpy'} & set(sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code, source], env=environment, check=True)


UNUSABLE = {
    "an unclear end": (lambda folder: chat(folder, "<|im_end|>"), "tokenizer.end_of_text: auto"),
    "no ids": (config_only, "tokenizer.source: "),
}


@pytest.mark.parametrize("kind", UNUSABLE)
@pytest.mark.parametrize("arguments", [["-n"], ["--cores", "2"]], ids=["dry", "real"])
def test_run__with_an_unusable_tokenizer_stops_before_any_job(arguments, kind, tmp_path):
    make, expected = UNUSABLE[kind]
    config = small_corpus(tmp_path)
    config["tokenizer"] = {"source": make(tmp_path / "given")}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
    done = snakemake(tmp_path, "--configfile", "mine.yaml", *arguments)
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if line.startswith(expected)]
    assert len(told) == 1
    assert kind != "no ids" or "has no ids for 'Hello, world!'" in told[0]
    assert "Traceback" not in done.stdout + done.stderr
    assert not (tmp_path / "results").exists()
    assert not list((tmp_path / ".snakemake/locks").glob("*"))


def test_run__looks_again_at_a_tokenizer_that_was_changed_since_it_was_kept(tmp_path):
    config = small_corpus(tmp_path)
    config["tokenizer"] = {"source": config_only(tmp_path / "given")}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
    kept = tmp_path / "results/tokenizer/corpusmill.json"
    now = time.time()
    for age, name, refused in ((-60, "given", True), (60, "given", False), (60, "other", True)):
        save_json(kept, {"source": name})
        os.utime(kept, (now + age, now + age))
        done = snakemake(tmp_path, "--configfile", "mine.yaml", "-n", "--quiet", "rules")
        assert ("has no ids for" in done.stderr, done.returncode) == (refused, int(refused))


def destroying(folder: Path) -> dict:
    """A corpus with a source in Chinese, and a tokenizer that knows Latin letters only."""
    config = small_corpus(folder)
    config["sources"] = [config["sources"][0], {"name": "zh", "files": ["raw/zh.jsonl"]}]
    text = "水車が回る。磨坊主打开了水闸。麦子磨成了面粉。" * 9
    write_jsonl(folder / "raw/zh.jsonl", [{"text": text + chr(0x4E00 + n) * 30} for n in range(9)])
    config["tokenizer"] = {"source": LOSSY["without bytes"](folder / "given")}
    config["filters"] = [{"name": "too_short", "min_chars": 100}]
    config["dedup"] = {"method": "exact"}
    return config


def test_run__with_a_tokenizer_that_destroys_a_source_has_no_manifest(tmp_path):
    config = destroying(tmp_path)
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
    done = snakemake(tmp_path, "--configfile", "mine.yaml", "--cores", "2")
    assert done.returncode != 0
    told = done.stdout + done.stderr
    assert re.search(r"source zh: [\d,]+ of [\d,]+ characters are lost in tokenization \(", told)
    assert re.search(r"document \d+: '水車が回る.*' comes back as ''", told)
    assert "Use a byte-level tokenizer or one with byte fallback; or" in told
    assert not (tmp_path / "results/manifest.json").exists()
    config["tokenizer"]["max_lost_fraction"] = 1
    mill(tmp_path, config)
    lost = summary(tmp_path)["sources"]["zh"]["tokenization"]
    assert lost["lost_fraction"] > 0.99
    assert summary(tmp_path)["tokenization"]["lost_characters"] > lost["lost_characters"]
    assert "WARNING: source zh: " in (tmp_path / "results/summary.txt").read_text()
    # And with nothing to do, no answer is waited for and no process stays.
    assert "Nothing to be done" in mill(tmp_path, config).stderr
    assert not of_command("corpusmill.mill.tokens.tokenizer_check", str(tmp_path))


def of_command(*words: str) -> list[str]:
    """Processes that have these words in their command, after a moment to end."""
    time.sleep(0.2)
    listed = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = file.read_bytes().decode(errors="replace")
        except OSError:  # it has ended
            continue
        if all(word in command for word in words):
            listed.append(command)
    return listed
