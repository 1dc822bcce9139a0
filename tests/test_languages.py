"""Languages are py3langid's, text by text; scripts are those of the letters' names."""

import functools
import json
import unicodedata
from pathlib import Path

import naive
import numba
import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from py3langid.langid import MODEL_FILE, LanguageIdentifier
from workflow import data_folder

from corpusmill.kernels.languages import BLOCK, MEMORY, row_after, walk
from corpusmill.mill.filters.languages import model
from corpusmill.mill.filters.languages.codes import LANGUAGES, MODEL_LANGUAGES, UNKNOWN, code_faults
from corpusmill.mill.filters.languages.identification import identify
from corpusmill.mill.filters.languages.script_table import SCRIPTS, built_table, script_table
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.storage.streams import read_lines

SENTENCES = [
    "Der Müller öffnete das Wehr vor Sonnenaufgang.",
    "THE MILLER OPENED THE SLUICE BEFORE SUNRISE.",
    "Мельник открыл шлюз до рассвета.",
    "磨坊主在日出前打开了水闸。",
    "粉屋は夜明け前に水門を開けた。",
    "방앗간 주인은 해뜨기 전에 수문을 열었다.",
    "चक्कीवाले ने सूर्योदय से पहले फाटक खोला।",
    "فتح الطحان السد قبل شروق الشمس.",
    "Người thợ xay mở cống trước khi mặt trời mọc.",
    "def f(x):\n    return x + 1\n",
    "0 1 2 3 4 5 6 7 8 9\n" * 3,
]
# Single code points of all scripts, and what NFC changes: marks, jamo, singletons.
characters = st.characters(exclude_categories=["Cs"])
texts = st.lists(
    st.one_of(st.sampled_from(SENTENCES), st.text(characters), st.text("aeé\u0301\u0323각ΩK ")),
    max_size=4,
).map("".join)


@functools.cache
def package() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def column(texts: list[str]) -> TextColumn:
    return TextColumn.of(pa.array(texts, pa.large_string()))


def found(texts: list[str], among: list[str] | None = None) -> list[tuple[str, float]]:
    """Code and score of each."""
    got = identify(column(texts), among)
    return [(LANGUAGES[p], s) for p, s in zip(got.places, got.scores.tolist(), strict=True)]


def script(text: str) -> str:
    return SCRIPTS[identify(column([text])).scripts[0]]


def assert_as_the_package(texts: list[str], tolerance: float = 3e-4) -> None:
    """The same language; the same score but for what float32, in which the package sums, loses."""
    for text, (code, score) in zip(texts, found(texts), strict=True):
        expected, expected_score = package().classify(text)
        if code == UNKNOWN:  # there every language of the package is as likely as any other
            assert (score, expected) == (0, "sr")
            assert expected_score == pytest.approx(2 / 142)
            continue
        assert score == pytest.approx(expected_score, abs=tolerance)
        if code != expected:  # as likely as one another, but for the package's rounding
            ranked = dict(package().rank(text))
            assert ranked[code] == pytest.approx(expected_score, abs=tolerance)


@examples(400)
@given(st.lists(texts, max_size=4))
@example(["", " ", "a", "é", "e\u0301", "İ", "ǅ", "\U00100000", "ok"])
@example(SENTENCES)
def test_identify__equals_the_package(texts):
    assert_as_the_package(texts)


@examples(60)
@given(texts)
def test_identify__equals_naive(text):
    (code, score), model = found([text])[0], package()
    counts = naive.longest_matches(model._encode(text), model)
    expected = naive.language_shares(counts, len(model._encode(text)), model)
    if not counts:
        assert (code, score) == (UNKNOWN, 0)
    else:
        assert score == pytest.approx(max(expected.values()), rel=2e-5)
        assert expected[code] == pytest.approx(score, rel=2e-5)


@pytest.mark.parametrize("size", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3, 5 * BLOCK])
def test_identify__of_several_blocks_is_the_packages(size):
    text = (" ".join(SENTENCES) * (1 + size // 500))[:size]
    assert_as_the_package([text])


@pytest.mark.whole
def test_identify__of_one_long_line_is_the_packages():
    line = " ".join(f"{word}{n}" for n in range(80_000) for word in SENTENCES[n % 11].split()[:3])
    line = (line * 5)[:10_000_000].replace("\n", " ")
    assert len(line) == 10_000_000
    assert_as_the_package([line])


def test_identify__sees_a_slice_of_a_column():
    whole = pa.array(SENTENCES, pa.large_string())
    assert identify(TextColumn.of(whole[3:6])).scores.tolist() == [
        score for _, score in found(SENTENCES[3:6])
    ]


@pytest.mark.some(4)
@pytest.mark.parametrize("among", [["de"], ["de", "en", "fr"], ["sr", "hr", "bs"], ["uz", "zxx"]])
def test_identify__among_some_is_the_packages(among):
    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    model.set_languages(among)
    for text, (code, score) in zip(SENTENCES, found(SENTENCES, among), strict=True):
        expected, expected_score = model.classify(text)
        assert code == expected
        assert score == pytest.approx(expected_score, abs=1e-5)


@pytest.mark.skipif(data_folder() is None, reason="CORPUSMILL_DATA names no folder of real text")
@pytest.mark.one_in(3)
@pytest.mark.parametrize("source", ["commoncrawl", "wikipedia", "arxiv", "c4", "books"])
def test_identify__of_real_text_is_the_packages(source, progress):
    (path,) = data_folder().glob(f"corpus/{source}/*_0000.jsonl.zst")
    documents = [json.loads(line)["text"] for line in read_lines(str(path), progress)]
    sample = [text[:20_000] for text in documents[:: 1 + len(documents) // 60]]
    assert len(sample) > 10
    assert_as_the_package([*sample, *(text[:100] for text in documents)])


# The model.


def test_languages__are_those_of_the_package():
    assert tuple(package().labels) == MODEL_LANGUAGES
    assert len(LANGUAGES) == len(set(LANGUAGES)) == 141


@pytest.mark.whole
def test_tables__kept_are_those_built_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "new"))
    make = model.tables.__wrapped__
    once, again = make(), make()
    assert len(list((tmp_path / "new").iterdir())) == len(model.Tables._fields)
    for one, other, built in zip(once, again, model.built_tables(), strict=True):
        assert (one == other).all()
        assert (one == built).all()
        assert one.dtype == built.dtype


def test_automaton__is_the_packages():
    arrays, automaton = model.model_arrays(), model.automaton()
    moves = arrays["nextmove"].reshape(-1, 256)
    data = np.frombuffer(" ".join(SENTENCES).encode(), np.uint8)
    cells = np.empty(data.size, np.uint32)
    walk(data, 0, 0, data.size, automaton, cells)
    state, features = 0, []
    for byte in data.tolist():
        state = moves[arrays["nextmove_row"][state], byte]
        features.append(arrays["out_feat"][state])
    row = cells.astype(np.int64) >> 16
    of_state = model.tables().feature_of[(cells & 0xFFFF) + 2 * row - (1 << 15)]
    got = np.where(of_state < 0, -1 - of_state, of_state)
    assert np.where(of_state == 1 << 30, -1, got).tolist() == features


def test_row_after__remembers_no_more_than_it_says():
    automaton, draw = model.automaton(), np.random.default_rng(1)
    text = np.frombuffer(" ".join(SENTENCES * 3).encode(), np.uint8)
    for stop in draw.integers(MEMORY, text.size, 500).tolist():
        whole = row_after(text, 0, stop, automaton)
        assert row_after(text, stop - MEMORY, stop, automaton) == whole


@pytest.mark.parametrize("times", [1, 3, 4, 5, 63, 64, 65, 1000])
def test_identify__counts_features_that_come_often(times):
    assert_as_the_package(["der Müller " * times, "e" * times])


def test_model_file__refuses_another_model(tmp_path, monkeypatch):
    other = tmp_path / "py3langid/data/model.npz.xz"
    other.parent.mkdir(parents=True)
    (tmp_path / "py3langid/__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(model.importlib.util, "find_spec", spec_in(tmp_path))
    with pytest.raises(ValueError, match=r"found no such file. Install it: pip install py3langid="):
        model.model_file()
    other.write_bytes(b"another")
    with pytest.raises(
        ValueError, match=r"expected the model file of py3langid 0.4.0, found a file with"
    ):
        model.model_file()


def spec_in(folder):
    from importlib.machinery import ModuleSpec

    return lambda name: ModuleSpec(name, None, origin=str(folder / name / "__init__.py"))


def test_code_faults__name_the_nearest():
    assert list(code_faults(["de", "und", "zxx"])) == []
    (fault,) = code_faults(["en-GB"])
    assert fault.startswith("unknown language en-GB. Did you mean en or ")
    assert fault.endswith("? All codes: docs/reference/languages.md")
    assert list(code_faults(["123456"])) == [
        "unknown language 123456. All codes: docs/reference/languages.md"
    ]
    page = (Path(__file__).parents[1] / "docs/reference/languages.md").read_text("utf-8")
    listed = page.split("## Known languages")[1].split("```")[1].split()
    assert sorted(listed) == sorted(MODEL_LANGUAGES)


# Scripts.

NAMES = {
    "Latn": "LATIN", "Cyrl": "CYRILLIC", "Grek": "GREEK", "Arab": "ARABIC", "Hebr": "HEBREW",
    "Deva": "DEVANAGARI", "Beng": "BENGALI", "Taml": "TAMIL", "Thai": "THAI", "Hang": "HANGUL",
    "Hani": "CJK UNIFIED IDEOGRAPH", "Hira": "HIRAGANA", "Kana": "KATAKANA", "Ethi": "ETHIOPIC",
    "Geor": "GEORGIAN", "Khmr": "KHMER", "Mymr": "MYANMAR", "Tibt": "TIBETAN", "Mong": "MONGOLIAN",
    "Guru": "GURMUKHI", "Gujr": "GUJARATI", "Telu": "TELUGU", "Knda": "KANNADA", "Sinh": "SINHALA",
}  # fmt: skip


@pytest.mark.whole
def test_script_table__is_made_once_and_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "new"))
    make = script_table.__wrapped__
    once, again = make(), make()
    assert len(list((tmp_path / "new").iterdir())) == 1
    assert (once == again).all()
    assert (once == built_table()).all()


def test_script_table__has_the_letters_of_each_name():
    places = script_table() & 0xFF
    code_of = {name: code for code, name in NAMES.items()}
    seen = set()
    for point in range(0x110000):
        words = unicodedata.name(chr(point), "").replace("-", " ").split()
        code = (
            code_of.get(words[0] if words[:1] != ["CJK"] else " ".join(words[:3])) if words else ""
        )
        category = unicodedata.category(chr(point))
        if code and category != "Lm":  # modifier letters may belong to no script
            is_letter = category[0] == "L"
            assert SCRIPTS[places[point]] == (code if is_letter else "Zyyy"), words
            seen.add(code)
    assert seen == set(NAMES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "Zyyy"),
        ("12 + 3 = 15 !?", "Zyyy"),
        ("abc где", "Latn"),
        ("ab где", "Cyrl"),
        ("水水 a", "Hani"),
        ("这个说话", "Hans"),
        ("這個說話", "Hant"),
        ("日本語です", "Jpan"),
        ("ひらがな", "Jpan"),
        ("한국어", "Hang"),
        ("\u16a0\u16a1", "Zzzz"),
    ],
)
def test_script__is_that_of_most_letters(text, expected):
    assert script(text) == expected


@examples(200)
@given(texts)
def test_script__equals_naive(text):
    assert script(text) == naive.main_script(text, script_table() & 0xFF, SCRIPTS)


@given(st.text(st.sampled_from("aAǅßΣ1 é\u0301\u0323\u0327각각Ωक\u093cİ")))
def test_survey__finds_what_has_to_be_changed(text):
    """Whatever NFC or small letters would change is changed before the model sees it."""
    assert_as_the_package([text])


def test_survey__of_every_code_point_sees_what_nfc_changes():
    table = script_table()
    flagged = {point for point in range(0x110000) if table[point] & 1 << 18}
    changed = {
        point
        for point in range(0x110000)
        if not 0xD800 <= point < 0xE000 and not unicodedata.is_normalized("NFC", chr(point))
    }
    assert changed <= flagged
    assert all(table[ord(c)] & 1 << 18 for c in "\u0301\u1161\u11a8\u093c\u3099")
