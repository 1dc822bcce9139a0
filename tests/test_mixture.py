"""Cells, quantiles, targets and curves of a mixture."""

import math
from bisect import bisect_right
from collections import Counter
from fractions import Fraction

import naive
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.decide.candidates import CandidateTables, save_candidates
from corpusmill.mill.decide.cells import Grid, cells_of, names_between
from corpusmill.mill.decide.composition import chosen_by_stages, compose_stages
from corpusmill.mill.decide.curves import CURVES
from corpusmill.mill.decide.mixture import Axis, Factor, Mixture, Stage
from corpusmill.mill.decide.quantiles import quantiles_of, sortable, value_of
from corpusmill.mill.decide.shares import (
    Supply,
    given_shares,
    nested,
    shares_of_cells,
    shares_of_table,
    table_of_shares,
    targets_of,
    unknown_faults,
)

VALUES = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True, width=64), st.sampled_from([0.0, -0.0, 1.0])
)


@given(st.lists(VALUES, max_size=40), st.integers(2, 6), st.integers(1, 4))
def test_quantiles_of__equal_naive(values, count, pieces):
    shares = [Fraction(k, count) for k in range(1, count)]
    columns = [{"v": np.array(values[k::pieces], np.float64)} for k in range(pieces)]
    found = quantiles_of(lambda: iter(columns), {"v": shares})["v"]
    ordered = sorted(one for one in values if not math.isnan(one))
    ranks = [min(math.floor(share * len(ordered)), len(ordered) - 1) for share in shares]
    assert found == [ordered[rank] for rank in ranks if ordered]


@given(st.lists(st.tuples(VALUES, st.integers(1, 9)), max_size=20), st.integers(2, 6))
def test_quantiles_of__count_a_value_as_often_as_its_size(rows, count):
    shares = [Fraction(k, count) for k in range(1, count)]
    values = np.array([value for value, _ in rows], np.float64)
    sizes = np.array([size for _, size in rows], np.int64)
    repeated = {"v": np.repeat(values, sizes)}
    expected = quantiles_of(lambda: iter([repeated]), {"v": shares})
    pieces = [{"v": values[k::2], "size": sizes[k::2]} for k in range(2)]
    assert quantiles_of(lambda: iter(pieces), {"v": shares}, "size") == expected


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=2))
def test_sortable__keeps_the_order(values):
    low, high = sorted(values)
    keys = sortable(np.array([low, high])).tolist()
    assert keys[0] <= keys[1]
    assert (keys[0] == keys[1]) == (low == high)
    assert [value_of(key) for key in keys] == [low, high]


def mixture(axes, factors=(), weights=None, **others):
    settings = {
        "unit": "bytes", "budget": 100, "shares": "proportional", "most": 4, "max_epochs": None,
        "on_shortage": "fail", "seed": 42, "purpose": "sample",
    }  # fmt: skip
    return Mixture(axes=axes, factors=list(factors), weights=weights or {"a": 1, "b": 2},
                   **settings | others)  # fmt: skip


def columns(**values):
    found = {name: np.array(one) for name, one in values.items()}
    found.setdefault("id", np.arange(found["source"].size, dtype=np.uint64))
    return found


def test_stages__exclude_many_in_little_time(tmp_path):
    # Forty stages, each without the documents of all earlier ones: their copies must not be chosen
    # again for every stage that excludes them.
    ids = np.arange(400, dtype=np.uint64)
    table = pa.table({"id": ids, "size": np.ones(400, np.int64), "source": ["a"] * 400})
    save_candidates(tmp_path / "0.arrow", [], [], iter([table]))
    tables = CandidateTables([tmp_path / "0.arrow"], ["a"], {}, [])
    names = [f"s{number}" for number in range(40)]
    stages = [
        Stage(name, names[:number], mixture([Axis("source")], weights={"a": 1}, budget=10,
                                            purpose=f"sample {name}"))
        for number, name in enumerate(names)
    ]  # fmt: skip
    found = compose_stages(tables, stages)
    (piece,) = tables.pieces()
    copies = np.array([one.copies for one in chosen_by_stages(found, piece).values()])
    assert copies.sum(axis=1).tolist() == [10] * 40
    assert (np.count_nonzero(copies, axis=0) <= 1).all()


def test_grid__names_the_cell_of_each_document():
    axes = [Axis("source"), Axis("language", column="language"),
            Axis("score", column="score", quantiles=2),
            Axis("chars", column="chars", edges=[10.0, 20.0])]  # fmt: skip
    grid = Grid(mixture(axes), {"language": ["deu", "eng"]}, {"score": [0.5]})
    some = columns(
        source=[0, 1, 1],
        **{"label:language": [1, -1, 0]},
        score=[0.5, np.nan, 0.4],
        chars=[10.0, 5.0, 99.0],
    )
    assert [grid.names(number) for number in grid.numbers(some).tolist()] == [
        ("a", "eng", "q2", "10-20"), ("b", "none", "none", "<10"), ("b", "deu", "q1", ">=20"),
    ]  # fmt: skip


def test_grid__multiplies_weights_and_curves():
    factors = [Factor("duplicates", [1, 2, 10], [1, 3, 5], False),
               Factor("score", [0, 0.5], [0, 2], True)]  # fmt: skip
    grid = Grid(mixture([Axis("source")], factors), {}, {"score": [0.1, 0.7]})
    some = columns(
        source=[0, 1, 1, 1], duplicates=[0.0, 2.0, 9.0, 10.0], score=[0.7, 0.8, 0.6, np.nan]
    )
    assert grid.factors(some).tolist() == [2, 12, 0, 0]
    assert cells_of(grid, [some], 4).classes.factors.tolist() == [2, 0, 12]


def test_grid__groups_sources():
    axes = [Axis("group", groups={"a": "web", "b": "web"})]
    assert Grid(mixture(axes), {}, {}).names(0) == ("web",)


def test_cells_of__refuses_too_many():
    axes = [Axis("score", column="score", edges=[*map(float, range(20_000))])]
    some = columns(source=np.zeros(20_000, np.int64), score=np.arange(20_000.0))
    with pytest.raises(ValueError, match="at most 10,000 cells, found 20,000"):
        cells_of(Grid(mixture(axes), {}, {}), [some], 4)


def test_names_between__say_the_limits():
    assert names_between([0.25, 1000, 1e6]) == ["<0.25", "0.25-1000", "1000-1000000", ">=1000000"]


SUPPLIES = [Supply(("web", "eng"), 10, 600, Fraction(600), 2400),
            Supply(("web", "deu"), 10, 200, Fraction(200), 800),
            Supply(("code", "eng"), 10, 200, Fraction(400), 800)]  # fmt: skip


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ("proportional", [0.5, Fraction(1, 6), Fraction(1, 3)]),
        ({"web": 0.4, "code": 0.6}, [0.3, 0.1, 0.6]),
        ({"web": 4, "code": 6}, [0.3, 0.1, 0.6]),
        ({"web": {"eng": 0.1, "deu": 0.3}, "code": 0.6}, [0.1, 0.3, 0.6]),
        ({"temperature": 0}, [0.375, 0.125, 0.5]),
        ({"temperature": 1}, [0.5, Fraction(1, 6), Fraction(1, 3)]),
        ("unimax", [0.6, 0.2, 0.2]),
    ],
)
def test_shares_of_cells(given_, expected):
    shares, _ = shares_of_cells(given_, SUPPLIES, 1000, 1)
    assert [round(float(one), 9) for one in shares] == [round(float(one), 9) for one in expected]


def test_shares_of_cells__temperature_is_a_power_of_the_sizes():
    shares, _ = shares_of_cells({"temperature": 0.3}, SUPPLIES, 1000, None)
    web, code = float(shares[0] + shares[1]), float(shares[2])
    assert web / code == pytest.approx((800 / 400) ** 0.3)
    assert web + code == pytest.approx(1)


def test_shares_of_cells__unimax_as_published():
    """Languages of mC4, a budget of 250e9 characters and 4 epochs."""
    sizes = {"swe": 179955884499, "fas": 184595788282, "ekk": 42541080893, "isl": 10027573389,
             "fao": 549707867}  # fmt: skip
    supplies = [Supply((name,), 1, n, Fraction(n), 100 * n) for name, n in sizes.items()]
    shares, _ = shares_of_cells("unimax", supplies, 250_000_000_000, 4)
    found = {one.names[0]: float(share) for one, share in zip(supplies, shares, strict=True)}
    assert {name: round(share, 10) for name, share in found.items()} == {
        "fao": 0.0087953259, "isl": 0.1604411742, "ekk": 0.2769211666, "swe": 0.2769211666,
        "fas": 0.2769211666,
    }  # fmt: skip


def test_targets_of__fail_tells_each_cell_and_the_largest_budget():
    shares = [Fraction(1, 2), Fraction(0), Fraction(1, 2)]
    with pytest.raises(ValueError, match="code:eng") as caught:
        targets_of(shares, SUPPLIES, 1000, 2, "fail", "tokens")
    cell, budget = str(caught.value).splitlines()
    assert cell == (
        "mixture: the cell code:eng has 10 documents with 200 tokens; its share of 0.5 needs 500, "
        "2.5 epochs, but max_epochs (2) and max allow 400."
    )
    assert budget.startswith("mixture.budget: 800 tokens is the largest budget that these cells")


def test_targets_of__rescale_gives_the_rest_to_others():
    shares = [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]
    found = targets_of(shares, SUPPLIES, 1000, 2, "rescale", "tokens")
    assert found.sizes == [300, 300, 400]
    more = targets_of(shares, SUPPLIES, 1900, 2, "rescale", "tokens")
    assert more.sizes == [1100, 400, 400]
    with pytest.raises(ValueError, match="web:eng"):
        targets_of(shares, SUPPLIES, 2100, 2, "rescale", "tokens")


def test_targets_of__repeat_ignores_max_epochs():
    shares = [Fraction(0), Fraction(0), Fraction(1)]
    assert targets_of(shares, SUPPLIES, 800, 1, "repeat", "tokens").sizes == [0, 0, 800]
    with pytest.raises(ValueError, match="max allows 800"):
        targets_of(shares, SUPPLIES, 801, 1, "repeat", "tokens")


def test_unknown_faults__names_near_cells():
    shares = given_shares({"web": {"eng": 0.5, "germ": 0.2}, "cod": 0.3})
    assert unknown_faults(shares, [one.names for one in SUPPLIES]) == [
        "no document is in the cell web:germ. Did you mean web:eng?",
        "no document is in the cell cod. Did you mean code?",
    ]


TABLE = """,run,name,index,arxiv,dclm:health,dclm:games
0,a1,first,0,0.2,0.1,0.7000000000000001
1,b2,second,1,0.5,0.5,
"""


def test_shares_of_table__reads_a_row():
    assert nested(shares_of_table(TABLE, "b2", "x.csv")) == {
        "arxiv": 0.5, "dclm": {"health": 0.5, "games": 0},
    }  # fmt: skip
    first = shares_of_table(TABLE, "a1", "x.csv")
    again = {names: float(share) for names, share in first.items()}
    assert shares_of_table(table_of_shares({"r": again}), None, "y.csv") == first


@pytest.mark.parametrize(
    ("table", "run", "said"),
    [
        (TABLE, None, "expected one row, found 2 rows"),
        (TABLE, "c3", "found 0 rows of run c3"),
        ("run,a\n1,x\n", None, "column a, found 'x'"),
        ("run,a\n1,-0.5\n", None, "column a, found '-0.5'"),
        ("run,a\n1,nan\n", None, "column a, found 'nan'"),
    ],
)
def test_shares_of_table__refuses(table, run, said):
    with pytest.raises(ValueError, match=said):
        shares_of_table(table, run, "x.csv")


def test_curves__rehydrate_as_published():
    """The sizes of FineWeb2's own example, and its rule: the weight of the last limit reached."""
    weights = CURVES["rehydrate"].steps
    published = {1: 1, 2: 2, 3: 3, 4: 3, 5: 5, 99: 5, 100: 8, 999: 8, 1000: 1, 10**6: 1}
    limits = [*weights]
    for size, copies in published.items():
        assert weights[limits[bisect_right(limits, size) - 1]] == copies


@pytest.mark.parametrize("name", [name for name, one in CURVES.items() if not one.of_quantiles])
def test_copies__of_a_published_curve_are_its_weights(name):
    """Without a budget each document gets the weight of its cluster's size."""
    curve = CURVES[name]
    sizes = np.arange(1, 300, dtype=np.float64)
    factor = Factor("duplicates", [*map(float, curve.steps)], [*curve.steps.values()], False)
    grid = Grid(mixture([Axis("source")], [factor], {"a": 1}), {}, {})
    factors = grid.factors(columns(source=np.zeros(sizes.size, np.int64), duplicates=sizes))
    limits = [*curve.steps]
    expected = [curve.steps[limits[bisect_right(limits, size) - 1]] for size in sizes.tolist()]
    assert factors.tolist() == expected
    one = [naive.Candidate(k, 0, factor, 0.5, 1) for k, factor in enumerate(expected)]
    assert [naive.copies_at(1.0, row, 10) for row in one] == expected


def test_copies__of_dolma_3_are_the_published_ones_per_twentieth():
    scores = np.arange(2000, dtype=np.float64)
    steps = CURVES["dolma3-science"].steps
    factor = Factor("score", [*map(float, steps)], [*steps.values()], True)
    settings = mixture([Axis("source")], [factor], {"a": 1})
    some = columns(source=np.zeros(scores.size, np.int64), score=scores)
    quantiles = quantiles_of(lambda: iter([some]), settings.quantiles)
    found = Grid(settings, {}, quantiles).factors(some)
    assert Counter(found.tolist()) == {
        0.0: 1100, 0.0386: 100, 0.2383: 100, 0.6346: 100, 1.2727: 100, 2.2253: 100, 3.5848: 100,
        5.3341: 200, 7.0: 100,
    }  # fmt: skip
    assert found.tolist() == sorted(found.tolist())
