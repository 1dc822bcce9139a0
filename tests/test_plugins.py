"""Filters and readers of users: as docs/how-to/extend.md has them, and wrong ones."""
# ruff: noqa: E501, what is wrong and what is said of it stand on one line

import json
import re
import sys
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import yaml
import zstandard
from workflow import ROOT, document, jobs, mill, snakemake, write_jsonl

from corpusmill.mill.decide.fates import dropping_fates
from corpusmill.mill.filters.configured import configured
from corpusmill.mill.filters.documents import Documents, decoded
from corpusmill.mill.filters.measuring import Measures
from corpusmill.mill.filters.reference import page
from corpusmill.mill.filters.registry import filter_class, known_filters
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.storage.streams import READ_LIMITS
from corpusmill.run.filter_faults import filter_faults

EXTENDING = (ROOT / "docs/how-to/extend.md").read_text("utf-8")
PYTHON, YAML = (
    re.findall(rf"^```{language}\n(.*?)^```", EXTENDING, re.MULTILINE | re.DOTALL)
    for language in ("python", "yaml")
)
RULES, LOOK, FILTERS, READERS, MODULE = PYTHON
SMALL = {"tokenizer": {"source": "train", "train_vocabulary": 300}}


def corpus(folder: Path, extra: list[dict] | None = None) -> dict:
    records = [{"text": document(n), "n": n} for n in range(30)] + (extra or [])
    write_jsonl(folder / "raw.jsonl", records)
    return {"sources": [{"name": "web", "files": ["raw.jsonl"]}], **SMALL}


def fates(folder: Path) -> dict[int, str]:
    """Line -> fate."""
    rows = pq.read_table(folder / "results/ledger/00000.parquet").to_pylist()
    return {row["line"]: row["fate"] for row in rows}


def test_docs__a_rule_of_thumb_and_a_filter_work_as_written(tmp_path, capsys, monkeypatch):
    words = " ".join(f"word{n}" for n in range(60))
    extra = [
        {"text": f"Lorem ipsum {words}"},
        {"text": "unseparated" * 40},
        {"text": "7" * 3000 + words},
    ]
    config = corpus(tmp_path, extra)
    (tmp_path / "my_rules.py").write_text(RULES)
    (tmp_path / "my_filters.py").write_text(FILTERS)
    of_rules, of_filters = (yaml.safe_load(YAML[n])["filters"] for n in (0, 1))
    config["filters"] = [*of_rules, of_filters[-1] | {"max_share": 0.6}]
    mill(tmp_path, config)
    assert {fates(tmp_path)[line] for line in range(1, 31)} == {"kept"}
    assert [fates(tmp_path)[line] for line in (31, 32, 33)] == [
        "says_nothing", "says_nothing", "many_digits",
    ]  # fmt: skip
    monkeypatch.chdir(tmp_path)
    exec(compile(LOOK, "extending.md", "exec"), {})
    assert eval(capsys.readouterr().out) == [
        ("raw.jsonl", 31, "lorem ipsum"), ("raw.jsonl", 32, "dropped"),
    ]  # fmt: skip
    rows = pq.read_table("results/ledger/00000.parquet").to_pylist()
    shares = [row["digit_share"] for row in rows]
    assert shares[:32] == [None] * 32
    assert 0.6 < shares[32] < 1
    measured = feather.read_table("results/measures/00000.arrow")
    assert measured.column_names[:3] == ["chars", "says_nothing_reason", "digit_share"]
    assert measured.column("digit_share").null_count == 0
    summary = json.loads(Path("results/summary.json").read_text())
    assert list(summary["documents"]["dropped"]) == dropping_fates(
        ["empty", "too_short", "says_nothing", "many_digits"]
    )
    assert summary["documents"]["dropped"]["says_nothing"] == 2

    twice = yaml.safe_load(YAML[2])["filters"]
    assert list(filter_faults(configured(twice), ["arxiv", "tables"])) == []

    # A limit is decided anew, the code measured anew.
    config["filters"][-1]["max_share"] = 0.9
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
    dry_run = "-n", "--quiet", "rules", "--configfile", "mine.yaml"
    planned = jobs(snakemake(tmp_path, *dry_run))
    assert planned["filter"] == 1
    assert not {"measure", "sign", "normalize"} & set(planned)
    (tmp_path / "my_filters.py").write_text(FILTERS.replace('ord("0")', 'ord("1")'))
    planned = jobs(snakemake(tmp_path, *dry_run))
    assert planned["measure"] == 1
    assert not {"sign", "normalize"} & set(planned)


def test_docs__a_reader_works_as_written(tmp_path):
    config = corpus(tmp_path)
    lines = ["body|n|kind", *(f'"{document(100 + n)}"|{n}|a' for n in range(20))]
    (tmp_path / "raw.psv").write_text("\n".join(lines) + "\n")
    (tmp_path / "my_readers.py").write_text(READERS)
    config["sources"].append({"name": "table", "files": ["*.psv"], "text_field": "body"})
    config["sources"].append({"name": "test", "files": ["*.psv"], "held_out": True})
    config |= yaml.safe_load(YAML[3])
    faults = snakemake_faults(tmp_path, config)
    assert 'raw.psv belongs to source "test" and to source "table"' in faults
    del config["sources"][-1]
    mill(tmp_path, config)
    rows = pq.read_table(tmp_path / "results/ledger/00000.parquet").to_pylist()
    assert [row["line"] for row in rows if row["source"] == "table"] == list(range(1, 21))
    shards = tmp_path.glob("results/corpus/*/*.jsonl.zst")
    texts = b"".join(
        zstandard.ZstdDecompressor().stream_reader(p.read_bytes()).read() for p in shards
    )
    found = [json.loads(line) for line in texts.splitlines()]
    assert sorted(one["n"] for one in found if one.get("kind") == "a") == sorted(
        map(str, range(20))
    )

    (tmp_path / "raw.psv").write_text("title|n\nx|1\n")
    (tmp_path / "my_readers.py").write_text(READERS.replace(", None)\n", ', None) + ""\n'))
    assert re.search(
        r"my_readers\.py:14: TypeError: .*, reading raw\.psv after record 0",
        run_faults(tmp_path, config),
    )


def snakemake_faults(folder: Path, config: dict) -> str:
    """What a dry run says that has to fail."""
    (folder / "mine.yaml").write_text(yaml.safe_dump(config))
    done = snakemake(folder, "-n", "--configfile", "mine.yaml")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def run_faults(folder: Path, config: dict) -> str:
    (folder / "mine.yaml").write_text(yaml.safe_dump(config))
    done = snakemake(folder, "--cores", "2", "--configfile", "mine.yaml")
    assert done.returncode == 1
    return done.stdout + done.stderr


GOOD = """
import numpy as np
from corpusmill.mill.filters.declaration import Filter, Value, count, share, text

class Mine(Filter):
    fate = "mine"
    settings = {"least": count(3, "Fewest of something.", most=9)}
    values = {"something": Value("uint32", "of something")}

    def measure(self, texts):
        return {"something": np.zeros(texts.offsets.size - 1, np.uint32)}

    def drops(self, values):
        return values["something"] > self.least
"""


@pytest.mark.parametrize(
    ("old", "new", "entry", "says"),
    [
        ("", "", {"file": "none.py"}, "filters[1]: there is no file none.py"),
        ("fate =", "fate = =", {}, "filters[1]: mine.py:6: SyntaxError"),
        ("import numpy", "import numbr", {}, "filters[1]: mine.py:2: ModuleNotFoundError"),
        ("", "", {"name": "mined"}, "no class with fate = 'mined' and no function keep; its filters: mine"),
        ("", "", {"least": 12}, "filters[1].least: expected a whole number from 0 to 9, got 12. Fewest"),
        ("", "", {"least": "x"}, "filters[1].least: expected a whole number from 0 to 9, got x."),
        ("", "", {"lest": 2}, "filters[1]: unknown key lest. Did you mean least? Known here: least"),
        ("count(3,", "count(None,", {}, "filters[1]: mine needs least. Fewest of something."),
        ('fate = "mine"', 'fate = "duplicate"', {"name": "duplicate"}, "filters[1]: the name duplicate is reserved"),
        ("something\": Value", "winner\": Value", {}, "filters[1]: value winner is reserved"),
        ("uint32\", ", "uint12\", ", {}, "filters[1]: value something has dtype 'uint12', expected one of"),
        ("settings =", 'measured_with = ("nothing",)\n    settings =', {}, "measured_with names nothing, which is not one of its settings"),
        ("class Mine(Filter):", "class Mine(Filter):\n    def __init__(self, **s): pass", {}, "filters[1]: it has an __init__"),
        ("def drops", "def drop", {}, "filters[1]: it has neither limits nor a method `drops`"),
        ('count(3, "Fewest of something.", most=9)', "3", {}, "its settings do not map names to Setting"),
        ('Value("uint32", "of something")', '"uint32"', {}, "its values do not map names to Value"),
        ("count(3,", "count(12,", {}, "the default of setting least: 12 is greater than the maximum of 9"),
        ('"least": count', '"fate": count', {}, "setting fate is taken"),
        ('fate = "mine"', 'fate = "written"', {"name": "written"}, "the name written is reserved: the account has another figure"),
        ('fate = "mine"', 'fate = "train_copies"', {"name": "train_copies"}, "the name train_copies is reserved"),
        ('fate = "mine"', 'fate = "mine"\n    files = ("words.txt",)', {}, "it reads words.txt, which does not exist"),
        ("import numpy as np", "import sys; sys.exit(0)", {}, "filters[1]: mine.py:2: SystemExit: 0"),
        ("", "", {"name": "too_shirt", "file": None}, "there is no filter too_shirt. Did you mean too_short?"),
        ("", "", {"name": "empty", "file": None}, "filters[1]: two filters are named empty"),
        ('"something": Value', '"chars": Value', {"first": {"name": "too_short"}}, "the filter too_short already measures chars"),
    ],
)  # fmt: skip
def test_wrong_filter__is_refused_before_any_job(tmp_path, old, new, entry, says):
    (tmp_path / "mine.py").write_text(GOOD.replace(old, new))
    entry = {"name": "mine", "file": "mine.py"} | entry
    first = entry.pop("first", {"name": "empty"})
    entry = {key: value for key, value in entry.items() if value is not None}
    config = corpus(tmp_path) | {"filters": [first, entry]}
    assert says in snakemake_faults(tmp_path, config)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('return {"something"', 'return {"other"', "measure returned the values ['other'], but the filter declares ['something']"),
        ("np.uint32)", "np.int8)", "value something has the type int8, but is declared as uint32"),
        ("size - 1,", "size,", "the shape (31,), expected one value for each of 30 documents"),
        ('return {"something"', 'return 1 / 0, {"something"', "mine.py:11: filter mine: ZeroDivisionError: division by zero, at the document raw.jsonl:1"),
        ("measure(self, texts):", "measure(self, texts):\n        self.least", "mine.py:11: filter mine: AttributeError"),
        ("> self.least", "+ self.least", "filter mine: drops returned ndarray uint32 (30,), expected bool for each of 30"),
        ("return values", "return 1 / 0, values", "mine.py:14: filter mine: ZeroDivisionError"),
        ('"uint32"', '"text"', "value something is ndarray, expected a list of str and None"),
        ("texts):", "texts):\n        texts.data[0] = 32", "ValueError: assignment destination is read-only"),
        ('np.zeros(texts.offsets.size - 1, np.uint32)', "np.ma.zeros(30, np.uint32)", "value something has the type MaskedArray, but"),
        ("texts):", "texts):\n        import sys; sys.exit(0)", "mine.py:11: filter mine: SystemExit: 0"),
    ],
)  # fmt: skip
def test_wrong_filter__stops_its_step(step, tmp_path, old, new, says):
    (tmp_path / "mine.py").write_text(GOOD.replace(old, new))
    error = step_fault(step, tmp_path, tmp_path / "mine.py")
    assert says in error.replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return record['title']", "rule.py:2: KeyError: 'title', at the document raw.jsonl:1"),
        (
            "return 1",
            "rule.py: keep returned 1 for the document raw.jsonl:1, expected True, False or",
        ),
        ("return None", "keep returned None for the document raw.jsonl:1"),
    ],
)
def test_wrong_rule__stops_its_step(step, tmp_path, body, says):
    (tmp_path / "rule.py").write_text(f"def keep(text, record):\n    {body}\n")
    error = step_fault(step, tmp_path, tmp_path / "rule.py")
    assert says in error.replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        (
            "text",
            "rule.py: the function keep has the parameters (text), but is called with a text and its record: too many",
        ),
        ("text, record, more", "missing a required argument: 'more'. Define it as def keep(text, "),
        ("*, text, record", "Define it as def keep(text, record)."),
    ],
)
def test_rule__with_other_parameters_is_told_before_any_job(tmp_path, parameters, says):
    (tmp_path / "rule.py").write_text(f"def keep({parameters}):\n    return True\n")
    (fault,) = filter_faults(
        configured([{"name": "mine", "file": str(tmp_path / "rule.py")}]), ["web"]
    )
    assert says in fault


def test_rule__may_have_parameters_of_its_own_with_defaults(tmp_path):
    (tmp_path / "rule.py").write_text("def keep(text, record, least=3):\n    return True\n")
    assert not list(
        filter_faults(configured([{"name": "mine", "file": str(tmp_path / "rule.py")}]), ["web"])
    )


def step_fault(step, folder: Path, file: Path, settings: dict | None = None) -> str:
    """What measure or filter says of a filter in a file."""
    settings = {"least": 3} if settings is None else settings
    corpus(folder)
    entry = {"name": "mine", "file": str(file)}
    paths = [folder / name for name in ("text.arrow", "quarantine.jsonl", "counts.json")]
    known = (folder / "raw.jsonl").stat()
    state = {"bytes": known.st_size, "mtime_ns": known.st_mtime_ns, "text_field": "text"}
    files = [{"source": "web", "path": str(folder / "raw.jsonl")} | state]
    step("normalize").normalize(files, {"mode": "nfc"}, [], READ_LIMITS, 1 << 40, *paths)
    measures = folder / "measures.arrow"
    try:
        measure = step("measure")
        none = measure.EditedFiles([], [], [], [])
        measure.measure(paths[0], [entry], {"field": None}, [], 0, measures, none)
        made = folder / "verdicts.arrow", folder / "counts.json"
        step("filter").filter(measures, [entry | settings], *made)
    except ValueError as error:
        (said,) = str(error).splitlines()
        return said
    pytest.fail("nothing was said")


READER = """
from corpusmill.mill.read.readers import Reader, record
from corpusmill.mill.read.records import Malformed, Record

class Mine(Reader):
    ending = ".mine"

    def read(self, path, text_field, progress):
        yield record(1, "one", {"n": 1})
        yield record(2, "two", {})
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('".mine"', '"mine"', "mine.py: Mine.ending is 'mine', expected a text such as '.csv'"),
        (
            '".mine"',
            '".mine"\n    text_per_byte = "1"',
            "mine.py: Mine.text_per_byte is '1', expected a number",
        ),
        ('".mine"', '".parquet"', "mine.py: files that end in .parquet already have a reader"),
        ("(Reader)", "", "mine.py has no subclass of Reader"),
        ("import Reader,", "import Reeder,", "mine.py:2: ImportError"),
    ],
)
def test_wrong_reader__is_refused_before_any_job(tmp_path, old, new, says):
    (tmp_path / "mine.py").write_text(READER.replace(old, new))
    assert says in snakemake_faults(
        tmp_path, corpus(tmp_path) | {"input": {"readers": ["mine.py"]}}
    )


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("record(2,", "record(1,", "record 1 follows record 1: record numbers must increase"),
        ('record(2, "two", {})', "2", "expected a Record or Malformed, found 2"),
        ('"two"', 'b"two"', "the text of record 2 is bytes, expected str"),
        ('record(2, "two", {})', 'Record(2, "two", b"n")', "the other members of record 2 are not valid JSON"),
        ('"two", {}', '"two", {"n": object()}', "mine.py:10: TypeError"),
        ('"two", {}', '"two", {"n": float("nan")}', "mine.py:10: ValueError: Out of range float values"),
        ('record(2, "two", {})', 'Record(2, "two", b\'"n":NaN\')', "the other members of record 2 are not valid JSON"),
        ('record(2, "two", {})', 'Record(2, "two", b\'"n":1,"n":2\')', "the other members of record 2 are not valid JSON"),
        ('record(2, "two", {})', 'Record(2, "two", b\'"n":\\n1\')', "the other members of record 2 are not one line of JSON"),
        ('record(2, "two", {})', "None", "expected a Record or Malformed, found None"),
        ('record(2, "two", {})', 'Malformed(2, None, "why", b"x")', "reason and start of malformed record 2"),
        ("def read(self, path,", "def read(self,", "mine.py: TypeError"),
    ],
)  # fmt: skip
def test_wrong_reader__stops_its_step(tmp_path, progress, old, new, says):
    from corpusmill.mill.read.readers import read_records

    (tmp_path / "mine.py").write_text(READER.replace(old, new))
    (tmp_path / "a.mine").write_text("x")
    with pytest.raises(ValueError, match=re.escape(says)):
        list(
            read_records(
                str(tmp_path / "a.mine"), "text", progress, False, [str(tmp_path / "mine.py")]
            )
        )


def test_reader__lone_surrogates_are_malformed(tmp_path, progress):
    from corpusmill.mill.read.readers import read_records

    (tmp_path / "mine.py").write_text(READER.replace('"two"', '"\\ud800"'))
    (tmp_path / "a.mine").write_text("x")
    one, two = read_records(
        str(tmp_path / "a.mine"), "t", progress, False, [str(tmp_path / "mine.py")]
    )
    assert (one.text, one.rest) == ("one", b'"n":1')
    assert two.reason == "lone surrogate"


def test_filter__a_buffer_that_it_takes_again_is_copied(tmp_path):
    (tmp_path / "mine.py").write_text(GOOD.replace(
        "return {\"something\": np.zeros(texts.offsets.size - 1, np.uint32)}",
        "BUFFER[0] += 1\n        return {\"something\": BUFFER}",
    ).replace("class Mine", "BUFFER = np.zeros(1, np.uint32)\n\nclass Mine"))  # fmt: skip
    texts = string_array([b"a text"])
    batch = pa.record_batch([texts], ["text"])
    documents = Documents(TextColumn.of(texts), batch, [])
    measures = Measures(configured([{"name": "mine", "file": str(tmp_path / "mine.py")}]))
    measures.add(documents)
    measures.add(documents)
    assert measures.columns()["something"].to_pylist() == [1, 2]


def test_filter__what_it_reads_counts(tmp_path):
    (tmp_path / "words.txt").write_text("one")
    code = GOOD.replace('fate = "mine"', 'fate = "mine"\n    files = ("words.txt",)')
    (tmp_path / "mine.py").write_text(code)
    config = corpus(tmp_path) | {"filters": [{"name": "mine", "file": "mine.py"}]}
    mill(tmp_path, config)
    (tmp_path / "words.txt").write_text("two")
    dry_run = "-n", "--quiet", "rules", "--configfile", "mine.yaml"
    assert jobs(snakemake(tmp_path, *dry_run))["measure"] == 1


def test_filters__of_one_file_name_in_two_folders_are_two(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f.py").write_text(GOOD.replace('"mine"', f'"{name}"'))
    found = [
        filter_class({"name": name, "file": str(tmp_path / name / "f.py")}) for name in ("a", "b")
    ]
    assert [sys.modules[cls.__module__].__file__[-6:] for cls in found] == ["a/f.py", "b/f.py"]


def test_filters_md__is_what_filters_and_fates_declare():
    written = (ROOT / "docs/reference/filters.md").read_text("utf-8")
    assert written == page(), "run `python -m corpusmill.mill.filters.reference`"
    assert {"empty", "too_short"} <= set(known_filters())


def names_in(section: str) -> set[str]:
    """Names in the first cells of tables, in columns `limits` and among the rules of cuts; `a_2_b`
    to `a_4_b` are three."""
    found = set()
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    for table in re.findall(r"^\|.* limits \|\n((?:\|.*\n?)+)", section, re.MULTILINE):
        cells += re.findall(r" \| (`[^|]*) \|$", table, re.MULTILINE)
    cells += [
        re.sub(r"\(.*?\)", "", rules, flags=re.DOTALL)
        for rules in re.findall(r"^Cutting rules: (.*?)(?:\n\n|\Z)", section, re.M | re.S)
    ]
    for cell in cells:
        names = re.findall("`([^`]+)`", cell)
        if " to " in cell:
            first, last = (int(re.search(r"\d+", name)[0]) for name in names)
            names = [re.sub(r"\d+", str(n), names[0], count=1) for n in range(first, last + 1)]
        found |= set(names)
    return found


@pytest.mark.parametrize("name", known_filters())
def test_filters_md__names_all_settings_values_and_edits(name):
    cls = filter_class({"name": name})
    (section,) = re.findall(rf"^## {name}\n(.*?)(?=^## |\Z)", page(), re.MULTILINE | re.DOTALL)
    assert names_in(section) == {*cls.settings, *cls.values, *cls.edits}


def test_a_filter_of_ours__is_one_file():
    """Only its own file, and the page that is made of it, names a filter."""
    naming = [
        str(path.relative_to(ROOT))
        for folder in ("corpusmill", "scripts", "rules")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".smk") and "too_short" in path.read_text("utf-8")
    ]
    # Its value in the ledger is named in no other place; the designer samples without filters.
    naming = [path for path in naming if "tools/tune/bands" not in path]
    assert naming == [
        "corpusmill/mill/filters/__init__.py",
        "corpusmill/mill/filters/known/too_short.py",
    ]


ODD_NUMBERS = ["1e400", "-1.5E+4000", "7" * 5000, "1e-400", "-0.0", "12345678901234567890123", "2",
               "1e99999999999999999999999"]  # fmt: skip


def test_numbers__of_any_size_reach_a_rule_and_stay_as_written(tmp_path):
    corpus(tmp_path)
    lines = (tmp_path / "raw.jsonl").read_text().splitlines()
    for n, number in enumerate(ODD_NUMBERS):
        lines[n] = lines[n].replace(f'"n": {n}', f'"n": {number}, "in": [{number}]')
    (tmp_path / "raw.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "rule.py").write_text(
        "def keep(text, record):\n"
        "    n = record['n']\n"
        "    return f'{type(n).__name__} {str(n)[:9]} {record.get(\"in\", [n])[0] == n}'\n"
    )
    config = {"sources": [{"name": "web", "files": ["raw.jsonl"]}], **SMALL}
    config["filters"] = [
        {"name": "empty"},
        {"name": "metadata_number", "field": "n", "missing": "keep", "max": 1e308},
        {"name": "metadata", "field": "n", "none_of": ["2"]},
        {"name": "shown", "file": str(tmp_path / "rule.py"), "sources": {"none": False}},
    ]
    config["sources"].append({"name": "none", "files": ["none.jsonl"]})
    write_jsonl(tmp_path / "none.jsonl", [{"text": document(99), "n": 1}])
    config["dedup"] = {"prefer": {"field": "n", "order": "highest"}}
    mill(tmp_path, config)
    rows = pq.read_table(tmp_path / "results/ledger/00000.parquet").to_pylist()
    assert [(row["fate"], row["reason"]) for row in rows[:8]] == [
        ("metadata_number", "metadata_number inf above max 1e+308"),
        ("shown", "Decimal -1.5E+400 True"),
        ("metadata_number", "metadata_number inf above max 1e+308"),
        ("shown", "float 0.0 True"),
        ("shown", "float -0.0 True"),
        ("shown", "int 123456789 True"),
        ("metadata", "metadata_value 2 in none_of 2"),
        ("metadata_number", "metadata_number inf above max 1e+308"),
    ]


@pytest.mark.parametrize("number", ODD_NUMBERS)
def test_decoded__gives_each_number_of_json_a_value(number):
    value = decoded(f'{{"n": {number}}}'.encode())["n"]
    if number.lstrip("-").isdecimal():
        assert type(value) is (int if len(number) <= 4300 else Decimal)
        assert Decimal(value) == Decimal(number)
    else:
        assert float(value) == float(number)
        beyond = float(number) in (float("inf"), -float("inf"))
        assert type(value) is (Decimal if beyond else float)


FAILS_ON_7 = '''
import numpy as np
from corpusmill.mill.filters.declaration import Filter, Value


class Mine(Filter):
    """Documents of something."""

    fate = "mine"
    reads_records = True
    values = {"something": Value("text", "of something")}

    def measure_documents(self, documents):
        return {"something": [MEASURED for text, record in documents.records()]}

    def drops(self, values):
        return np.array(list(map(DECIDED, values["something"])), bool)
'''


@pytest.mark.parametrize(
    ("measured", "decides", "says"),
    [
        ("str(1 // (record['n'] - 7))", "bool", "mine.py:14: filter mine: ZeroDivisionError: integer "
         "division or modulo by zero, at the document raw.jsonl:8"),
        ("record['n'] - 7 or 'x'", "bool", "filter mine: measure: value something is -7, expected valid Unicode text or None, at the document raw.jsonl:1"),
        ("'\\ud800' * (record['n'] == 7)", "bool", "value something is '\\ud800', expected valid Unicode text or None, at the document raw.jsonl:8"),
        ("str(record['n'])", "lambda n: 1 // (int(n) - 7)", "mine.py:17: filter mine: ZeroDivisionError:"
         " integer division or modulo by zero, at a document with something 7, text_bytes 8"),
    ],
)  # fmt: skip
def test_failing_filter__names_the_document(step, tmp_path, measured, decides, says):
    (tmp_path / "mine.py").write_text(
        FAILS_ON_7.replace("MEASURED", measured).replace("DECIDED", decides)
    )
    error = step_fault(step, tmp_path, tmp_path / "mine.py", {})
    assert says in error.replace(f"{tmp_path}/", "")
