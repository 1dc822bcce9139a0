"""Copies of a mixture: against a naive twin, and laws that hold for every mixture."""

import math
from fractions import Fraction

import naive
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.decide.apportioning import (
    Candidates,
    Classes,
    apportion,
    copies_of_candidates,
    sums_of,
)

DRAWS = st.one_of(
    st.floats(0, 1, exclude_max=True).map(lambda one: math.floor(one * 2**53) / 2**53),
    st.sampled_from([0.0, 0.25, 0.5, 0.5, 0.75]),  # ties
)
FACTORS = st.sampled_from([0.0, 0.3, 1.0, 2.0, 7.0])


@st.composite
def mixtures(draw):
    """Candidates, targets of the cells, maximum of copies, bins."""
    cells = draw(st.integers(1, 4))
    documents = draw(
        st.lists(
            st.tuples(st.integers(0, cells - 1), FACTORS, DRAWS, st.integers(1, 40)), max_size=25
        )
    )
    ids = draw(st.permutations(range(len(documents))))
    found = [naive.Candidate(i, *one) for i, one in zip(ids, documents, strict=True)]
    most = draw(st.integers(1, 5))
    full = [
        sum(one.size * most for one in found if one.cell == cell and one.factor)
        for cell in range(cells)
    ]
    shares = [draw(st.fractions(0, 1, max_denominator=50)) for _ in range(cells)]
    targets = [share * size for share, size in zip(shares, full, strict=True)]
    groups = [draw(st.integers(0, 1)) for _ in range(cells)]
    return found, targets, groups, most, draw(st.sampled_from([1, 2, 16]))


def run(found, targets, groups, most, bins, pieces=1, limits=None):
    """Copies by id."""
    classes = sorted({(one.cell, one.factor) for one in found})
    of_classes = Classes(
        np.array([cell for cell, _ in classes], np.int64),
        np.array([factor for _, factor in classes], np.float64),
        most,
    )
    size = max(1, math.ceil(len(found) / pieces))

    def all_pieces():
        for start in range(0, len(found), size):
            some = found[start : start + size]
            yield Candidates(
                np.array([one.id for one in some], np.uint64),
                np.array([classes.index((one.cell, one.factor)) for one in some], np.int64),
                np.array([one.draw for one in some], np.float64),
                np.array([one.size for one in some], np.int64),
            )

    budget = int(sum(targets))
    limits = np.array(limits or [2**62] * len(targets), np.int64)
    sums = sums_of(all_pieces(), len(classes), bins)
    done = apportion(all_pieces, of_classes, sums, targets, limits, groups, budget)
    copies = {}
    for some in all_pieces():
        got = copies_of_candidates(some, of_classes, done.levels)
        copies |= dict(zip(some.ids.tolist(), got.tolist(), strict=True))
    return copies, done.sizes.tolist()


@given(mixtures(), st.lists(st.integers(0, 40), min_size=4, max_size=4))
def test_apportion__equals_naive(mixture, more):
    found, targets, groups, most, bins = mixture
    # Each cell has a limit of its own, as by max_epochs; often its next document exceeds it.
    limits = [math.ceil(target) + its for target, its in zip(targets, more, strict=False)]
    expected = naive.apportioned(found, targets, limits, groups, int(sum(targets)), most)
    copies, sizes = run(found, targets, groups, most, bins, limits=limits)
    assert copies == expected
    for cell, size in enumerate(sizes):
        assert size == sum(one.size * copies[one.id] for one in found if one.cell == cell)
        assert size <= limits[cell]
    assert sum(sizes) <= int(sum(targets))


@given(mixtures(), st.integers(1, 5))
def test_apportion__does_not_depend_on_order_and_pieces(mixture, pieces):
    found, targets, groups, most, bins = mixture
    shuffled = sorted(found, key=lambda one: one.draw)
    assert run(shuffled, targets, groups, most, 16, pieces) == run(
        found, targets, groups, most, bins
    )


@given(mixtures())
def test_apportion__reaches_each_target_and_the_budget(mixture):
    found, targets, groups, most, bins = mixture
    copies, sizes = run(found, targets, groups, most, bins)
    assert max(copies.values(), default=0) <= most
    assert all(copies[one.id] == 0 for one in found if one.factor == 0)
    longest = [max((o.size for o in found if o.cell == c), default=0) for c in range(len(targets))]
    for size, target, most_off in zip(sizes, targets, longest, strict=True):
        assert abs(size - target) <= most_off
    for group in set(groups):
        mine = [cell for cell in range(len(targets)) if groups[cell] == group]
        off = sum(sizes[cell] for cell in mine) - sum(targets[cell] for cell in mine)
        assert abs(off) <= max(longest[cell] for cell in mine)
    assert 0 <= int(sum(targets)) - sum(sizes) <= max(longest, default=0)


@given(mixtures(), st.fractions(0, 1, max_denominator=20))
def test_apportion__a_larger_budget_takes_at_most_one_document_per_cell_away(mixture, share):
    found, targets, groups, most, bins = mixture
    more, _ = run(found, targets, groups, most, bins)
    less, _ = run(found, [target * share for target in targets], groups, most, bins)
    for cell in range(len(targets)):
        lost = [less[one.id] - more[one.id] for one in found if one.cell == cell]
        assert sum(one for one in lost if one > 0) <= 1


def test_apportion__equal_factors_repeat_all_before_one_twice_more():
    found = [naive.Candidate(i, 0, 1.0, i / 10, 1) for i in range(10)]
    copies, _ = run(found, [Fraction(23)], [0], 5, 16)
    assert copies == {i: 3 if i < 3 else 2 for i in range(10)}


def test_apportion__copies_follow_factors():
    found = [naive.Candidate(i, 0, [1.0, 3.0][i % 2], 0.5, 1) for i in range(20)]
    copies, _ = run(found, [Fraction(80)], [0], 9, 16)
    assert copies == {i: [2, 6][i % 2] for i in range(20)}


def test_apportion__nothing_and_everything():
    found = [naive.Candidate(i, 0, 1.0, i / 10, 3) for i in range(10)]
    assert set(run(found, [Fraction(0)], [0], 4, 16)[0].values()) == {0}
    assert set(run(found, [Fraction(120)], [0], 4, 16)[0].values()) == {4}
    assert run([], [Fraction(0)], [0], 4, 16) == ({}, [0])
