"""The configuration: what ships is accepted, every fault is one line that names its key."""

import copy
import re
from pathlib import Path

import pytest
import yaml
from datasketch import MinHashLSH

from corpusmill.run.config import (
    RECALL,
    band_setting,
    check_config,
    fractions,
    held_out_sources,
    milled_sources,
    refuse_config_without_sources,
    text_field,
)

ROOT = Path(__file__).parent.parent
SCHEMA = ROOT / "config.schema.yaml"
SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
PRESETS = sorted((ROOT / "presets").glob("*.yaml"))


def merged(base: dict, over: dict) -> dict:
    """As Snakemake lays one config file over another: dictionaries key by key, all else whole."""
    both = copy.deepcopy(base)
    for key, value in over.items():
        inner = isinstance(value, dict) and isinstance(both.get(key), dict)
        both[key] = merged(both[key], value) if inner else value
    return both


def faults(over: dict) -> list[str]:
    with pytest.raises(ValueError, match=r"\w") as caught:
        check_config(merged(SHIPPED, over), SCHEMA)
    return str(caught.value).splitlines()


def test_check_config__accepts_what_ships():
    check_config(SHIPPED, SCHEMA)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda path: path.stem)
def test_check_config__accepts_presets(preset):
    check_config(merged(SHIPPED, yaml.safe_load(preset.read_text("utf-8"))), SCHEMA)


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ({"minhas": {}}, r"unknown key minhas\. Known here: .*minhash"),
        ({False: True, "foo": 1}, r"unknown key False\. Known here: dedup"),
        ({"minhash": {"perms": 1}}, r"^minhash: unknown key perms\. Known here: .*permutations"),
        ({"sources": [{"name": "a", "files": ["b"], "wait": 1}]}, r"^sources\[0\]: .*key wait"),
        ({"sources": [{"files": ["b"]}]}, r"^sources\[0\]: the key name is missing"),
        ({"sources": [{"name": "a b", "files": ["b"]}]}, r"^sources\[0\]\.name: 'a b' "),
        ({"sources": [{"name": "c4\n", "files": ["b"]}]}, r"^sources\[0\]\.name: 'c4\\n' "),
        ({"sources": [{"name": "a", "files": ["b"], "weight": float("nan")}]},
         r"^sources\[0\]\.weight: nan is not of type 'number'"),
        ({"dedup": {"threshold": float("nan")}}, r"^dedup\.threshold: nan "),
        ({"sources": []}, r"^sources: "),
        ({"sources": [{"name": "a", "files": ["b"], "priority": "high"}]},
         r"^sources\[0\]\.priority: 'high' is not of type 'integer'"),
        ({"sources": [{"name": "a", "files": ["b"], "weight": 101}]},
         r"^sources\[0\]\.weight: 101 is greater"),
        ({"spans": {"min_chars": "many"}}, r"^spans\.min_chars: 'many' .*integer.* Fewest"),
        ({"spans": {"min_chars": True}}, r"^spans\.min_chars: True "),
        ({"spans": {"min_chars": 0}}, r"^spans\.min_chars: 0 .*minimum"),
        ({"input": {"part_bytes": 1}}, r"^input\.part_bytes: 1 is less"),
        ({"minhash": {"scheme": "affine64"}}, r"^minhash\.scheme: 'affine64' is not one of"),
        ({"dedup": {"threshold": 1}}, r"^dedup\.threshold: 1 "),
        ({"dedup": {"bands": "many"}}, r"^dedup\.bands: "),
        ({"dedup": None}, r"^dedup: None is not of type 'object'"),
        ({"splits": {"test": 1.0}}, r"^splits\.test: 1\.0 "),
        ({"filters": ["empty"]}, r"^filters\[0\]: 'empty' .*'object'\. A filter is its name and "),
        ({"filters": [{"name": "empty", "sources": {"code": True}}]},
         r"^filters\[0\]\.sources\.code: True is not possible\. Expected settings, "),
        ({"sources": [{"name": "a", "files": "b"}]},
         r"^sources\[0\]\.files: 'b' .*'array'\. Write a list: \[one, another\]\. "),
        ({"output": {"join": "yes"}}, r"^output\.join: 'yes' is not of type 'boolean'"),
    ],
)  # fmt: skip
def test_check_config__says_key_and_fault_in_one_line(over, expected):
    (line,) = faults(over)
    assert re.search(expected, line), line


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ({"dedup": {"bands": 22}},
         "dedup.bands (22) x dedup.rows (6) = 132 exceeds minhash.permutations (128). "
         "Lower one or raise the other."),
        ({"dedup": {"bands": "auto"}},
         "dedup.bands and dedup.rows: one is auto and the other a number. "
         "Give both, or auto for both."),
        ({"dedup": {"method": "sketch"}},
         "dedup.resolve: kept needs to know which pairs are similar, and dedup.method sketch "
         "does not look. Set resolve to component, or method to verified."),
        ({"dedup": {"rows": "auto"}},
         "dedup.bands and dedup.rows: one is auto and the other a number. "
         "Give both, or auto for both."),
        ({"sources": [{"name": "exam", "files": ["a.jsonl"], "held_out": True}]},
         "sources: all are held_out, so there is nothing to mill. Name a source without it."),
        ({"splits": {"validation": 0.5, "test": 0.5}},
         "splits: validation + test leave nothing for train. Lower them below 1 together."),
        ({"sources": SHIPPED["sources"] + SHIPPED["sources"][:1]},
         'sources: "code" is there twice. Give each source a name of its own.'),
    ],
)  # fmt: skip
def test_check_config__refuses_keys_that_do_not_fit_one_another(over, expected):
    assert faults(over) == [expected]


def test_check_config__says_every_fault():
    got = faults({"spans": {"min_chars": 0}, "shuffle": {"seed": "x"}})
    assert [line.split(":")[0] for line in got] == ["shuffle.seed", "spans.min_chars"]


AUTO = {"bands": "auto", "rows": "auto"}


@pytest.mark.parametrize(
    ("threshold", "expected"), [(0.8, (9, 13)), (0.5, (25, 5)), (0.9, (5, 25))]
)
def test_band_setting__auto_is_what_datasketch_finds_best(threshold, expected):
    config = merged(SHIPPED, {"dedup": AUTO | {"method": "sketch", "threshold": threshold}})
    lsh = MinHashLSH(threshold, num_perm=128)
    assert band_setting(config) == (lsh.b, lsh.r) == expected


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.95])
def test_band_setting__auto_for_verification_has_the_longest_rows_that_find_enough(threshold):
    config = merged(SHIPPED, {"dedup": AUTO | {"threshold": threshold}})

    def found(bands, rows):
        return 1 - (1 - threshold**rows) ** bands

    bands, rows = band_setting(config)
    assert bands == 128 // rows
    assert found(bands, rows) >= RECALL > found(128 // (rows + 1), rows + 1)
    assert threshold != 0.8 or (bands, rows) == (21, 6)


def test_band_setting__exact_has_no_bands():
    assert band_setting(merged(SHIPPED, {"dedup": {"method": "exact"}})) == (0, 1)


def test_band_setting__given_numbers_stand():
    assert band_setting(merged(SHIPPED, {"dedup": {"bands": 4, "rows": 5}})) == (4, 5)


def test_fractions__leave_the_rest_to_train():
    got = fractions(merged(SHIPPED, {"splits": {"validation": 0.25, "test": 0}}))
    assert got == {"train": 0.75, "validation": 0.25, "test": 0}


def test_milled_sources__and_held_out_ones_are_all():
    milled, held_out = milled_sources(SHIPPED), held_out_sources(SHIPPED)
    assert [source["name"] for source in held_out] == ["evaluation"]
    assert [*milled, *held_out] == SHIPPED["sources"]


def test_text_field__is_text_when_not_given():
    assert text_field({"name": "a"}) == "text"
    assert text_field({"name": "a", "text_field": "body"}) == "body"


def test_config_without_sources__is_refused_where_files_were_named():
    with pytest.raises(ValueError, match=r"^a\.yaml, b\.yaml: no sources"):
        refuse_config_without_sources([Path("a.yaml"), Path("b.yaml")], {"filter": {}})
    refuse_config_without_sources([Path("a.yaml")], {"sources": []})
    refuse_config_without_sources([], {"filter": {}})


@pytest.mark.parametrize(("permutations", "threshold"), [(1, 0.5), (4, 0.9), (8, 0.95)])
def test_check_config__refuses_auto_bands_where_there_are_none(permutations, threshold):
    sketch = AUTO | {"method": "sketch", "resolve": "component", "threshold": threshold}
    (line,) = faults({"dedup": sketch, "minhash": {"permutations": permutations}})
    assert line.startswith(f"dedup.bands: auto finds no setting for dedup.threshold {threshold}")
