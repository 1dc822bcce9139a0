"""The digest changes when code that a step imports does, and only then."""

import shutil
from pathlib import Path

import pytest

from corpusmill.run.code_digest import code_digest, kept_in

ROOT = Path(__file__).parent.parent
SCRIPT = "from corpusmill.direct import f\n"
PACKAGE = {
    "direct": '"""What it is."""\n\nimport os\n\nfrom corpusmill.deeper import g\n\n\n'
    'def f(x):\n    """Once."""\n    return g(x) + 1  # one more\n',
    "deeper": "def g(x):\n    return x * 2\n",
    "unrelated": "def h(x):\n    return x\n",
}


@pytest.fixture(autouse=True)
def own_place():
    yield
    kept_in.cache_clear()


@pytest.fixture
def digest(tmp_path_factory):
    """The digest of the script over the package, with some modules' code replaced."""

    def of(script: str = SCRIPT, **replaced: str) -> str:
        root = tmp_path_factory.mktemp("root")
        (root / "step.py").write_text(script)
        for name, code in (PACKAGE | replaced).items():
            path = root / "corpusmill" / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_text(code)
        return code_digest(root, root / "step.py")

    return of


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  # one more", ""),
        ("What it is.", "What it is not."),
        ('    """Once."""\n', ""),
        ("g(x) + 1", "(g( x )\n            + 1)"),
        ("\n\n\ndef", "\n\n\n\n\ndef"),
    ],
)
def test_code_digest__comments_docstrings_and_layout_do_not_count(digest, old, new):
    assert old in PACKAGE["direct"]
    assert digest(direct=PACKAGE["direct"].replace(old, new)) == digest()


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [("direct", "+ 1", "+ 2"), ("direct", "import os\n", ""), ("deeper", "x * 2", "x * 3")],
)
def test_code_digest__code_of_imported_modules_counts(digest, module, old, new):
    assert old in PACKAGE[module]
    assert digest(**{module: PACKAGE[module].replace(old, new)}) != digest()


def test_code_digest__the_script_itself_counts_without_its_comments(digest):
    assert digest(script=SCRIPT + "print(f(1))\n") != digest()
    assert digest(script=SCRIPT + "# prints nothing\n") == digest()


@pytest.mark.parametrize(
    "script",
    [
        "import corpusmill.kernels.loop\n",
        "from corpusmill.kernels import loop\n",
        "from corpusmill.kernels.loop import run\n",
        "def step():\n    from corpusmill.kernels.loop import run\n",
    ],
)
def test_code_digest__follows_every_form_of_import(digest, script):
    codes = ["def run():\n    return 1\n", "def run():\n    return 2\n"]
    one, other = (digest(script=script, kernels__loop=code) for code in codes)
    assert one != other


def test_code_digest__of_modules_that_import_each_other_ends(digest):
    assert digest(deeper="from corpusmill import direct\n") != digest()


@pytest.mark.parametrize(
    ("step", "module", "counts"),
    [
        ("sign", "kernels/shingles", True),
        ("sign", "kernels/jit", True),
        ("sign", "mill/read/unicode_tables", True),
        ("sign", "mill/tokens/tokenizers", False),
        ("encode", "kernels/shingles", False),
        ("encode", "mill/tokens/tokenizers", True),
    ],
)
def test_code_digest__of_real_steps(tmp_path, step, module, counts):
    script = ROOT / f"scripts/{step}.py"
    shutil.copytree(ROOT / "corpusmill", tmp_path / "corpusmill")
    with open(tmp_path / f"corpusmill/{module}.py", "a") as code:
        code.write("\nADDED = 1\n")
    assert (code_digest(tmp_path, script) != code_digest(ROOT, script)) == counts
    assert len(code_digest(ROOT, script)) == 16


@pytest.mark.parametrize("damage", [b"", b"\xff\n", b"0" * 63 + b"\ncorpusmill.deeper"])
def test_code_digest__does_not_believe_what_is_kept_of_a_file_but_half(
    digest, tmp_path, monkeypatch, damage
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept_in.cache_clear()
    once = digest()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 3  # the script and what it imports
    for path in files:
        path.write_bytes(damage)
    assert digest() == once


def test_code_digest__is_the_same_where_nothing_can_be_kept(digest, tmp_path, monkeypatch):
    once = digest()
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    kept_in.cache_clear()
    assert digest() == once
