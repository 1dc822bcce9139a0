"""The quality model: what it learns, that it learns the same again, its file, its command."""

import hashlib
import json
import math
import random
import struct
import subprocess
import sys
from pathlib import Path

import naive_models
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from click.testing import CliRunner
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from workflow import ROOT, write_jsonl

from corpusmill.cli.main import main
from corpusmill.kernels.quality import logistic
from corpusmill.messages.progress import Silence
from corpusmill.mill.filters.models.evaluation import THRESHOLDS, evaluated, roc_auc
from corpusmill.mill.filters.models.examples import ExampleFile
from corpusmill.mill.filters.models.quality_model import (
    HEAD,
    Definition,
    QualityModel,
    load_quality_model,
    save_quality_model,
)
from corpusmill.mill.filters.models.training import Settings, trained
from corpusmill.mill.read.text_column import TextColumn

DEFINITION = Definition(most_words=2, bits=14)
SETTINGS = Settings(held_out=0.25, epochs=3, rate=1.0, seed=7)
EDGES = ["", " ", "...", "a", "A b", "水火 mill", "ไทย ລາວ", "ΣΑΣ İ", "x" * 500, "a-b c_d", "𠀀𠀁z"]


def column(texts: list[str]) -> TextColumn:
    return TextColumn.of(pa.array(texts, pa.large_string()))


def planted(seed: int, count: int = 150) -> tuple[list[str], list[str]]:
    """Good texts have somewhat more of some words; no word alone tells."""
    chance = random.Random(seed)
    words = [f"word{n}" for n in range(400)]
    weights = {
        True: [3 if n % 4 == 0 else 1 for n in range(400)],
        False: [3 if n % 4 == 1 else 1 for n in range(400)],
    }
    return tuple(
        [" ".join(chance.choices(words, weights[good], k=chance.randint(20, 60)))
         for _ in range(count)]
        for good in (True, False)
    )  # fmt: skip


def collected(folder: Path, good: list[str], bad: list[str], definition=DEFINITION):
    with ExampleFile(folder, definition) as file:
        file.add(good, True)
        file.add(bad, False)
        return file.examples()


def train(folder: Path, good: list[str], bad: list[str], settings=SETTINGS):
    found, _ = collected(folder, good, bad)
    return trained(found, DEFINITION, settings, Silence())


@examples(60)
@given(
    text=st.sampled_from(EDGES) | st.text(max_size=40) | st.text("aB.\u0e01\u6c34 \t", max_size=20),
    most_words=st.integers(1, 4),
    bits=st.sampled_from([10, 17, 26]),
)
def test_features__equal_naive(text, most_words, bits, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    found, counts = collected(folder, [text], [], Definition(most_words, bits))
    expected = naive_models.quality_features(text, most_words, bits)
    assert found.features[: found.stops.max(initial=0)].tolist() == expected
    assert counts.without_words == (not expected)


@pytest.mark.parametrize("x", [0, 1e-9, -0.5, 3.3, 17, -36.7, 39.99, -45, 800, math.pi / 4])
def test_logistic__is_the_logistic_function(x):
    assert logistic(float(x)) == naive_models.logistic(float(x))
    expected = 1 / (1 + math.exp(-min(max(x, -40), 40)))
    assert logistic(float(x)) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("seed", [0, 7])
def test_training__equals_naive(seed, tmp_path):
    good, bad = planted(seed, 40)
    good += [bad[0], good[1], "...", "only good"]
    bad += ["水火", bad[2]]
    settings = SETTINGS._replace(seed=seed)
    got = train(tmp_path, good, bad, settings)
    weights, bias, apart = naive_models.quality_training(good, bad, *DEFINITION, *settings)
    assert got.model.weights.tobytes() == weights.tobytes()
    assert got.model.bias == bias
    assert got.evaluation.good == sum(apart.values())
    assert got.evaluation.bad == len(apart) - sum(apart.values())


def test_training__gives_the_same_whatever_the_order(tmp_path):
    good, bad = planted(3)
    one = train(tmp_path, good, bad)
    other = train(tmp_path, good[::-1], [*bad[50:], *bad[:50], bad[3]])
    digests = [save_quality_model(tmp_path / name, found.model)
               for name, found in (("one", one), ("other", other))]  # fmt: skip
    assert digests[0] == digests[1]
    assert one.evaluation == other.evaluation


def test_training__beats_a_trivial_baseline(tmp_path):
    """Always the greater class, or the length alone, is right half of the time."""
    found = train(tmp_path, *planted(11, 600))
    assert found.evaluation.accuracy > 0.85
    assert found.evaluation.roc_auc > 0.93


def test_training__balances_classes(tmp_path):
    good, bad = planted(12, 600)
    found = train(tmp_path, good[:60], bad)
    (middle,) = (one for one in found.evaluation.thresholds if one.min_score == 0.5)
    assert middle.recall > 0.5
    assert middle.bad_kept < 0.4


def test_examples__are_counted(tmp_path):
    found, counts = collected(
        tmp_path, ["a", "b", "a", "?", "c"], ["b", "d", "", "!", "c", "c", ""]
    )
    assert counts == (12, 3, 3, 2)  # read, without words, repeated, in both
    assert found.good.sum() == 1
    assert found.good.size == 2


@pytest.mark.parametrize(
    ("good", "bad", "fault"),
    [
        ([], ["a b", "c d"], "found 0 different good texts, none of them in the training set"),
        (["a b", "c d"], [], "found 0 different bad texts, none of them in the"),
        (["a b"], [f"c {n}" for n in range(50)], "found 1 different good texts, none of them "),
    ],
)
def test_training__refuses_a_class_without_texts(good, bad, fault, tmp_path):
    with pytest.raises(ValueError, match=fault):
        train(tmp_path, good, bad)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> QualityModel:
    return train(tmp_path_factory.mktemp("model"), *planted(5)).model


@examples(40)
@given(texts=st.lists(st.sampled_from([*EDGES, "word1 word4"]) | st.text(max_size=30), max_size=4))
def test_score__equals_naive(texts, model):
    got = model.score(column(texts))
    features = [naive_models.quality_features(text, *DEFINITION) for text in texts]
    expected = [naive_models.quality_score(one, model.weights, model.bias) for one in features]
    assert got.tolist() == np.array(expected, np.float32).tolist()


def test_score__of_a_slice_is_the_slice_of_all(model):
    array = pa.array(EDGES + planted(6, 20)[0], pa.large_string())
    whole = model.score(TextColumn.of(array))
    assert (model.score(TextColumn.of(array.slice(3, 12))) == whole[3:15]).all()
    assert whole[0] == 0
    assert model.score(TextColumn.of(array.slice(2, 0))).shape == (0,)


@given(
    scores=st.lists(st.tuples(st.floats(0, 1, width=16), st.booleans()), min_size=2, max_size=30)
    .filter(lambda pairs: len({good for _, good in pairs}) == 2)
)  # fmt: skip
def test_evaluated__equals_naive(scores):
    of_good = [score for score, good in scores if good]
    of_bad = [score for score, good in scores if not good]
    wins = sum((a > b) + (a == b) / 2 for a in of_good for b in of_bad)
    auc = roc_auc(np.array(of_good, np.float32), np.array(of_bad, np.float32))
    assert auc == pytest.approx(wins / (len(of_good) * len(of_bad)))
    found = evaluated(*(np.array(one) for one in zip(*scores, strict=True)))
    for one in found.thresholds:
        kept = [good for score, good in scores if score >= one.min_score]
        assert one.recall == pytest.approx(sum(kept) / len(of_good), abs=1e-6)
        assert one.bad_kept == pytest.approx((len(kept) - sum(kept)) / len(of_bad), abs=1e-6)
        precision = pytest.approx(sum(kept) / len(kept), abs=1e-6) if kept else None
        assert one.precision == precision


def test_model_file__comes_back(model, tmp_path):
    save_quality_model(tmp_path / "m", model)
    found = load_quality_model(tmp_path / "m")
    assert found[:2] == model[:2]
    assert found.weights.tobytes() == model.weights.tobytes()


WHOLE_BITS = Definition(1, 10)


def whole() -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        save_quality_model(path, QualityModel(WHOLE_BITS, 0.5, np.ones(1 << 10, np.float32)))
        return path.read_bytes()


DATA = whole()


def resealed(**forged) -> bytes:
    """The file with other members in its head, and the digest of that."""
    *numbers, size = HEAD.unpack_from(DATA)
    head = json.loads(DATA[HEAD.size : HEAD.size + size]) | forged
    told = json.dumps(head).encode()
    body = HEAD.pack(*numbers, len(told)) + told + DATA[HEAD.size + size : -32]
    return body + hashlib.sha256(body).digest()


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "expected a quality model, found a file that begins with b''"),
        (b"{}\n", "expected a quality model"),
        (DATA[:12], "cut off: expected 16 bytes, found 12"),
        (DATA[:40], r"cut off: expected \d+ bytes, found 40"),
        (DATA[:-1], r"cut off: expected 4,\d+ bytes, found 4,\d+"),
        (DATA + b"\0", "damaged"),
        (DATA[:200] + b"\1" + DATA[201:], "damaged"),
        (DATA.replace(b'"bits": 10', b'"bits":999'), "damaged"),
        (DATA[:20] + b"\xff" + DATA[21:], "damaged"),
        (resealed(bias="0x1p+99999"), "damaged"),
        (resealed(bias="nan"), "damaged"),
        (resealed(most_words=0), "damaged"),
        (resealed(most_words=[2]), "damaged"),
        (resealed(most_words=10**9), "damaged"),
        (DATA[:8] + struct.pack("<I", 2) + DATA[12:], "expected version 1 .* found 2"),
    ],
)
def test_model_file__is_refused(data, fault, tmp_path):
    (tmp_path / "m").write_bytes(data)
    with pytest.raises(ValueError, match=fault) as raised:
        load_quality_model(tmp_path / "m")
    assert str(raised.value).startswith(f"{tmp_path}/m: ")


# The command.


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good, bad = planted(8, 120)
    write_jsonl(tmp_path / "good/a.jsonl", [{"body": text} for text in good[:70]])
    packed = "".join(json.dumps({"body": text}) + "\n" for text in good[70:])
    (tmp_path / "good/b.jsonl.zst").write_bytes(zstandard.compress(packed.encode()))
    pq.write_table(pa.table({"body": bad}), tmp_path / "bad.parquet")
    write_jsonl(tmp_path / "other.jsonl", [{"text": "x"}])
    (tmp_path / "empty.jsonl").write_text("")
    return tmp_path


def command(*arguments: str):
    return CliRunner().invoke(main, ["train-filter", "--text-field", "body", *arguments])


def test_train_filter__writes_a_model_and_a_report(folder):
    done = command("--good", "good", "--bad", "*.parquet", "-o", "out/q.model", "--held-out", "0.3")
    assert done.exit_code == 0, done.output
    report = json.loads(Path("out/q.model.json").read_text())
    assert report["texts"]["read"] == 240
    learnt_from = sum(report["texts"]["learnt_from"].values())
    assert learnt_from + report["held_out"]["good"] + report["held_out"]["bad"] == 240
    assert [one["min_score"] for one in report["held_out"]["thresholds"]] == list(THRESHOLDS)
    assert f"ROC AUC {report['held_out']['roc_auc']:.4f}" in done.output
    assert "      0.5  " in done.output
    assert sorted(path.name for path in Path("out").iterdir()) == ["q.model", "q.model.json"]


def test_train_filter__same_bytes_on_any_number_of_cores(folder):
    arguments = ["--good", "good/a.jsonl", "--good", "good/b.jsonl.zst", "--bad", "bad.parquet"]
    command(*arguments, "-o", "one.model")
    for cores in ("1", "2"):
        subprocess.run(
            [sys.executable, "-m", "corpusmill", "train-filter", "--text-field", "body",
             *arguments, "-o", f"{cores}.model"],
            env={"PYTHONPATH": str(ROOT), "NUMBA_NUM_THREADS": cores, "HOME": str(Path.home())},
            check=True, capture_output=True,
        )  # fmt: skip
        assert Path(f"{cores}.model").read_bytes() == Path("one.model").read_bytes()
        report = Path(f"{cores}.model.json").read_bytes()
        assert report == Path("one.model.json").read_bytes()


@pytest.mark.parametrize(
    ("good", "bad", "fault"),
    [
        ("empty.jsonl", "bad.parquet", "expected good texts, found a file without records."),
        ("other.jsonl", "bad.parquet", 'other.jsonl:1: expected a record with a text, found no "b'),
        ("nowhere.jsonl", "bad.parquet", "--good nowhere.jsonl: expected a file, found none."),
        ("good", "good", "found 0 different good texts, none of them in the training set"),
        ("good", "empty", "--bad empty: expected a file, found none"),
        ("good", "readme.odd", "readme.odd: expected a file name ending in ."),
        ("good", "hollow", "--bad hollow: expected files that end in ."),
    ],
)
def test_train_filter__says_what_is_wrong(good, bad, fault, folder):
    (folder / "readme.odd").write_text("x")
    (folder / "hollow").mkdir()
    done = command("--good", good, "--bad", bad, "-o", "q.model")
    assert done.exit_code == 1
    assert fault in done.output
    assert "Traceback" not in done.output
    assert not Path("q.model").exists()


@pytest.mark.parametrize("name", ["good/a.jsonl", "other"])
def test_train_filter__replaces_what_it_wrote_and_nothing_else(name, folder):
    (folder / "other.json").write_text("{}")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    wrong = command("--good", "good", "--bad", "bad.parquet", "-o", name)
    assert wrong.exit_code == 1
    assert "train-filter did not write this file: it begins with b'{" in wrong.output
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    for seed in ("1", "2"):
        done = command("--good", "good", "--bad", "bad.parquet", "-o", "q.model", "--seed", seed)
        assert done.exit_code == 0, done.output


@pytest.mark.parametrize("option", ["--rate", "--held-out"])
def test_train_filter__takes_numbers_alone(option, folder):
    done = command("--good", "good", "--bad", "bad.parquet", "-o", "q.model", option, "nan")
    assert (done.exit_code, "expected a number, got nan" in done.output) == (2, True)
    assert not Path("q.model").exists()
