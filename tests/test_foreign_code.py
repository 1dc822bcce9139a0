"""No code of ours runs, imports or unpickles what it finds: every call that could is on a list."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from workflow import ROOT

ALLOWED = {
    ("corpusmill/mill/read/plugins.py", "exec"): "a filter or reader that the user's config names",
    ("corpusmill/mill/read/plugins.py", "compile"): "the same",
    ("corpusmill/mill/read/readers.py", "importlib.import_module"): "a format of ours, by its file",
    (
        "corpusmill/mill/filters/registry.py",
        "importlib.import_module",
    ): "a filter of ours, by a list",
    (
        "corpusmill/tools/export/exporting.py",
        "importlib.import_module",
    ): "a format of ours, by a list",
    ("corpusmill/tools/prove/run.py", "importlib.util.spec_from_file_location"): "a script of ours",
    ("corpusmill/run/warm.py", "importlib.import_module"): "what our scripts import",
    ("corpusmill/run/warm.py", "runpy.run_path"): "a script of ours, that the rule's command names",
    ("corpusmill/mill/storage/plain_pickles.py", "pickle.Unpickler"): "opcodes name nothing",
}
"""File and call -> why it may be."""

CODE = re.compile(
    r"(builtins\.)?(exec|eval|compile|__import__)"
    r"|importlib\.(import_module|reload|util\.(spec_from_file_location|module_from_spec)|machinery\..*)"
    r"|(runpy|marshal|shelve|dill|cloudpickle|joblib|jsonpickle)\..*"
    r"|_?pickle\.(load|loads|Unpickler|_Unpickler|_load|_loads)"
    r"|yaml\.(load|load_all|unsafe_load|unsafe_load_all|full_load|full_load_all)"
    r"|(numpy|np)\.lib\.format\.(read_array|open_memmap)|pandas\.read_pickle"
)
OURS_TO_SAY = {"allow_pickle": False, "trust_remote_code": False, "weights_only": True}


def name_of(node: ast.expr) -> str:
    """`a.b.c`, as far as it is a name."""
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def calls(source: str) -> Iterator[str]:
    """What a file does that could run what it reads."""
    tree = ast.parse(source)
    whole = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            whole |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            whole |= {alias.asname or alias.name: f"{node.module}.{alias.name}"
                      for alias in node.names}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            first, _, rest = name_of(node).partition(".")
            name = ".".join(filter(None, [whole.get(first, first), rest]))
            if CODE.fullmatch(name) and not name.endswith("module_from_spec"):
                yield name
        if isinstance(node, ast.Call):
            given = {one.arg: one.value for one in node.keywords}
            for word, value in OURS_TO_SAY.items():
                said = given.get(word)
                if said and not (isinstance(said, ast.Constant) and said.value is value):
                    yield f"{word} other than {value}"
            last = name_of(node.func)
            if last.endswith("torch.load") and "weights_only" not in given:
                yield "torch.load without weights_only"
            if re.search(r"Auto\w+\.from_pretrained$", last) and "trust_remote_code" not in given:
                yield f"{last} without trust_remote_code"


def files() -> Iterator[Path]:
    for folder in ("corpusmill", "scripts", "examples"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def test_code__that_runs_what_it_reads_is_on_the_list():
    found = {
        (str(file.relative_to(ROOT)), call) for file in files() for call in calls(file.read_text())
    }
    assert found == ALLOWED.keys()


def test_rules__run_nothing_that_they_read():
    """They are no Python that ast knows."""
    words = re.compile(r"\b(exec|eval|pickle|importlib|runpy|__import__|yaml\.load|torch\.load)\b")
    for file in [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")]:
        lines = [line.partition("#")[0] for line in file.read_text().splitlines()]
        assert [line for line in lines if words.search(line)] == [], file


@pytest.mark.parametrize(
    "source",
    [
        "import pickle\npickle.loads(b'')", "from pickle import load as read\nread(1)",
        "import pickle as p\np.Unpickler(1)", "exec('1')", "eval('1')", "f = eval",
        "import yaml\nyaml.load(1)", "import numpy as np\nnp.load(1, allow_pickle=True)",
        "import numpy as np\nnp.load(1, allow_pickle=some)", "import torch\ntorch.load(1)",
        "import torch\ntorch.load(1, weights_only=False)",
        "import importlib\nimportlib.import_module(1)",
        "from transformers import AutoTokenizer\nAutoTokenizer.from_pretrained(1)",
        "from transformers import AutoConfig\nAutoConfig.from_pretrained(trust_remote_code=True)",
        "import runpy\nrunpy.run_path(1)", "__import__('os')",
    ],
)  # fmt: skip
def test_calls__sees_each_kind(source):
    assert list(calls(source))
