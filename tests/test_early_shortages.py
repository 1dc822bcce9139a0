"""Shortages of mixtures that the sizes of input files show, before any job."""

import json
import os
import subprocess
import unicodedata

import pytest
import yaml
from warm import warm_python
from workflow import ROOT, small_corpus, snakemake

from corpusmill.run.config import Config
from corpusmill.run.early_shortages import GROWTH, certain_shortages, likely_shortages
from corpusmill.run.plan import InputFile

SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))


def config_of(mixture: dict, stages: tuple = (), mode: str = "none", **weights: float) -> Config:
    sources = [{"name": name, "files": [name], "weight": weights.get(name, 1)} for name in "ab"]
    given = SHIPPED | {
        "sources": sources,
        "mixture": SHIPPED["mixture"] | mixture,
        "stages": list(stages),
        "normalize": SHIPPED["normalize"] | {"mode": mode},
    }
    return Config.checked(given)


def files(a: int = 100, b: int = 1000, ending: str = ".jsonl") -> list[InputFile]:
    return [InputFile("a", f"a{ending}", a, a, 1), InputFile("b", "b.jsonl", b, b, 1)]


HALF = {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize(
    ("mixture", "said"),
    [
        ({"budget": {"bytes": 801}, "shares": HALF, "max_epochs": 4}, ["bytes of source a"]),
        ({"budget": {"bytes": 800}, "shares": HALF, "max_epochs": 4}, []),
        ({"budget": {"bytes": 801}, "shares": HALF, "max_epochs": {"cells": {"a": 5}}}, []),
        ({"budget": {"bytes": 801}, "shares": HALF, "max_epochs": {"each": 9, "cells": {"a": 4}}},
         ["so 400 with max_epochs 4. Lower its share or the budget, or raise max_epochs."]),
        ({"budget": {"bytes": 801}, "shares": HALF, "max_epochs": 4, "on_shortage": "repeat"}, []),
        ({"budget": {"bytes": 1602}, "shares": HALF, "on_shortage": "repeat"},
         ["at most 100 bytes of text, so 800 with max 8. Lower"]),
        ({"budget": {"bytes": 801}, "shares": HALF, "max_epochs": 4, "on_shortage": "rescale"}, []),
        ({"budget": {"bytes": 4401}, "shares": HALF, "max_epochs": 4, "on_shortage": "rescale"},
         ["so 4,400 with max_epochs and max."]),
        ({"budget": {"bytes": 4000}, "shares": {"a": 0, "b": 1}, "max_epochs": 4}, []),
        ({"budget": {"bytes": 4001}, "shares": {"a": 0, "b": 1}, "max_epochs": 4},
         ["bytes of source b"]),
        ({"budget": {"bytes": 4401}, "max_epochs": 4}, ["at most 1,100 bytes of text, so 4,400"]),
        ({"budget": {"bytes": 4400}, "max_epochs": 4}, []),
        ({"budget": {"bytes": 551}, "max_epochs": {"all": 0.5}}, ["so 550 with max_epochs.all"]),
        ({"budget": {"bytes": 550}, "max_epochs": {"all": 0.5}}, []),
        ({"budget": {"bytes": 551}, "max_epochs": {"all": 0.5}, "on_shortage": "repeat"}, []),
        ({"budget": {"bytes": 5501}, "by": [{"member": "topic"}], "max_epochs":
          {"each": 2, "cells": {"law": 5}}}, ["so 5,500 with"]),
        ({"budget": {"bytes": 401}, "by": [{"groups": {"web": ["a"], "rest": ["b"]}}],
          "shares": {"web": 1, "rest": 0}, "max_epochs": 4}, ["bytes of group web"]),
        ({"budget": {"documents": 10**9}}, []),
    ],
)  # fmt: skip
def test_certain_shortages__are_those_that_no_run_can_avoid(mixture, said):
    config = config_of(mixture)
    found = certain_shortages(config, files())
    assert len(found) == len(said)
    for sentence, part in zip(found, said, strict=True):
        assert sentence.startswith("mixture: the budget wants ")
        assert part in sentence


def test_certain_shortages__know_nothing_of_compressed_files_and_of_ftfy():
    mixture = {"budget": {"bytes": 10**6}, "shares": {"a": 1, "b": 0}}
    assert certain_shortages(config_of(mixture), files())
    assert not certain_shortages(config_of(mixture), files(ending=".jsonl.zst"))
    assert not certain_shortages(config_of(mixture, mode="ftfy"), files())
    not_yet = [file._replace(bytes=None, mtime_ns=None) for file in files()]
    assert not certain_shortages(config_of(mixture), not_yet)


def test_certain_shortages__allow_for_what_nfc_adds():
    mixture = {"budget": {"bytes": 801}, "shares": HALF, "max_epochs": 4}
    assert not certain_shortages(config_of(mixture, mode="nfc"), files())
    (likely,) = likely_shortages(config_of(mixture, mode="nfc"), files())
    assert "its files seem to have at most 100 bytes of text, so 400 with max_epochs 4" in likely


def test_growth__is_that_of_nfc():
    sizes = (
        len(unicodedata.normalize("NFC", one).encode()) / len(one.encode())
        for one in map(chr, range(0x110000))
        if not "\ud800" <= one <= "\udfff"
    )
    assert max(sizes) == GROWTH["nfc"]


def test_certain_shortages__leave_out_sources_of_weight_0_and_name_stages():
    config = config_of({}, ({"name": "s", "budget": {"bytes": 801}},
                            {"name": "t", "budget": {"bytes": 800}}), b=0)  # fmt: skip
    (line,) = certain_shortages(config, files())
    assert line.startswith("stage s: mixture: the budget wants 801 bytes, but the files can have")


def test_shortages__stop_check_and_a_run_before_any_job(tmp_path):
    mixture = {"budget": {"bytes": 10**9}, "shares": {"one": 0.5, "two": 0.5, "three": 0}}
    (tmp_path / "mine.yaml").write_text(json.dumps(small_corpus(tmp_path) | {"mixture": mixture}))
    checked = subprocess.run(
        [warm_python(), "-m", "corpusmill", "check", "mine.yaml"], cwd=tmp_path, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, timeout=600, check=False,
    )  # fmt: skip
    assert checked.returncode == 1
    said = " ".join((checked.stdout + checked.stderr).split())
    done = snakemake(tmp_path, "--configfile", "mine.yaml", "--cores", "1")
    assert done.returncode
    for told in (said, " ".join((done.stdout + done.stderr).split())):
        for source in ("one", "two"):
            assert f"the budget wants 500,000,000 bytes of source {source}, but its files" in told
    assert not (tmp_path / "results/text").exists()
