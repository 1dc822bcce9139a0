"""The kept tokenizer is the same to the byte whatever machine and shell it was kept on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tokenizer_kinds import EXACT
from workflow import ROOT

KEEP = """
import os, runpy, sys
from pathlib import Path
from corpusmill.mill.tokens.tokenizer_folder import TokenizerChoice
os.umask(int(sys.argv[4], 8))
step = runpy.run_path(sys.argv[1])["tokenizer"]
choice = TokenizerChoice(sys.argv[2], "auto", "auto", 400)
step(choice, [Path(path) for path in sys.argv[5:]], Path(sys.argv[3]))
"""
ENVIRONMENTS = [
    {"TRANSFORMERS_OFFLINE": "0", "HF_HUB_OFFLINE": "0", "TZ": "UTC", "LC_ALL": "C",
     "PYTHONHASHSEED": "1", "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
    {"TRANSFORMERS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8",
     "PYTHONHASHSEED": "2", "RAYON_NUM_THREADS": "4", "TOKENIZERS_PARALLELISM": "true"},
]  # fmt: skip


def kept(folder: Path, source: str, environment: dict, umask: str, *train: Path) -> dict:
    """What the step `tokenizer` keeps in an environment of its own: bytes by file name."""
    home = folder / "home"
    home.mkdir(parents=True)
    given = os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(home), "HF_HOME": str(home / "hf")}
    command = [sys.executable, "-c", KEEP, ROOT / "scripts/tokenizer.py", source, folder / "kept"]
    subprocess.run([*command, umask, *train], env=given | environment, cwd=home, check=True)
    return {path.name: path.read_bytes() for path in (folder / "kept").iterdir()}


@pytest.mark.parametrize("kind", ["byte level", "byte level, stripping"])
def test_tokenizer__loaded_is_the_same_in_another_environment(kind, tmp_path):
    sources = [EXACT[kind](tmp_path / place / "name") for place in ("here", "over/there")]
    one = kept(tmp_path / "a", sources[0], ENVIRONMENTS[0], "022")
    other = kept(tmp_path / "b", sources[1], ENVIRONMENTS[1], "077")
    assert one == other
    assert not [name for name, content in one.items() if str(tmp_path).encode() in content]


def test_tokenizer__from_a_folder_of_another_name_differs_in_that_name_only(tmp_path):
    sources = [EXACT["byte level"](tmp_path / name) for name in ("one", "two")]
    one, other = (
        kept(tmp_path / f"kept {n}", source, ENVIRONMENTS[n], "022")
        for n, source in enumerate(sources)
    )
    names = [content.pop("corpusmill.json") for content in (one, other)]
    sums = [content.pop(".corpusmill.json.sums") for content in (one, other)]
    assert sums[0] != sums[1]
    assert one == other
    assert names[0].replace(b'"one"', b'"two"') == names[1] != names[0]


def test_tokenizer__trained_is_the_same_in_another_environment(tmp_path, step, progress):
    import numpy as np
    import pyarrow as pa

    from corpusmill.mill.shuffle.scattering import SCHEMA
    from corpusmill.mill.shuffle.text_shards import write_shard
    from corpusmill.mill.storage.files import writing

    texts = [f"the miller {n % 7} opened the sluice {n * n} at sunrise é 水" for n in range(900)]
    rows = range(len(texts))
    columns = [rows, rows, [0] * len(texts), ["s"] * len(texts), texts, [b""] * len(texts)]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)]
    shard = tmp_path / "0.jsonl.zst"
    table = pa.table(arrays, schema=SCHEMA)
    with writing(shard, kept=True) as file:
        write_shard(file, None, table, np.arange(len(texts)), progress)
    one, other = (
        kept(tmp_path / f"kept {n}", "train", environment, "022", shard)
        for n, environment in enumerate(ENVIRONMENTS)
    )
    assert one == other
    assert not [name for name, content in one.items() if b"/tmp" in content]
