"""What docs/how-to/train.md shows does what it says."""

import importlib.util

import numpy as np
import pytest
from stream_corpus import write_corpus
from test_docs import blocks
from workflow import ROOT

from corpusmill.reader import Corpus
from corpusmill.tools.tune.shrink.proxies import Proxy, merged
from corpusmill.tools.tune.shrink.shrinking import write

BLOCKS = blocks("python", (ROOT / "docs/how-to/train.md").read_text("utf-8"))
PLAIN = [block for block in BLOCKS if "torch" not in block and "https:" not in block]
NAMED = {
    "plain": PLAIN[0],
    "resumed": PLAIN[1],
    "documents": PLAIN[2],
    "mixture": PLAIN[3],
    "chosen": PLAIN[4],
    "changed": PLAIN[4] + PLAIN[5],
}
(OF_PROXY,) = blocks("python", (ROOT / "docs/how-to/mixtures.md").read_text("utf-8"))


@pytest.fixture
def here(tmp_path, monkeypatch):
    sizes = [[50 + n % 400 for n in range(40)] for _ in range(9)]
    groups = [("code", None), ("docstrings", None)]
    results = write_corpus(tmp_path, {"train": sizes, "validation": [[3000]]}, groups=groups)
    monkeypatch.chdir(tmp_path)
    return results


@pytest.mark.parametrize("name", NAMED)
def test_block__runs(name, here):
    names: dict = {}
    exec(compile(NAMED[name], "docs/how-to/train.md", "exec"), names)
    if name == "plain":
        assert names["step"] == 100
        assert names["inputs"].shape == names["targets"].shape == (8, 256)
    if name == "resumed":
        assert names["later"].cursor == {"epoch": 0, "position": 16}
    if name == "documents":
        assert names["positions"].max() < 256
        assert names["document"].size == 50
    if name == "mixture":
        assert names["tokens"].shape == (8, 257)
    if name == "chosen":
        assert [group.source for group in names["train"].groups] == ["code", "docstrings"]
        assert next(names["batches"]).shape == (8, 257)
    if name == "changed":
        # Of the first batch, 2 of 8 are of code.
        assert names["batches"].cursor["of"][0] == {"epoch": 0, "position": 2}


def test_block__of_a_proxy_runs(here):
    proxies = {"corpus": Proxy(np.arange(30), np.full(30, 2), 1, 1, 0.0, {2: 1.0}, {2: 1.0})}
    write(here.parent / "proxy", Corpus(here).split("train"), *merged(proxies), proxies, 1)
    names: dict = {}
    exec(compile(OF_PROXY, "docs/how-to/mixtures.md", "exec"), names)
    assert names["tokens"].shape == (8, 257)


def test_block__of_a_url_is_what_the_code_takes(here):
    (block,) = (block for block in BLOCKS if "https:" in block)
    block = block.replace("https://example.org/milled/results", str(here))
    block = block.replace("/local/shards", str(here.parent / "shards")).replace("2048", "256")
    names: dict = {}
    exec("from corpusmill.reader import Corpus, Windowed\n" + block, names)
    assert names["order"].available(names["order"].begin(), 10**9, 1) > 0


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="torch is not installed")
def test_blocks__of_torch_run(here):
    torch_blocks = [block for block in BLOCKS if "torch" in block]
    names: dict = {}
    for block in torch_blocks:
        exec(compile(block, "docs/how-to/train.md", "exec"), names)
    assert len(torch_blocks) == 3
    state = names["torch"].load("stream.pt")
    assert state["cursor"] == {"epoch": 0, "position": 40}
    assert names["get_batch"]("validation")[0].shape == (12, 64)


def test_page__has_no_block_that_nobody_runs():
    assert len(BLOCKS) == len(NAMED) + 1 + 3
