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
from corpusmill.mill.decide.mixture import Axis, Factor, MaxEpochs, Mixture, Stage
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


def each(most):
    return MaxEpochs(most, None, {})


def mixture(axes, factors=(), weights=None, **others):
    settings = {
        "unit": "bytes", "budget": 100, "shares": "proportional", "most": 4,
        "max_epochs": each(None),
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


def test_stages__tell_the_shortages_of_all(tmp_path):
    table = pa.table({"id": np.arange(20, dtype=np.uint64), "size": np.ones(20, np.int64),
                      "source": ["a", "b"] * 10})  # fmt: skip
    save_candidates(tmp_path / "0.arrow", [], [], iter([table]))
    tables = CandidateTables([tmp_path / "0.arrow"], ["a", "b"], {}, [])
    small = mixture([Axis("source")], weights={"a": 1, "b": 1}, budget=10)
    large = small._replace(budget=200)
    stages = [Stage("s", [], large), Stage("t", [], small), Stage("u", ["s"], large),
              Stage("v", ["t"], large)]  # fmt: skip
    with pytest.raises(ValueError, match="stage s") as caught:
        compose_stages(tables, stages)
    lines = str(caught.value).splitlines()
    assert [line.split(" has ")[0].split("tokens")[0] for line in lines if " has " in line] == [
        "stage s: mixture: the cell a", "stage s: mixture: the cell b",
        "stage v: mixture: the cell a", "stage v: mixture: the cell b",
    ]  # fmt: skip


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
    shares, _ = shares_of_cells(given_, SUPPLIES, 1000, each(1))
    assert [round(float(one), 9) for one in shares] == [round(float(one), 9) for one in expected]


def test_shares_of_cells__temperature_is_a_power_of_the_sizes():
    shares, _ = shares_of_cells({"temperature": 0.3}, SUPPLIES, 1000, each(None))
    web, code = float(shares[0] + shares[1]), float(shares[2])
    assert web / code == pytest.approx((800 / 400) ** 0.3)
    assert web + code == pytest.approx(1)


def test_shares_of_cells__unimax_as_published():
    """Languages of mC4, a budget of 250e9 characters and 4 epochs."""
    sizes = {"swe": 179955884499, "fas": 184595788282, "ekk": 42541080893, "isl": 10027573389,
             "fao": 549707867}  # fmt: skip
    supplies = [Supply((name,), 1, n, Fraction(n), 100 * n) for name, n in sizes.items()]
    shares, _ = shares_of_cells("unimax", supplies, 250_000_000_000, each(4))
    found = {one.names[0]: float(share) for one, share in zip(supplies, shares, strict=True)}
    assert {name: round(share, 10) for name, share in found.items()} == {
        "fao": 0.0087953259, "isl": 0.1604411742, "ekk": 0.2769211666, "swe": 0.2769211666,
        "fas": 0.2769211666,
    }  # fmt: skip


def targets(shares, budget, max_epochs, on_shortage):
    settings = mixture(
        [Axis("source")], budget=budget, max_epochs=max_epochs, on_shortage=on_shortage,
        unit="tokens",
    )  # fmt: skip
    return targets_of(shares, SUPPLIES, settings)


def test_shares_of_cells__unimax_follows_the_maximum_of_each_cell():
    shares, _ = shares_of_cells("unimax", SUPPLIES, 1000, MaxEpochs(None, None, {"code": 0.5}))
    assert shares[2] == Fraction(1, 10)


def test_targets_of__fail_tells_each_cell_and_the_largest_budget():
    shares = [Fraction(1, 2), Fraction(0), Fraction(1, 2)]
    with pytest.raises(ValueError, match="code:eng") as caught:
        targets(shares, 1000, each(2), "fail")
    cell, budget = str(caught.value).splitlines()
    assert cell == (
        "mixture: the cell code:eng has 10 documents with 200 tokens; its share of 0.5 needs 500, "
        "2.5 epochs, but max_epochs (2) and max allow 400."
    )
    assert budget.startswith("mixture.budget: 800 tokens is the largest budget that these cells")


def test_targets_of__max_epochs_of_a_cell_are_its_own():
    shares = [Fraction(1, 2), Fraction(0), Fraction(1, 2)]
    maxima = MaxEpochs(4, None, {"web": 0.5, "code": 2.5})
    with pytest.raises(ValueError, match="web:eng") as caught:
        targets(shares, 1000, maxima, "fail")
    (cell, budget) = str(caught.value).splitlines()
    assert "but max_epochs (0.5) and max allow 300." in cell
    assert budget.startswith("mixture.budget: 600 tokens is the largest")
    assert targets(shares, 600, maxima, "fail").limits.tolist() == [300, 100, 500]


def test_targets_of__max_epochs_of_all_limit_the_budget():
    shares = [Fraction(1, 2), Fraction(0), Fraction(1, 2)]
    maxima = MaxEpochs(None, 0.75, {})
    assert targets(shares, 750, maxima, "fail").sizes == [375, 0, 375]
    for on_shortage in ("fail", "rescale"):
        with pytest.raises(ValueError, match=r"max_epochs\.all") as caught:
            targets(shares, 751, maxima, on_shortage)
        (told, budget) = str(caught.value).splitlines()
        assert told == (
            "mixture: the documents that may be used have 1,000 tokens; the budget needs 751, "
            "0.751 epochs, but max_epochs.all (0.75) allows 750."
        )
        assert budget.startswith("mixture.budget: 750 tokens is the largest")
    assert targets(shares, 1500, maxima, "repeat").sizes == [750, 0, 750]


def test_targets_of__of_all_counts_no_document_that_may_not_be_used():
    unused = [one._replace(capacity=0, mass=Fraction(0)) for one in SUPPLIES[:1]]
    settings = mixture([Axis("source")], max_epochs=MaxEpochs(None, 1, {}), budget=401)
    with pytest.raises(ValueError, match="have 400 bytes; the budget needs 401"):
        targets_of([Fraction(0), Fraction(1, 4), Fraction(3, 4)], unused + SUPPLIES[1:], settings)


def test_targets_of__rescale_gives_the_rest_to_others():
    shares = [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]
    assert targets(shares, 1000, each(2), "rescale").sizes == [300, 300, 400]
    assert targets(shares, 1900, each(2), "rescale").sizes == [1100, 400, 400]
    of_web = MaxEpochs(2, None, {"code": 1})
    assert targets(shares, 1000, of_web, "rescale").sizes == [400, 400, 200]
    with pytest.raises(ValueError, match="web:eng") as caught:
        targets(shares, 2100, each(2), "rescale")
    assert "mixture.budget: 2,000 tokens is the largest" in str(caught.value)


def test_targets_of__repeat_ignores_max_epochs():
    shares = [Fraction(0), Fraction(0), Fraction(1)]
    assert targets(shares, 800, each(1), "repeat").sizes == [0, 0, 800]
    with pytest.raises(ValueError, match="max allows 800"):
        targets(shares, 801, each(1), "repeat")


MAXIMA = st.one_of(st.none(), st.sampled_from([0.1, 0.5, 1, 2.5, 4]))


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 40), st.sampled_from([0, 1, 3])),
             min_size=1, max_size=12),
    st.integers(1, 400), MAXIMA, MAXIMA,
    st.dictionaries(st.sampled_from("abc"), MAXIMA.filter(bool)),
    st.sampled_from(["fail", "rescale", "repeat"]),
)  # fmt: skip
def test_targets_of__equal_naive(documents, budget, of_each, of_all, of_cells, on_shortage):
    names = sorted({name for name, _, _ in documents})
    supplies = []
    for name in names:
        mine = [(size, factor) for one, size, factor in documents if one == name]
        supplies.append(
            Supply((name,), len(mine), sum(size for size, _ in mine),
                   Fraction(sum(size * factor for size, factor in mine)),
                   sum(4 * size for size, factor in mine if factor))
        )  # fmt: skip
    given_ = MaxEpochs(of_each, of_all, of_cells)
    settings = mixture(
        [Axis("source")], budget=budget, max_epochs=given_, on_shortage=on_shortage, most=4
    )
    shares, _ = shares_of_cells("proportional", supplies, budget, given_)
    expected = naive.mixture_targets(
        documents, budget, {name: of_cells.get(name, of_each) for name in names}, of_all,
        on_shortage, 4,
    )  # fmt: skip
    if expected is None:
        with pytest.raises(ValueError, match="is the largest budget") as caught:
            targets_of(shares, supplies, settings)
        largest = int(str(caught.value).splitlines()[-1].split()[1].replace(",", ""))
        assert largest < budget
        if largest:
            shares, _ = shares_of_cells("proportional", supplies, largest, given_)
            targets_of(shares, supplies, settings._replace(budget=largest))
    else:
        assert targets_of(shares, supplies, settings).sizes == [expected[name] for name in names]


@pytest.mark.parametrize(
    ("axis", "cells", "said"),
    [
        (Axis("source"), {"c": 1}, "no document is in the cell c"),
        (Axis("language", column="language"), {"enk": 2, "none": 1}, "enk. Did you mean eng?"),
    ],
)
def test_compose__refuses_max_epochs_of_unknown_cells(tmp_path, axis, cells, said):
    table = pa.table({"id": np.arange(9, dtype=np.uint64), "size": np.ones(9, np.int64),
                      "source": ["a"] * 9, "label:language": ["eng"] * 9})  # fmt: skip
    save_candidates(tmp_path / "0.arrow", ["language"], [], iter([table]))
    tables = CandidateTables([tmp_path / "0.arrow"], ["a"], {"language": ["eng"]}, [])
    settings = mixture([axis], weights={"a": 1}, budget=4, max_epochs=MaxEpochs(None, None, cells))
    with pytest.raises(ValueError, match=said) as caught:
        compose_stages(tables, [Stage("train", [], settings)])
    assert str(caught.value).startswith("mixture.max_epochs: ")


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
