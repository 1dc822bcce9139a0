"""fastText models are read as they are, and say what fastText says."""

import functools
import random
import struct
from pathlib import Path

import naive_models as naive
import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.kernels.lanes import add_dense_rows
from corpusmill.mill.filters.models import fasttext_model
from corpusmill.mill.filters.models.fasttext_file import label_number, read_fasttext
from corpusmill.mill.filters.models.fasttext_model import FastTextModel, huffman_tree
from corpusmill.mill.read.text_column import TextColumn

VOCABULARY = ["mill", "grain", "Mühle", "水火", "a", "sack", "__labelled", "é", "flour", "wind"]
LABELS = [f"__label__{n}" for n in range(7)]
EDGES = [
    "", " ", "\t\n", "unseen words only", "__label__1 __label__none mill", "mill\ngrain\r\nsack",
    "mill </s> grain", "</s>", "mill\0grain\vsack\fa", "水火" * 200, "a", "mill " * 3000,
    "x" * 5000, "\x1fmill\u00a0grain\u2028sack", "__label__1", "__label__none", "<>", "é é",
]  # fmt: skip
SHORT = [text for text in EDGES if len(text) < 100]
SHAPES = {
    "words": {},
    "chars": {"minn": 2, "maxn": 4, "bucket": 3000},
    "one char": {"minn": 1, "maxn": 3, "bucket": 1024},
    "from none": {"minn": 0, "maxn": 2, "bucket": 999},
    "ngrams": {"wordNgrams": 3, "bucket": 2500},
    "both": {"minn": 3, "maxn": 5, "wordNgrams": 2, "bucket": 4000},
}
WAYS = {
    "dense": None,
    "quantized": {},
    "norms": {"qnorm": True, "dsub": 3},
    "pruned": {"cutoff": 300, "qnorm": True, "retrain": True},
}


def column(texts: list[str]) -> TextColumn:
    return TextColumn.of(pa.array(texts, pa.large_string()))


def lines(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    words = [*VOCABULARY, *(f"word{n}" for n in range(300))]
    return [" ".join(chance.choices(words, k=chance.randint(1, 25))) for _ in range(count)]


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """`trained(loss, shape, way)`: a model that fastText has trained, and the path of its file."""
    fasttext = pytest.importorskip("fasttext", reason="fastText, the oracle, is not installed")
    folder = tmp_path_factory.mktemp("fasttext")
    corpus = folder / "corpus.txt"
    chance = random.Random(1)
    labelled = [
        f"{' '.join(sorted(set(chance.choices(LABELS, range(1, 8), k=2))))} {line}\n"
        for line in lines(500, 2)
    ]
    corpus.write_text("".join(labelled), "utf-8")

    @functools.cache
    def model(loss: str, shape: str, way: str):
        path = folder / f"{loss} {shape} {way}.bin"
        found = fasttext.train_supervised(
            str(corpus), loss=loss, dim=10, epoch=5, lr=0.5, thread=1, verbose=0, **SHAPES[shape]
        )
        if (how := WAYS[way]) is not None:
            found.quantize(input=str(corpus), epoch=1, thread=1, verbose=0, **how)
        found.save_model(str(path))
        return fasttext.load_model(str(path)), path

    return model


CASES = [(loss, shape, way) for loss in naive.LOSSES for shape in SHAPES for way in WAYS]


def told(model, text: str, k: int) -> list[tuple[float, str]]:
    """What the package says, -1: of all labels. It takes one line."""
    return model.f.predict(text.replace("\n", " ") + "\n", k, 0.0, "strict")


@pytest.mark.some(3)
@pytest.mark.one_in(13)
@pytest.mark.parametrize(("loss", "shape", "way"), CASES)
def test_predict__equals_fasttext(loss, shape, way, trained):
    theirs, path = trained(loss, shape, way)
    ours, texts = FastTextModel(path), EDGES + lines(60, 3)
    for k in (1, 3, 9):
        got = ours.predict(column(texts), k)
        for text, best, found in zip(texts, got.best, got.probabilities, strict=True):
            said = told(theirs, text, k)
            known = int((best >= 0).sum())
            assert known == len(said), text[:80]
            assert found[:known] == pytest.approx([share for share, _ in said], abs=1e-5)
            shares = [share for share, _ in told(theirs, text, -1)]
            # Of ties its heap has some order.
            clear = [n for n in range(known) if k == 1 or is_alone(said[n][0], shares)]
            assert [ours.labels[best[n]] for n in clear] == [said[n][1] for n in clear]


def is_alone(share: float, shares: list[float]) -> bool:
    return sum(abs(other - share) < 1e-5 for other in shares) == 1


@pytest.mark.some(3)
@pytest.mark.one_in(13)
@pytest.mark.parametrize(("loss", "shape", "way"), CASES)
def test_wanted__is_what_fasttext_tells_of_that_label(loss, shape, way, trained):
    theirs, path = trained(loss, shape, way)
    ours, texts = FastTextModel(path), EDGES + lines(20, 4)
    for number, label in enumerate(ours.labels):
        got = ours.predict(column(texts), 1, number).wanted
        for text, share in zip(texts, got.tolist(), strict=True):
            said = told(theirs, text, -1)
            # It does not tell what is below 0.00001.
            assert share == pytest.approx({b: a for a, b in said}.get(label, 0), abs=2e-5)


def random_model(seed: int, loss: str = "softmax", **changed) -> naive.Model:
    chance = np.random.default_rng(seed)
    words = [b"</s>", *(word.encode() for word in VOCABULARY)]
    buckets = changed.get("buckets", 0)
    kept = changed.get("kept")
    rows = len(words) + (buckets if kept is None else len(kept))
    labels = [label.encode() for label in LABELS]
    changed = {"input": normal(chance, rows), "output": 3 * normal(chance, len(labels))} | changed
    return naive.Model(words, labels, [90, 70, 20, 20, 9, 3, 1], loss=loss, **changed)


def normal(chance: np.random.Generator, rows: int, columns: int = 5) -> np.ndarray:
    return chance.normal(size=(rows, columns)).astype(np.float32)


def quantized(chance: np.random.Generator, rows: int, norms: bool) -> naive.Quantized:
    return naive.Quantized(
        chance.integers(0, 256, (rows, 3), np.uint8),
        [normal(chance, 256, 2), normal(chance, 256, 2), normal(chance, 256, 1)],
        chance.choice(normal(chance, 9, 1).ravel(), rows) if norms else None,
    )


def model_file(folder: Path, model: naive.Model) -> Path:
    path = folder / "model.bin"
    path.write_bytes(naive.model_bytes(model))
    return path


VARIED = {
    "words": {},
    "chars": {"buckets": 50, "least": 2, "most": 4},
    "power of two": {"buckets": 64, "least": 1, "most": 6},
    "one bucket": {"buckets": 1, "least": 0, "most": 2},
    "many buckets": {"buckets": 70_001, "least": 2, "most": 5, "most_words": 4},
    "ngrams": {"buckets": 33, "most_words": 3},
}


def said(path: Path, texts: list[str]) -> np.ndarray:
    """float32 (documents, labels)."""
    model = FastTextModel(path)
    of = [model.predict(column(texts), 1, label).wanted for label in range(len(model.labels))]
    return np.stack(of, axis=1)


@pytest.fixture(scope="module")
def random_files(tmp_path_factory) -> dict[tuple[str, str], tuple[naive.Model, Path]]:
    found = {}
    for number, loss in enumerate(naive.LOSSES):
        for name, changed in VARIED.items():
            model = random_model(number, loss, **changed)
            found[loss, name] = (model, model_file(tmp_path_factory.mktemp("model"), model))
    return found


@pytest.mark.parametrize("loss", naive.LOSSES)
@examples(40)
@given(
    name=st.sampled_from([*VARIED]),
    texts=st.lists(
        st.lists(st.sampled_from([*VOCABULARY, *SHORT]) | st.text(max_size=9)).map(" ".join),
        max_size=3,
    ),
)
def test_predict__equals_naive(loss, name, texts, random_files):
    model, path = random_files[loss, name]
    got = said(path, texts)
    for text, shares in zip(texts, got.tolist(), strict=True):
        expected = naive.fasttext_shares(model, text) or [0.0] * len(LABELS)
        # A sigmoid is one of 512; a sum that is rounded otherwise may fall into the next.
        step = 0.01 if loss in ("ns", "ova") else 1e-5
        assert shares == pytest.approx(expected, abs=step)


@pytest.mark.whole
@pytest.mark.parametrize("norms", [False, True])
@pytest.mark.parametrize("loss", ["hs", "softmax"])
def test_predict__of_quantized_matrices_equals_naive(loss, norms, tmp_path):
    chance = np.random.default_rng(7)
    kept = {3: 1, 11: 0, 49: 2, 20: 3}
    model = random_model(
        1, loss, buckets=50, least=2, most=3, most_words=2, kept=kept,
        input=quantized(chance, 15, norms), output=quantized(chance, 7, norms),
    )  # fmt: skip
    texts = EDGES + lines(20, 5)
    got = said(model_file(tmp_path, model), texts).tolist()
    expected = [naive.fasttext_shares(model, text) or [0.0] * 7 for text in texts]
    assert got == [pytest.approx(shares, abs=2e-5) for shares in expected]


def test_predict__of_version_11_has_no_characters(tmp_path):
    model = random_model(1, buckets=50, least=2, most=3, version=11)
    got = said(model_file(tmp_path, model), ["mill grain unseen"])
    assert got.tolist() == [pytest.approx(naive.fasttext_shares(model.like(most=0),
                                                                "mill grain unseen"))]  # fmt: skip


def test_predict__does_not_depend_on_what_stands_beside(tmp_path):
    path = model_file(tmp_path, random_model(2, "hs", buckets=50, least=2, most=3, most_words=2))
    array = pa.array(EDGES + lines(30, 6), pa.large_string())
    model = FastTextModel(path)
    whole = model.predict(TextColumn.of(array), 2, 3)
    part = model.predict(TextColumn.of(array.slice(5, 9)), 2, 3)
    for one, other in zip(whole, part, strict=True):
        assert np.array_equal(one[5:14], other)
    assert model.predict(TextColumn.of(array.slice(4, 0)), 2, 3).best.shape == (0, 2)


@pytest.mark.parametrize("columns", [1, 3, 4, 16, 21, 64, 100, 151])
def test_add_dense_rows__is_one_row_after_the_other(columns):
    chance = np.random.default_rng(columns)
    matrix = normal(chance, 40, columns)
    rows = chance.integers(0, 40, 300)
    got = normal(chance, 1, columns)[0]
    expected = got.copy()
    for row in rows[:280]:
        expected += matrix[row]
    add_dense_rows(matrix, rows, 280, got)
    assert got.tolist() == expected.tolist()


@pytest.mark.parametrize("counts", [[1], [5, 5], [9, 4, 4, 4, 1], [1] * 12, list(range(30, 0, -1))])
def test_huffman_tree__equals_naive(counts):
    left, right = huffman_tree(counts)
    tree = naive.tree_of(counts)
    assert {n: (left[n], right[n]) for n in range(len(counts), left.size)} == tree
    assert (left[: len(counts)] == -1).all()


def test_label_number__knows_labels_with_and_without_their_prefix():
    assert [label_number(LABELS, name) for name in ("__label__3", "3", "7")] == [3, 3, -1]


def test_read_fasttext__maps_the_file(tmp_path):
    found = read_fasttext(model_file(tmp_path, random_model(1)))
    assert found.labels() == LABELS
    assert not found.data.flags.owndata
    assert not found.data.flags.writeable


WHOLE = naive.model_bytes(random_model(1, buckets=50, least=2, most=3))


@pytest.mark.parametrize("size", [0, 1, 3, 4, 30, 63, 64, 90, 130, len(WHOLE) // 2, len(WHOLE) - 1])
def test_read_fasttext__refuses_a_file_that_is_cut_off(size, tmp_path):
    (tmp_path / "cut.bin").write_bytes(WHOLE[:size])
    with pytest.raises(ValueError, match=r"cut\.bin: cut off: expected .* found .*\. Fetch"):
        read_fasttext(tmp_path / "cut.bin")


def changed(at: int, value: int) -> bytes:
    return WHOLE[:at] + struct.pack("<i", value) + WHOLE[at + 4 :]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"PK\x03\x04" + WHOLE, r"expected a fastText model .* begins with b'PK"),
        (changed(4, 13), "expected version 11 or 12 .* found 13"),
        (changed(4, 10), "expected version 11 or 12 .* found 10"),
        (changed(36, 2), r"expected a supervised model, found word vectors \(skipgram\)"),
        (changed(36, 1), r"word vectors \(cbow\)"),
        (changed(36, 8), r"word vectors \(of kind 8\)"),
        (changed(32, 9), "damaged: expected a loss of 1, 2, 3, 4, found 9"),
        (changed(40, 0), "expected buckets for n-grams, found none"),
        (changed(8, 0), "expected columns, and up to .* buckets, found 0 and 50"),
        (changed(8, 6), "expected 61 x 6 in its input matrix, found 61 x 5"),
        (changed(64, 40), "expected words, then labels, found 40 = 11 "),
        (changed(68, 12)[:72] + struct.pack("<i", 6) + WHOLE[76:], "found another order"),
        (changed(36 - 8, 1 << 20), "expected n-grams of 65,536 or fewer, found 1048576"),
        (changed(48, 1 << 20), "expected n-grams of 65,536 or fewer"),
        (
            WHOLE[:64] + struct.pack("<3i", 2**31 - 1, 2**31 - 8, 7) + WHOLE[76:],
            "cut off: expected at least 21,474,836,562 bytes up to the end of its dictionary",
        ),
        (WHOLE + b"\0", r"expected [\d,]+ bytes, found"),
        (naive.model_bytes(random_model(1, buckets=9, most_words=2, kept={1: 0})), "are pruned"),
        (naive.model_bytes(random_model(1, buckets=9, most_words=2, kept={9: 0})), "kept n-grams"),
        (naive.model_bytes(random_model(1, buckets=9, most_words=2, kept={1: 1})), "kept n-grams"),
    ],
)
def test_read_fasttext__refuses_what_it_cannot_use(data, fault, tmp_path):
    (tmp_path / "model.bin").write_bytes(data)
    with pytest.raises(ValueError, match=fault) as raised:
        read_fasttext(tmp_path / "model.bin")
    assert str(raised.value).startswith(f"{tmp_path}/model.bin: ")


def test_predict__refuses_numbers_that_are_none(tmp_path):
    model = random_model(1)
    model.output[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"model\.bin: expected finite numbers in the matrices"):
        said(model_file(tmp_path, model), ["mill"])


@pytest.mark.whole
@pytest.mark.parametrize("copied_bytes", [0, 1 << 30])
def test_predict__says_the_same_of_a_matrix_that_is_copied_or_mapped(
    copied_bytes, tmp_path, monkeypatch
):
    monkeypatch.setattr(fasttext_model, "COPIED_BYTES", copied_bytes)
    model = random_model(5, "hs", buckets=999, least=2, most=4, most_words=2)
    got = said(model_file(tmp_path, model), EDGES)
    expected = [naive.fasttext_shares(model, text) for text in EDGES]
    assert got.tolist() == [pytest.approx(shares, abs=2e-5) for shares in expected]


@examples(400)
@given(
    at=st.integers(0, 330), value=st.integers(0, 255), loss=st.sampled_from([*naive.LOSSES]),
    is_quantized=st.booleans(),
)  # fmt: skip
def test_a_changed_byte__is_refused_or_gives_another_model(
    at, value, loss, is_quantized, tmp_path_factory
):
    """Whatever a file says, nothing beside it is read."""
    chance = np.random.default_rng(1)
    kept = {3: 1, 8: 0} if is_quantized else None
    coded = {"input": quantized(chance, 13, True)} if is_quantized else {}
    data = bytearray(
        naive.model_bytes(
            random_model(1, loss, buckets=9, least=2, most=3, most_words=2, kept=kept, **coded)
        )
    )
    data[at] = value
    path = tmp_path_factory.getbasetemp() / "changed.bin"
    path.write_bytes(data)
    try:
        found, fault = said(path, ["mill grain unseen"]), None
    except ValueError as error:
        found, fault = np.zeros(1), str(error)
    assert fault is None or fault.startswith(f"{path}: ")
    assert ((found >= 0) & (found <= 1.0001)).all()
