"""What all tests share: seeded Hypothesis, scripts as modules, a phase to report to.

And what runs: tests that start no processes; with --whole all tests; with --long all cases.
"""

import fcntl
import importlib.util
import itertools
import os
import signal
from collections import defaultdict
from pathlib import Path

import effort
import pytest
from every_fate import corpus
from hypothesis import HealthCheck, settings
from workflow import mill

from corpusmill.mill.read.readers import read_records
from corpusmill.mill.tokens.tokenizer_folder import keep_tokenizer, train_tokenizer
from corpusmill.mill.tokens.tokenizers import TokenizerFacts
from corpusmill.run.job_progress import Phase

ROOT = Path(__file__).parent

# The same examples every time: a test that fails once fails again. No clock decides.
settings.register_profile(
    "long",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
for name in ("sampled", "whole"):
    settings.register_profile(name, settings.get_profile("long"), max_examples=effort.SAMPLED)


def pytest_addoption(parser):
    parser.addoption("--whole", action="store_true", help="all tests, of some a sample of cases")
    parser.addoption("--long", action="store_true", help="all cases and examples of all tests")


def pytest_configure(config):
    heed_signals()
    chosen = "long" if config.option.long else "whole" if config.option.whole else "sampled"
    settings.load_profile(chosen)


def heed_signals():
    """Let processes of tests stop when asked to, also where this one must not: by `nohup`, or
    behind an `&`. Whoever is started ignores what is ignored here, but not what is handled."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def pytest_collection_modifyitems(config, items):
    """Leave out what is not asked for; files that start processes first, long ones among them."""
    starting = {item for item in items if effort.starts_processes(item)}
    files = {item.path for item in starting}
    items.sort(key=lambda item: item.path not in files)
    if config.option.long or any("::" in argument for argument in config.args):
        return
    cases = defaultdict(itertools.count)
    left_out = set()
    for item in items:
        number = next(cases[item.parent.nodeid, item.originalname])
        shares = [item.get_closest_marker("one_in")]
        if not config.option.whole:
            shares.append(item.get_closest_marker("some"))
        slow = item in starting or item.get_closest_marker("whole")
        sampled_out = any(share and number % share.args[0] for share in shares)
        if (slow and not config.option.whole) or sampled_out:
            left_out.add(item)
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def step():
    """`step("sign")`: the module of scripts/sign.py, without Snakemake."""

    def load(name: str):
        spec = importlib.util.spec_from_file_location(f"step_{name}", ROOT / f"scripts/{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def progress():
    return Phase("testing", 0, "MB")


@pytest.fixture
def read(tmp_path, progress):
    """Writes bytes to a file with the ending, and gives its records."""

    def records(data: bytes, ending: str = ".jsonl", text_field: str = "text", **options):
        path = tmp_path / f"input{ending}"
        path.write_bytes(data)
        return list(read_records(str(path), text_field, progress, **options))

    return records


TRAINING = ["def f(x):\n    return x + 1", "the miller opened the sluice before sunrise", "Größe水"]


@pytest.fixture(scope="session")
def tiny_tokenizer(tmp_path_factory) -> tuple[Path, TokenizerFacts]:
    """A trained tokenizer of 330 tokens as the workflow keeps it: its folder, its setting."""
    trained, folder = tmp_path_factory.mktemp("trained"), tmp_path_factory.mktemp("tokenizer")
    train_tokenizer(trained, TRAINING * 20, 330)
    return folder, keep_tokenizer(folder, str(trained), "auto", "auto", name="train")


@pytest.fixture(scope="session")
def every_fate(tmp_path_factory) -> Path:
    """Where the corpus of every_fate.py is milled; to be read alone. One for all processes."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "every_fate"
    with open(folder.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "results/summary.json").exists():
            folder.mkdir()
            mill(folder, corpus(folder))
    return folder
