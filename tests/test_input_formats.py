"""The built-in input formats: each is declared in one file, and all else asks the declaration."""

import hashlib
import os
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from workflow import ROOT

from corpusmill.cli.main import main
from corpusmill.messages.progress import Silence
from corpusmill.mill.read import formats as folder
from corpusmill.mill.read.first_records import Asked, fault_of
from corpusmill.mill.read.input_format import InputFormat, ReadOptions
from corpusmill.mill.read.readers import built_in, format_of, read_records
from corpusmill.mill.read.records import Malformed, Record
from corpusmill.mill.read.reference import PAGE, page
from corpusmill.mill.read.typed_columns import types_of
from corpusmill.mill.storage.streams import ReadLimits
from corpusmill.run.config import Config
from corpusmill.run.steps import STEPS

ENDINGS = list(built_in())

COLON = '''
"""Lines of a title, a colon and a text."""

from corpusmill.messages.progress import Silence
from corpusmill.mill.read.input_format import InputFormat
from corpusmill.mill.read.records import Malformed, Record
from corpusmill.mill.storage.streams import read_lines


class Colon(InputFormat):
    ending = ".colon"
    text_per_byte = 0.5
    content = "lines of a title, a colon and a text"

    def read(self, path, text_field, options):
        for number, line in enumerate(read_lines(path, options.progress), 1):
            title, text = line.decode("utf-8").split(":")
            if text_field == "text":
                yield Record(number, text, b'"title":"%s"' % title.encode("utf-8"))
            else:
                yield Malformed(number, None, f'no "{text_field}" field', "")

    def first_members(self, path, limits):
        for line in read_lines(path, Silence(), limits=limits):
            title, text = line.split(b":")
            yield {"title": len(title), "n": None, "text": len(text)}
'''


@pytest.fixture
def colon(tmp_path, monkeypatch) -> Path:
    """A file in a format that was only put into the folder of formats."""
    (tmp_path / "known").mkdir()
    (tmp_path / "known/colon.py").write_text(COLON)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path / "known")])
    built_in.cache_clear()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.colon").write_text("one:the first text\ntwo:the second text\n")
    yield Path("data/a.colon")
    sys.modules.pop("corpusmill.mill.read.formats.colon", None)
    built_in.cache_clear()


def test_formats_md__has_the_formats_as_they_are_declared(colon):
    """After a change of a format: python -m corpusmill.mill.read.reference"""
    written = PAGE.read_text("utf-8")
    row = "| `.colon` | lines of a title, a colon and a text | 0.5 |\n"
    assert row not in written
    changed = page(written)
    assert changed.replace(row, "") == written
    assert row in changed
    assert page(changed) == changed


@pytest.mark.parametrize("ending", ENDINGS)
def test_format__declares_what_others_ask(ending):
    one = built_in()[ending]
    others = set(ENDINGS) - {ending}
    assert ending.startswith(".")
    assert not any(ending.endswith(other) for other in others)
    assert one.text_per_byte > 0
    assert one.content
    assert "|" not in one.content
    assert type(one).first_members is not InputFormat.first_members


@pytest.mark.parametrize("ending", ENDINGS)
def test_read_records__never_wait_for_who_writes(tmp_path, progress, monkeypatch, ending):
    """Also where the file is replaced by a FIFO after it was looked at."""
    path = str(tmp_path / f"a{ending}")
    os.mkfifo(path)
    with pytest.raises(ValueError, match="expected a regular file, found a FIFO"):
        read_records(path, "text", progress)
    monkeypatch.setattr("corpusmill.mill.read.readers.fault_of_kind", lambda path: None)
    with pytest.raises(ValueError, match="expected a regular file, found a FIFO"):
        list(read_records(path, "text", progress))
    with pytest.raises(ValueError, match="expected a regular file, found a FIFO"):
        list(built_in()[ending].first_members(path, ReadLimits(100, 27)))


def test_a_format_of_ours__is_one_file():
    """Only its own file names an ending; the demo writes files of these names."""
    naming = [
        str(path.relative_to(ROOT))
        for place in ("corpusmill", "scripts", "rules")
        for path in sorted((ROOT / place).rglob("*"))
        if path.suffix in (".py", ".smk") and "jsonl.gz" in path.read_text("utf-8")
    ]
    naming = [path for path in naming if not path.startswith("corpusmill/mill/demo/")]
    assert naming == ["corpusmill/mill/read/formats/jsonl.py"]


def test_a_format_in_the_folder__is_read_at_once(colon, progress):
    assert format_of("b.colon").ending == ".colon"
    found = list(read_records(str(colon), "text", progress))
    assert found == [
        Record(1, "the first text", b'"title":"one"'),
        Record(2, "the second text", b'"title":"two"'),
    ]
    assert format_of("b.colon").record_at(str(colon), 2, "text", ReadOptions(Silence())) == found[1]
    assert {name: str(kept) for name, kept in types_of(str(colon), "text", ()).items()} == {
        "title": "large_string"
    }


def test_a_format_in_the_folder__has_limits_and_digests(colon, progress):
    seen, limits = hashlib.sha256(), ReadLimits(27, 27)
    first, second = read_records(str(colon), "text", progress, seen=seen, limits=limits)
    reason = "28 bytes, and input.max_record_bytes allows 27"
    assert (first.line, second) == (1, Malformed(2, None, reason, "the second text"))
    assert seen.digest() == hashlib.sha256(colon.read_bytes()).digest()


def test_a_format_in_the_folder__is_checked_before_a_run(colon):
    assert fault_of(Asked("s", str(colon), "text", 0)) is None
    assert 'these records have "title", "text", "n". Set text_field' in fault_of(
        Asked("s", str(colon), "body", 0)
    )


def test_init__finds_a_format_in_the_folder(colon):
    done = CliRunner().invoke(main, ["init", "data"])
    assert done.exit_code == 0, done.output
    (source,) = yaml.safe_load(Path("corpusmill.yaml").read_text())["sources"]
    assert source == {"name": "data", "files": ["data"], "text_field": "text"}


@pytest.mark.parametrize("step", ["normalize", "evaluation", "columns"])
def test_code__of_steps_that_read_has_that_of_every_format(colon, step):
    config = Config.checked(yaml.safe_load((ROOT / "config.yaml").read_text("utf-8")))
    files = STEPS[step].plugin_files(config)
    assert sorted(file.name for file in files) == sorted(
        file.name
        for place in folder.__path__
        for file in Path(place).glob("*.py")
        if file.stem != "__init__"
    )
