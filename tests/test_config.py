"""The configuration: what ships is accepted, every fault is one line that names its key."""

import copy
import dataclasses
import re
from dataclasses import dataclass
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import yaml
from datasketch import MinHashLSH

from corpusmill.mill.dedup.band_settings import RECALL
from corpusmill.run.config import Config, config_digest
from corpusmill.run.config_files import refuse_config_without_sources
from corpusmill.run.typed import Section, as_given, key

ROOT = Path(__file__).parent.parent
SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))


def merged(base: dict, over: dict) -> dict:
    """As Snakemake lays one config file over another: dictionaries key by key, all else whole."""
    both = copy.deepcopy(base)
    for name, value in over.items():
        inner = isinstance(value, dict) and isinstance(both.get(name), dict)
        both[name] = merged(both[name], value) if inner else value
    return both


def faults(over: dict) -> list[str]:
    with pytest.raises(ValueError, match=r"\w") as caught:
        Config.checked(merged(SHIPPED, over))
    return str(caught.value).splitlines()


def test_check_config__accepts_maxima_of_epochs():
    for maxima in (4, None, {"each": 4}, {"all": 0.5}, {"each": 4, "cells": {"code": 8}, "all": 2}):
        Config.checked(merged(SHIPPED, {"mixture": {"max_epochs": maxima}}))
    stage = {"name": "a", "budget": {"bytes": 9}, "max_epochs": {"cells": {"cod": 8}}}
    (line,) = faults({"stages": [stage]})
    assert line.startswith(
        "stages: a: mixture.max_epochs: there is no source cod. Did you mean code?"
    )


def test_check_config__accepts_what_ships():
    Config.checked(SHIPPED)


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ({"minhas": {}}, r"unknown key minhas\. Did you mean minhash\? Known here: .*minhash"),
        ({False: True, "foo": 1}, r"unknown keys False, foo\. Known here: dedup"),
        ({"dedup": {"treshold": 1, "bandz": 2}},
         r"^dedup: unknown keys bandz, treshold\. Did you mean bands instead of bandz\? Did you "),
        ({"minhash": {"permutation": 1}},
         r"^minhash: unknown key permutation\. Did you mean permutations\? Known"),
        ({"dedup": {"prefer": {"filed": "a"}}}, r"^dedup\.prefer: .* filed\. Did you mean field\?"),
        ({"sources": [{"name": "a", "files": ["b"], "wieght": 1}]},
         r"^sources\[0\]: unknown key wieght\. Did you mean weight\?"),
        ({"sources": [{"files": ["b"]}]}, r"^sources\[0\]: the key name is missing\.$"),
        *((({"mixture": {"budget": {"bytes": 9}} | over}, said)) for over, said in [
            ({"max_epochs": 0}, r"^mixture\.max_epochs: expected a number above 0 or keys with "),
            ({"max_epochs": -1}, r"^mixture\.max_epochs: .*, got -1\. Maximum size"),
            ({"max_epochs": float("nan")}, r"^mixture\.max_epochs: .*, got nan\."),
            ({"max_epochs": "4"}, r"^mixture\.max_epochs: .*, got '4'\. YAML reads .* write 4\."),
            ({"max_epochs": {}}, r"^mixture\.max_epochs: .*, got {}\."),
            ({"max_epochs": {"books": 8}}, r"^mixture\.max_epochs: unknown key books\. Known here: "
             "all, cells, each"),
            ({"max_epochs": {"each": 0}}, r"^mixture\.max_epochs\.each: expected a number above 0"),
            ({"max_epochs": {"all": float("nan")}}, r"^mixture\.max_epochs\.all: .*, got nan\."),
            ({"max_epochs": {"cells": 4}}, r"^mixture\.max_epochs\.cells: expected keys with val"),
            ({"max_epochs": {"cells": {"demo": -2}}},
             r"^mixture\.max_epochs\.cells\.demo: expected a number above 0, got -2\."),
            ({"max_epochs": {"cells": {"cod": 2}}},
             r"^mixture\.max_epochs: there is no source cod\. Did you mean code\?"),
            ({"max_epochs": {"cells": {"q3": 2}}, "by": [{"value": "text_bytes", "quantiles": 2}]},
             r"^mixture\.max_epochs: there is no text_bytes q3\. Known names: q1, q2, none"),
            ({"max_epochs": {"cells": {">9": 2}}, "by": [{"value": "text_bytes", "bins": [9]}]},
             r"^mixture\.max_epochs: there is no text_bytes >9\. Did you mean >=9\?"),
            ({"max_epochs": {"all": 2}, "shares": "unimax"}, r"^mixture\.shares: unimax needs mix"),
        ]),
        ({"filters": [{"nme": "empty"}]},
         r"^filters\[0\]: the key name is missing\. Is it misspelt as nme\?"),
        ({"sources": [{"name": "a b", "files": ["b"]}]}, r"^sources\[0\]\.name: 'a b' "),
        ({"sources": [{"name": "c4\n", "files": ["b"]}]}, r"^sources\[0\]\.name: 'c4\\n' "),
        ({"sources": [{"name": "a", "files": ["b"], "weight": float("nan")}]},
         r"^sources\[0\]\.weight: expected a number from 0 to 100, got nan\. Number of epochs"),
        ({"sources": [{"name": "a", "files": ["b"], "weight": "2"}]},
         r"^sources\[0\]\.weight: .*, got '2'\. YAML reads this value as text: write 2\. Number"),
        ({"dedup": {"threshold": float("nan")}}, r"^dedup\.threshold: .* got nan\."),
        ({"dedup": {"threshold": "7e-1"}}, r"YAML reads this value as text: write 0\.7\."),
        ({"sources": []}, r"^sources: expected a list of at least 1 entry, got \[\]\."),
        ({"sources": ["a.jsonl"]}, r"^sources\[0\]: expected keys with values, got a\.jsonl\."),
        ({"sources": [{"name": "a", "files": [3]}]},
         r"^sources\[0\]\.files\[0\]: expected a text .*, got 3\. YAML .*: write '3', in quotes\."),
        ({"sources": [{"name": "a", "files": ["b"], "priority": "high"}]},
         r"^sources\[0\]\.priority: expected a whole number from 0 to 1000000, got high\. Rank "),
        ({"sources": [{"name": "a", "files": ["b"], "weight": 101}]},
         r"^sources\[0\]\.weight: expected a number from 0 to 100, got 101\."),
        ({"spans": {"min_chars": "many"}}, r"^spans\.min_chars: expected a whole .* many\. Min"),
        ({"spans": {"min_chars": True}}, r"^spans\.min_chars: .* got true\."),
        ({"spans": {"min_chars": 0}}, r"^spans\.min_chars: expected a whole number from 1 to 10+,"),
        ({"spans": {"min_chars": 3.0}}, r"^spans\.min_chars: .* got 3\.0\. Write 3\."),
        ({"input": {"part_bytes": 1}}, r"^input\.part_bytes: expected a whole number from 65536 "),
        ({"input": {"part_bytes": "x" * 999}}, r"^input\.part_bytes: expected .{,99}x{80}\.\.\."),
        ({"minhash": {"scheme": "affine64"}},
         r"^minhash\.scheme: expected one of .*, got affine64\. Did you mean affine32\?"),
        ({"normalize": {"mode": "NFC"}}, r"^normalize\.mode: .* got NFC\. Did you mean nfc\?"),
        ({"dedup": {"threshold": 1}},
         r"^dedup\.threshold: expected a number above 0 and below 1, got 1\."),
        ({"dedup": {"bands": "many"}},
         r"^dedup\.bands: expected auto or a whole number from 1 to 4096, got many\."),
        ({"dedup": None}, r"^dedup: expected keys with values, got null\."),
        ({"dedup": {"max_group_texts": 1}}, r"expected a whole number from 2 on or null, got 1\."),
        ({"splits": {"test": 1.0}}, r"^splits\.test: .* from 0 on and below 1, got 1\.0\."),
        ({"filters": ["empty"]}, r"^filters\[0\]: .*, got empty\. A filter is written as its "),
        ({"filters": [{"name": "empty", "sources": {"code": True}}]},
         r"^filters\[0\]\.sources\.code: expected false or keys with values, got true\. Give "),
        ({"sources": [{"name": "a", "files": "b"}]},
         r"^sources\[0\]\.files: .* got b\. Write the value in brackets: \[b\]\. "),
        ({"output": {"join": "yes"}}, r"^output\.join: .* Write true or false, without quotes\."),
        ({"output": {"pack": 2048}}, r"^output\.pack: .* Write the value in brackets: \[2048\]\."),
        ({"output": {"pack": [1]}},
         r"^output\.pack\[0\]: expected a whole number from 2 to 1048576, got 1\."),
        ({"output": {"pack": [64, 1048577]}}, r"^output\.pack\[1\]: .* to 1048576, got 1048577\."),
        ({"output": {"pack": [64, 9, 64]}}, r"^output\.pack: expected each .*, got 64 twice"),
        ({"output": {"exports": ["mds", "mds"]}}, r"^output\.exports: .* once, got mds twice\."),
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
         "Lower bands or rows, or raise the permutations."),
        ({"dedup": {"bands": 43, "rows": 3}},  # one more than there are
         "dedup.bands (43) x dedup.rows (3) = 129 exceeds minhash.permutations (128). "
         "Lower bands or rows, or raise the permutations."),
        ({"dedup": {"bands": "auto"}},
         "dedup.bands and dedup.rows: one is auto and the other a number. Set both to "
         "numbers, or both to auto."),
        ({"dedup": {"method": "sketch"}},
         "dedup.resolve: kept needs the similarity of each pair, which dedup.method "
         "sketch does not compute. Set resolve to component, or method to verified."),
        ({"dedup": {"rows": "auto"}},
         "dedup.bands and dedup.rows: one is auto and the other a number. Set both to "
         "numbers, or both to auto."),
        ({"sources": [{"name": "exam", "files": ["a.jsonl"], "held_out": True}]},
         "sources: all sources are held_out, so the corpus would be empty. Add a source that is "
         "not."),
        ({"splits": {"validation": 0.5, "test": 0.5}},
         "splits: validation + test leave nothing for train. Lower them so that their sum is "
         "below 1."),
        ({"sources": SHIPPED["sources"] + SHIPPED["sources"][:1]},
         'sources: the name "code" is used twice. Give each source its own name.'),
    ],
)  # fmt: skip
def test_check_config__refuses_keys_that_do_not_fit_one_another(over, expected):
    assert faults(over) == [expected]


def test_check_config__says_every_fault():
    got = faults({"spans": {"min_chars": 0}, "shuffle": {"seed": "x"}})
    assert [line.split(":")[0] for line in got] == ["shuffle.seed", "spans.min_chars"]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("as_fuond", "shuffle.order: expected shuffled, as_found, or a curriculum such as {by: "
         "text_bytes, bands: 8}, got as_fuond. Did you mean as_found? Known names: shuffled, "
         "as_found."),
        ({"by": "char", "bands": 8}, "shuffle.order.by: no filter measures char. Did you mean "
         "chars? Known names: text_bytes, duplicates, duplicate_sources, chars, source. Known "
         "here: chars, duplicate_sources, duplicates, text_bytes."),
        ({"by": "source", "bands": 8}, "shuffle.order.by: sources have names, not numbers. Use "
         "stages to order them."),
        ({"by": "chars"}, "shuffle.order: the key bands is missing."),
        ({"bands": 3}, "shuffle.order: the key by is missing."),
        ({"by": "chars", "bands": 0}, "shuffle.order.bands: expected a whole number from 1 to 256, "
         "got 0. Number of bands with about equally many bytes of text. Equal values are in the "
         "same band."),
        ({"by": "chars", "bands": 257}, "shuffle.order.bands: expected a whole number from 1 to "
         "256, got 257. Number of bands with about equally many bytes of text. Equal values are "
         "in the same band."),
        ({"by": "chars", "bands": 2, "decending": True}, "shuffle.order: unknown key decending. "
         "Did you mean descending?"),
        ({"order": "shuffled", "bands": 2}, "shuffle.order: unknown key order."),
        (None, "shuffle.order: expected a text or keys with values, got null."),
    ],
)  # fmt: skip
def test_check_config__says_what_is_wrong_with_an_order(order, expected):
    assert any(line.startswith(expected) for line in faults({"shuffle": {"order": order}}))


def test_check_config__refuses_to_order_by_a_text():
    filters = [*SHIPPED["filters"], {"name": "language"}]
    got = faults({"filters": filters, "shuffle": {"order": {"by": "language", "bands": 2}}})
    assert got == ["shuffle.order.by: language is a text, so it has no bins, quantiles, curve or "
                   "order."]  # fmt: skip


AUTO = {"bands": "auto", "rows": "auto"}


@pytest.mark.parametrize(
    ("threshold", "expected"), [(0.8, (9, 13)), (0.5, (25, 5)), (0.9, (5, 25))]
)
def test_band_setting__auto_is_what_datasketch_finds_best(threshold, expected):
    config = merged(SHIPPED, {"dedup": AUTO | {"method": "sketch", "threshold": threshold}})
    lsh = MinHashLSH(threshold, num_perm=128)
    assert Config.of(config).band_setting == (lsh.b, lsh.r) == expected


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.95])
def test_band_setting__auto_for_verification_has_the_longest_rows_that_find_enough(threshold):
    config = merged(SHIPPED, {"dedup": AUTO | {"threshold": threshold}})

    def found(bands, rows):
        return 1 - (1 - threshold**rows) ** bands

    bands, rows = Config.of(config).band_setting
    assert bands == 128 // rows
    assert found(bands, rows) >= RECALL > found(128 // (rows + 1), rows + 1)
    assert threshold != 0.8 or (bands, rows) == (21, 6)


def test_band_setting__exact_has_no_bands():
    assert Config.of(merged(SHIPPED, {"dedup": {"method": "exact"}})).band_setting == (0, 1)


def test_milled_sources__and_held_out_ones_are_all():
    config = Config.of(SHIPPED)
    assert [source.name for source in config.held_out] == ["evaluation"]
    assert [*config.milled, *config.held_out] == config.sources


def test_as_given__is_what_makes_the_same_configuration():
    config = Config.of(SHIPPED)
    assert Config.checked(as_given(config)) == config


@dataclass(frozen=True, kw_only=True)
class Entry(Section):
    name: str = key("Its name.")
    colour: str = key("Its colour.", shapes=False)


@dataclass(frozen=True, kw_only=True)
class Box(Section):
    entries: list[Entry] = key("Its entries.")  # noqa: RUF009
    first: Entry
    width: int = key("Its width.", within="drawing")
    note: str = key("A note.", shapes=False, within="drawing")


def test_keys_that_do_not_shape_results__are_neither_digested_nor_recorded():
    entry = {"name": "a", "colour": "red"}
    box = {"entries": [entry], "first": entry, "width": 3, "note": "b"}
    assert Box.shaping(box) == {"entries": [{"name": "a"}], "first": {"name": "a"}, "width": 3}
    told = Box.schema()["properties"]
    assert told["note"]["description"] == "A note. This key does not affect the corpus."
    assert told["width"]["description"] == "Its width."


def test_config_digest__differs_only_if_a_key_shapes_results():
    def digest(**over: dict) -> str:
        return config_digest(merged(SHIPPED, over))

    assert digest() == digest(input={"verify": "never"}) == digest(output={"exports": ["mds"]})
    assert len({digest(), digest(input={"readers": ["a.py"]}), digest(output={"join": True})}) == 3
    assert (
        digest() == digest(shuffle={"seed": 42}) == "16b37bd9d1fa5a5a"
    )  # as before there were orders
    assert digest() != digest(shuffle={"order": "as_found"})


def test_within__has_the_keys_that_are_declared_so():
    entry = Entry(name="a", colour="red")
    box = Box(entries=[entry], first=entry, width=3, note="b")
    assert box.keys_within("drawing") == {"width": 3, "note": "b"}
    assert box.keys_within("writing") == {}


def groups_of(section: type) -> list[tuple[str, str]]:
    """(settings, key) of each key that is declared within settings."""
    found = []
    for field in dataclasses.fields(section):
        kind = get_type_hints(section)[field.name]
        inner = (get_args(kind) or (kind,))[0]
        if isinstance(inner, type) and issubclass(inner, Section):
            found += groups_of(inner)
        elif settings := field.metadata["within"]:
            found.append((settings, field.name))
    return found


def test_settings_of_steps__are_all_used_and_name_no_key_twice():
    files = [*(ROOT / "rules").glob("*.smk"), ROOT / "corpusmill/run/step_settings.py"]
    used = {name for file in files for name in re.findall(r'\.of\("(\w+)"\)', file.read_text())}
    found = groups_of(Config)
    assert {settings for settings, _ in found} <= used
    assert len(set(found)) == len(found) > 10


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
