"""Histograms of a calibration: every document is in one bar, on the side of the limit it is on."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.filters.declaration import Limit
from corpusmill.tools.tune.calibrate.measured import Group, Measured, Rule, beyond
from corpusmill.tools.tune.calibrate.picture import (
    LEFT,
    RIGHT,
    axis_of,
    drawn_at,
    heights_of,
    histogram,
)

FLOATS = st.one_of(
    st.floats(allow_nan=True), st.floats(0, 1), st.floats(-5, 2000), st.just(0.0), st.just(1.0)
)
INTEGERS = st.one_of(st.integers(0, 9), st.integers(0, 2**63 - 1), st.integers(90, 120))


def rule_of(values: np.ndarray, side: str, bound: float | None) -> Rule:
    limit = Limit("value", side, "most")
    return Rule("a", limit, "", values, bound, {"s": bound}, beyond(values, side, bound), [])


@st.composite
def rules(draw) -> list[Rule]:
    whole = draw(st.booleans())
    one = INTEGERS if whole else FLOATS
    values = np.array(draw(st.lists(one, min_size=1, max_size=9)), np.int64 if whole else float)
    bounds = draw(st.lists(st.none() | (INTEGERS if whole else st.floats(-9, 1e6)), min_size=1,
                           max_size=2))  # fmt: skip
    sides = st.sampled_from(["below", "above"])
    return [rule_of(values, draw(sides), bound) for bound in bounds]


@given(rules())
def test_axis__holds_every_document_once(some):
    axis = axis_of(some)
    values = some[0].values.astype(np.float64)
    known = values[~np.isnan(values)]
    assert np.all(np.diff(axis.edges) > 0)
    assert heights_of(known, np.ones(known.size), 1.0, axis).sum() == known.size
    assert all(LEFT <= axis.x(value) <= RIGHT for value in known)


@given(rules())
def test_histogram__can_be_drawn_of_anything(some):
    count = some[0].values.size
    rows = np.arange(count)
    of = Measured(np.full(count, "s"), np.ones(count), rows, [Group("all", "all", rows)], some,
                  {}, {})  # fmt: skip
    got = histogram(of, some, of.groups[0], axis_of(some), [0.0] * len(some))
    places = [float(x) for x in re.findall(r' x1?="(-?[\d.]+)"', got)]
    assert all(0 <= x <= 480 for x in places)
    assert "nan" not in re.sub(r"[a-z]+=\"[^\"]*nan[^\"]*\"", "", got.lower().split("<path")[1])


@pytest.mark.parametrize("dtype", [np.uint32, np.float64])
@pytest.mark.parametrize("side", ["below", "above"])
def test_bars__have_what_is_dropped_on_one_side_of_the_limit(dtype, side):
    values = np.arange(0, 400, dtype=dtype)
    (rule,) = some = [rule_of(values, side, 120)]
    axis = axis_of(some)
    counts = [heights_of(values[which].astype(float), np.ones(which.sum()), 1.0, axis)
              for which in (rule.drops, ~rule.drops)]  # fmt: skip
    assert not np.any((counts[0] > 0) & (counts[1] > 0))
    at = np.searchsorted(axis.edges, drawn_at(rule, 120))
    dropped, kept = counts if side == "below" else counts[::-1]
    assert dropped[at:].sum() == kept[:at].sum() == 0
