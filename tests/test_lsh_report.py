"""The report: numbers in words, and what they rest on."""

import argparse

import numpy as np
import pytest

from corpusmill.mill.dedup.band_settings import BandSetting
from corpusmill.tools.tune.bands.design import histogram
from corpusmill.tools.tune.bands.picture import Curve
from corpusmill.tools.tune.bands.recommending import shipped
from corpusmill.tools.tune.bands.report import facts, number, pairs_scale, recommendation, table
from corpusmill.tools.tune.bands.sampling import Sample
from corpusmill.tools.tune.sample import Sampled

CONFIG = shipped()


def options(**changes) -> argparse.Namespace:
    known = {"threshold": 0.8, "permutations": 128, "recall": 0.995, "min_chars": 200}
    return argparse.Namespace(**known | {"files": ["a.jsonl"]} | changes)


def sample_of(rows: int, documents: int) -> Sample:
    signatures = np.random.default_rng(0).integers(0, 3, (rows, 8), dtype=np.uint32)
    of = Sampled("files", 1, 10**6, 1.0, documents, documents, 0, rows, 1000 * rows, [])
    return Sample(signatures, np.zeros(rows, bool), np.full(rows, 1000), of, 5e-9)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0"), (1e-9, "<0.01"), (0.25, "0.25"), (12.34, "12.3"), (1234.5, "1,234")],
)
def test_number__has_as_many_digits_as_it_needs(value, expected):
    assert number(value) == expected


def test_pairs_scale__is_the_inverse_chance_of_a_pair():
    assert pairs_scale(sample_of(10, documents=10)) == 1
    assert pairs_scale(sample_of(10, documents=100)) == 100 * 99 / (10 * 9)


def test_table__has_a_line_per_setting_with_its_pairs():
    sample = sample_of(40, documents=400)
    counts = histogram(sample.signatures)
    lines = table(
        sample, counts, 0.7, [Curve("one", BandSetting(2, 3)), Curve("two", BandSetting(1, 8))]
    )
    one, two = lines.splitlines()[2:]
    assert one.split()[:5] == ["one", "2", "x", "3", "0.5684"]
    assert f"of {counts[3:6].sum():,}" in one
    assert f"of {counts[6:].sum():,}" in two
    assert f" {8 * 4 + 2 * 12 + 32} " in one


@pytest.mark.parametrize(("above", "warned"), [(29, True), (30, False)])
def test_facts__warn_of_few_pairs_above_the_threshold(above, warned):
    counts = np.zeros(9, np.int64)
    counts[[0, 8]] = 1000, above
    lines = facts(sample_of(40, documents=400), counts, options())
    assert lines[-1].startswith("warning: 29 pairs") == warned


def test_recommendation__is_in_the_form_of_config_yaml():
    got = recommendation(BandSetting(18, 6), options(), CONFIG)
    assert got == "recommended: dedup: {threshold: 0.8, bands: 18, rows: 6}"
    got = recommendation(BandSetting(18, 6), options(permutations=256), CONFIG)
    assert got.splitlines()[1].strip() == "minhash: {permutations: 256}"
