"""What config files say twice is refused or told, and not lost."""

from pathlib import Path

import pytest
from workflow import ROOT

from corpusmill.cli.check import checked_config, loaded
from corpusmill.run import config_files
from corpusmill.run.config_files import refuse_repeated_keys, replaced_lists


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Files by their names and contents, in a folder that is the current one."""
    monkeypatch.chdir(tmp_path)

    def write(**contents: str) -> list:
        files = [tmp_path / f"{name}.yaml" for name in contents]
        for file, content in zip(files, contents.values(), strict=True):
            file.write_text(content, "utf-8")
        return [file.relative_to(tmp_path) for file in files]

    return write


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("filters: []\ndedup: {}\nfilters: []\n",
         "a.yaml:3: duplicate key filters, first on line 1. Only the last value would count. "
         "Merge the two keys into one."),
        ("filters: [{name: x, min: 1, min: 2}]\n",
         "a.yaml:1: duplicate key min, first on line 1. Only the last value would count. "
         "Merge the two keys into one."),
        ('{\n\t"filters": [],\n\t"filters": []\n}\n',
         "a.yaml:3: duplicate key filters, first on line 2. Only the last value would count. "
         "Merge the two keys into one."),
    ],
)  # fmt: skip
def test_refuse_repeated_keys__says_file_line_and_the_line_before(written, content, expected):
    with pytest.raises(ValueError, match="duplicate key") as caught:
        refuse_repeated_keys(written(a=content))
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    "content",
    [
        "",
        "a: {name: 1}\nb: {name: 2}\n",
        "[{name: 1}, {name: 2}]",
        "a: &one {name: 1}\nb: *one\nc: {<<: *one, <<: *one, name: 3}\n",
        "? [a, b]\n: 1\n? [a, b, c]\n: 2\n",
    ],
)
def test_refuse_repeated_keys__takes_what_yaml_keeps(written, content):
    refuse_repeated_keys(written(a=content))


def test_shipped_files__have_every_key_once():
    shipped = [ROOT / "config.yaml", *sorted((ROOT / "presets").glob("*.yaml"))]
    refuse_repeated_keys(shipped)
    assert len(shipped) > 3


def test_replaced_lists__are_those_of_which_nothing_stays(written):
    files = written(
        preset="filters: [{name: empty}, {name: c4}]\ninput: {readers: [a.py]}\n",
        mine="sources: [{name: a}]\nfilters: [{name: empty}]\ninput: {readers: [a.py]}\n",
        more="filters: [{name: empty}]\nsplits: {test: 0}\n",
    )
    assert list(replaced_lists(files)) == [
        "filters: the list in mine.yaml replaces the list in preset.yaml. To use both, merge "
        "them into one list."
    ]
    assert list(replaced_lists(files[1:])) == []


def times(shape: str, levels: int) -> str:
    """Aliases of aliases: few lines for more values than there is memory."""
    return "a0: &a0 {x: 1}\n" + "".join(
        f"a{n}: &a{n} {shape.format(*[f'*a{n - 1}'] * 5)}\n" for n in range(1, levels)
    )


BOMBS = {
    "lists": times("[{}, {}, {}, {}, {}]", 20) + "sources: *a19\n",
    "merged": times("{{<<: [{}, {}, {}, {}, {}]}}", 20) + "sources: *a19\n",
    "itself": "sources: &a [*a]\n",
}


@pytest.mark.parametrize("kind", BOMBS)
def test_loaded__of_aliases_without_end_is_refused(kind, tmp_path):
    (tmp_path / "mine.yaml").write_text(BOMBS[kind])
    with pytest.raises(ValueError, match=r"mine\.yaml: expected at most 100,000 values"):
        loaded(tmp_path / "mine.yaml")


def test_loaded__of_deep_lists_is_refused(tmp_path):
    (tmp_path / "mine.yaml").write_text("sources: " + "[" * 20_000)
    with pytest.raises(ValueError, match=r"mine\.yaml: lists or mappings are nested too deeply"):
        loaded(tmp_path / "mine.yaml")


def test_loaded__of_a_number_of_thousands_of_digits_is_refused(tmp_path):
    for digits in ("0x" + "f" * 5000, "9" * 5000):
        (tmp_path / "mine.yaml").write_text(f"shuffle:\n  seed: {digits}\n")
        with pytest.raises(ValueError, match=r":2: expected a number of at most 100 digits"):
            loaded(tmp_path / "mine.yaml")


def test_loaded__of_10_gb_of_nothing_is_refused(tmp_path):
    with open(tmp_path / "mine.yaml", "wb") as file:
        file.truncate(10 << 30)
    with pytest.raises(ValueError, match=r"mine\.yaml: expected at most 4,194,304 bytes"):
        loaded(tmp_path / "mine.yaml")


@pytest.mark.whole
@pytest.mark.parametrize(
    "content",
    [
        "sources: [" + "a," * 1_000_000 + "a]\n",
        '{"sources": [' + "1," * 1_000_000 + "1]}",
        "sources:\n" + "- {a: b}\n" * 200_000,
    ],
    ids=["list", "JSON", "mappings"],
)
def test_loaded__of_many_values_makes_no_nodes(tmp_path, monkeypatch, content):
    (tmp_path / "mine.yaml").write_text(content)
    monkeypatch.setattr("yaml.composer.Composer.get_single_node", None)
    with pytest.raises(ValueError, match=r"mine\.yaml: expected at most 100,000 values"):
        loaded(tmp_path / "mine.yaml")


def test_checked_config__reads_each_file_once(written, monkeypatch):
    files = written(a="sources: [{name: a, files: [a.jsonl]}]\n", b="splits: {test: 0}\n")
    read = []
    monkeypatch.setattr(config_files, "text_of", lambda file: read.append(file) or file.read_text())
    checked_config(files)
    assert read == files
    assert list(replaced_lists(files[:1])) == []
    assert read == files


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        ("2020-99-99", "timestamp", "2020-99-99"),
        ("2020-01-01 00:00:00 +99:99", "timestamp", "2020-01-01 00:00:00 +99:99"),
        ('!!timestamp "zz"', "timestamp", "zz"),
        ('!!int "zz"', "int", "zz"),
        ('!!int ""', "int", ""),
        ('!!float "\\e[31m"', "float", r"\x1b[31m"),
        ("!!bool maybe", "bool", "maybe"),
    ],
)
def test_loaded__of_a_value_that_is_none_says_file_and_line(written, value, kind, shown):
    (file,) = written(a=f"sources:\n- {{name: a, files: [x], y: [{value}]}}\n")
    with pytest.raises(ValueError, match="expected a value") as caught:
        loaded(file)
    assert str(caught.value) == (
        f"a.yaml:2: expected a value that YAML can read as {kind}, found {shown}. Correct the "
        "value, or write it in quotes."
    )


def test_loaded__of_a_folder_names_it_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").mkdir()
    with pytest.raises(ValueError, match="expected a regular file") as caught:
        loaded(Path("mine.yaml"))
    assert str(caught.value).count("mine.yaml") == 1
