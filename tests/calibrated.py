"""A small corpus with filters of all kinds, calibrated once for all tests that look at it."""

import json
import random
from pathlib import Path

import yaml
from click.testing import CliRunner

from corpusmill.cli.main import main

FILTERS = '''
import numpy as np

from corpusmill.mill.filters.declaration import Filter, Value, above, below, number, share


class Letters(Filter):
    """Documents of odd letters."""

    fate = "letters"
    settings = {
        "max_x": share(0.5, "Largest share of x."),
        "min_x": share(None, "Least share of x."),
        "max_ratio": number(3.0, "Most x per y."),
    }
    values = {
        "x_share": Value("float32", "x / bytes"),
        "x_ratio": Value("float64", "x / y"),
        "language": Value("text", "code"),
    }
    limits = (
        above("x_share", "max_x"), below("x_share", "min_x"), above("x_ratio", "max_ratio")
    )

    def measure(self, texts):
        rows = [bytes(texts.data[a:b]) for a, b in zip(texts.offsets[:-1], texts.offsets[1:])]
        x = np.array([row.count(b"x") for row in rows], np.float64)
        y = np.array([row.count(b"y") for row in rows], np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = (x / texts.sizes()).astype(np.float32)
            ratio = x / y
        codes = ["zz" if row.startswith(b"z") else None for row in rows]
        return {"x_share": shares, "x_ratio": ratio, "language": codes}
'''
KEEP = '''
def keep(text, record):
    """Documents without odd numbers."""
    return "odd" if record["n"] % 2 else True
'''
HOSTILE = "<script>alert(1)</script> \u202e\x07 \u05d0\u05d1"


def random_text(rng: random.Random) -> str:
    if rng.random() < 0.1:
        return rng.choice(["", "x", HOSTILE])
    return "".join(rng.choices("xyz ab\n", [rng.random() for _ in range(7)], k=rng.randint(1, 900)))


def make_corpus(made: Path) -> Path:
    """Two sources, filters with limits, with a method, of a user's, with settings of a source."""
    rng = random.Random(3)
    for name, count in (("one", 300), ("two", 200)):
        texts = [random_text(rng) for _ in range(count - 1)]
        texts.insert(1, HOSTILE)
        lines = [json.dumps({"text": text, "n": n}) for n, text in enumerate(texts)]
        (made / f"{name}.jsonl").write_text("\n".join(lines))
    (made / "letters.py").write_text(FILTERS)
    (made / "even.py").write_text(KEEP)
    config = {
        "sources": [{"name": name, "files": [f"{name}.jsonl"]} for name in ("one", "two")],
        "filters": [
            {"name": "empty"},
            {"name": "too_short", "min_chars": 50, "sources": {"two": {"min_chars": 20}}},
            {"name": "letters", "file": "letters.py", "sources": {"two": {"max_x": 0.2}}},
            {"name": "even", "file": "even.py", "sources": {"one": False}},
        ],
    }
    (made / "mine.yaml").write_text(yaml.safe_dump(config))
    return made


def called(*arguments: str):
    return CliRunner().invoke(main, ["calibrate", *arguments])
