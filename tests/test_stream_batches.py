"""Every sample once in an epoch, whoever takes it, wherever a trainer was stopped."""

import itertools
import json
import pickle
import time
from collections import Counter

import naive_stream
import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from stream_corpus import documents, tokens_of, write_corpus

from corpusmill.reader import Batches, Corpus, InOrder, Mixture, Shuffled, Windowed
from corpusmill.reader.mixtures import BLOCK, shares

LENGTH = 8
SHARDS = [[5, 9, 30], [], [2, 2, 2], [100, 1, 40], [70], [12, 12, 12]]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"), {"train": SHARDS})


@pytest.fixture(scope="module")
def train(results):
    return Corpus(results).split("train")


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    return Corpus(write_corpus(tmp_path_factory.mktemp("other"), {"train": [[90, 3]]})).split(
        "train"
    )


def shard_tokens(results) -> list[list[int]]:
    tokens, starts = tokens_of(results), np.cumsum([0, *map(sum, SHARDS)]).tolist()
    return [tokens[a:b] for a, b in itertools.pairwise(starts)]


def shard_documents() -> list[list[list[int]]]:
    sizes = [sum(map(sum, SHARDS[:n])) for n in range(len(SHARDS))]
    return [documents(own, first, 50_000) for own, first in zip(SHARDS, sizes, strict=True)]


KINDS = {
    "in order": lambda train: InOrder(train, LENGTH),
    "shuffled": lambda train: Shuffled(train, LENGTH, 3),
    "windowed": lambda train: Windowed(train, LENGTH, 3, 2),
    "packed": lambda train: Windowed(train, LENGTH, 3, 4, packed=True),
}


def expected_rows(kind: str, results, epochs: int) -> list[list[int]]:
    tokens = tokens_of(results)
    if kind == "in order":
        return naive_stream.samples(tokens, LENGTH) * epochs
    if kind == "shuffled":
        return naive_stream.shuffled(tokens, LENGTH, 3, epochs)
    if kind == "windowed":
        rows = [naive_stream.samples(own, LENGTH) for own in shard_tokens(results)]
        return naive_stream.windowed(rows, 3, 2, epochs)
    rows = [naive_stream.packed(own, LENGTH, 0) for own in shard_documents()]
    return naive_stream.windowed(rows, 3, 4, epochs)


def steps_of(order, batch_size: int, ranks: int, epochs: int | None, workers: int = 1) -> list:
    """Steps of ranks of rows, workers taking turns."""
    makers = [
        [Batches(order, batch_size, rank, ranks, epochs, (w, workers)) for w in range(workers)]
        for rank in range(ranks)
    ]
    steps = []
    while True:
        step = [next(makers[rank][len(steps) % workers], None) for rank in range(ranks)]
        if step[0] is None:
            assert all(batch is None for batch in step)
            return steps
        steps.append([batch.tolist() for batch in step])


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(1, 9), st.integers(1, 7), st.integers(1, 3), st.integers(1, 4))
def test_batches__have_every_sample_once_for_any_ranks_and_workers(
    kind, train, results, batch_size, ranks, epochs, workers
):
    got = steps_of(KINDS[kind](train), batch_size, ranks, epochs, workers)
    expected = expected_rows(kind, results, epochs)
    assert got == naive_stream.dealt(expected, batch_size, ranks)


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(0, 30), st.integers(1, 3), st.integers(0, 2))
def test_state__is_exact_in_the_middle_of_a_worker(kind, train, steps, workers, worker):
    order, of = KINDS[kind](train), (worker % workers, workers)
    first = Batches(order, 2, 0, 1, 3, of)
    given_before = [batch.tolist() for batch, _ in zip(first, range(steps), strict=False)]
    second = Batches(order, 2, 0, 1, 3, of)
    second.load_state_dict(first.state_dict())
    whole = [batch.tolist() for batch in Batches(order, 2, 0, 1, 3, of)]
    # zip has taken one batch more than it gave, unless there was none left.
    taken = len(given_before) + (len(given_before) == steps < len(whole))
    assert [batch.tolist() for batch in second] == whole[taken:]


def trainer_of(order, batch_size: int, ranks: int, workers: int, state=None) -> list[list[Batches]]:
    """The workers of every rank."""
    trainer = [
        [Batches(order, batch_size, rank, ranks, None, (n, workers)) for n in range(workers)]
        for rank in range(ranks)
    ]
    for batches in itertools.chain(*trainer) if state else ():
        batches.load_state_dict(json.loads(json.dumps(state)))
    return trainer


def steps_in_turn(trainer: list[list[Batches]], turn: int, steps: int) -> list[list[int]]:
    """The rows of so many steps, the first of them made by worker number `turn`."""
    numbers = [(turn + step) % len(trainer[0]) for step in range(steps)]
    return [row for n in numbers for rank in trainer for row in next(rank[n]).tolist()]


TRAINERS = st.lists(
    st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4), st.integers(0, 9)),
    min_size=2, max_size=4,
)  # fmt: skip


def one_after_the_other(order, trainers) -> list[list[int]]:
    """What trainers (batch_size, ranks, workers, steps) get. Each goes on from the state that
    the worker who made the last step of the trainer before it has."""
    seen, state, turn, workers_before = [], None, 0, 0
    for batch_size, ranks, workers, steps in trainers:
        trainer = trainer_of(order, batch_size, ranks, workers, state)
        # As many workers as before go on in turn; others begin with the first.
        turn = turn if workers == workers_before else 0
        seen += steps_in_turn(trainer, turn, steps)
        states = [rank[(turn + steps - 1) % workers].state_dict() for rank in trainer]
        assert all(found == states[0] for found in states)
        state, turn, workers_before = states[0], (turn + steps) % workers, workers
    return seen


@pytest.mark.parametrize("kind", KINDS)
@given(TRAINERS)
def test_state__goes_on_with_any_other_ranks_and_workers(kind, train, results, trainers):
    seen = one_after_the_other(KINDS[kind](train), trainers)
    assert seen == expected_rows(kind, results, 2 + len(seen) // 10)[: len(seen)]


@examples(60)
@given(TRAINERS, st.lists(st.integers(1, 9), min_size=2, max_size=3))
def test_mixture__goes_on_with_any_other_ranks_and_workers(train, results, trainers, weights):
    kinds = ["shuffled", "windowed", "packed"][: len(weights)]
    mixture = Mixture([KINDS[kind](train) for kind in kinds], weights, 1)
    seen = one_after_the_other(mixture, trainers)
    rows = [expected_rows(kind, results, 2 + len(seen) // 10) for kind in kinds]
    counts = tuple(shares(weights).tolist())
    assert seen == naive_stream.mixture(rows, counts, 1, len(seen))


FAR = st.tuples(st.integers(0, 10**12), st.integers(0, 3 * BLOCK))


@pytest.mark.parametrize("kind", [*KINDS, "mixture"])
@given(FAR)
def test_skip__of_any_number_takes_no_time_and_is_as_two_skips(kind, train, counts):
    """CPU time, so that a busy machine does not matter."""
    all_kinds = [of(train) for of in KINDS.values()]
    order = Mixture(all_kinds, [1] * 4, 5) if kind == "mixture" else KINDS[kind](train)
    begun = time.process_time()
    far = order.after(order.begin(), sum(counts))
    twice = order.after(order.after(order.begin(), counts[0]), counts[1])
    assert far == twice
    order.read(far, np.arange(3))
    assert time.process_time() - begun < 2


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(0, 400))
def test_after__is_the_rows_of_the_oracle_from_there(kind, train, results, count):
    order = KINDS[kind](train)
    got = order.read(order.after(order.begin(), count), np.arange(20)).tolist()
    assert got == expected_rows(kind, results, 14)[count : count + 20]


@given(st.integers(0, 3 * BLOCK), st.integers(1, 2 * BLOCK + 5))
@examples(50)
def test_mixture__after_counts_what_the_oracle_gives(train, first, count):
    weights = [5, 3, 1]
    mixture = Mixture([InOrder(train, LENGTH)] * 3, weights, 1)
    counts = tuple(shares(weights).tolist())
    blocks = range(-(-(first + count) // BLOCK))
    whose = [order for n in blocks for order in naive_stream.mixture_block(counts, 1, n)]
    cursor = mixture.after(mixture.after(mixture.begin(), first), count)
    size = len(mixture._orders[0].samples)
    expected = [whose[: first + count].count(number) for number in range(3)]
    assert [place["epoch"] * size + place["position"] for place in cursor["of"]] == expected


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(0, 40), st.sampled_from([None, 1, 3]))
def test_skip__is_as_if_steps_had_been_made(kind, train, steps, epochs):
    made, skipped = (Batches(KINDS[kind](train), 3, 1, 2, epochs) for _ in range(2))
    for _ in range(steps):
        next(made, None)
    skipped.skip(steps)
    assert made.state_dict() == skipped.state_dict()


def test_orders__can_be_sent_to_another_process(train):
    mixture = Mixture([KINDS[kind](train) for kind in KINDS], [1, 2, 3, 4], 5)
    batches = Batches(mixture, 7)
    next(batches)
    sent = pickle.loads(pickle.dumps(batches))
    assert next(sent).tolist() == next(batches).tolist()


# Mixtures.


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=6))
def test_shares__are_those_of_the_weights(weights):
    counts = shares(weights)
    assert counts.sum() == BLOCK
    for count, weight in zip(counts.tolist(), weights, strict=True):
        assert abs(count - weight / sum(weights) * BLOCK) < 1


@examples(20)
@given(
    st.lists(st.integers(1, 9), min_size=2, max_size=3),
    st.integers(1, 40),
    st.integers(1, 3),
    st.integers(0, 30),
)
def test_mixture__is_its_orders_each_in_its_own_epochs(
    train, other, results, weights, batch_size, ranks, steps
):
    kinds = ["shuffled", "windowed", "packed"][: len(weights)]
    rows = {kind: expected_rows(kind, results, 60) for kind in kinds}
    mixture = Mixture([KINDS[kind](train) for kind in kinds], weights, 1)
    trainer = [Batches(mixture, batch_size, rank, ranks) for rank in range(ranks)]
    seen = [row for _ in range(steps) for one in trainer for row in next(one).tolist()]
    cursors = trainer[0].cursor["of"]
    left = {kind: iter(rows[kind]) for kind in kinds}
    due = [len(seen) * weight / sum(weights) for weight in weights]
    whose = mixture._whose(0, len(seen)).tolist()
    assert seen == [next(left[kinds[number]]) for number in whose]
    for number, amount in enumerate(due):
        assert abs(whose.count(number) - amount) <= 2
        order = KINDS[kinds[number]](train)
        assert cursors[number] == order.after(order.begin(), whose.count(number))


def test_mixture__has_exact_shares_of_a_block(train, other):
    mixture = Mixture([InOrder(train, 8), InOrder(other, 8)], [0.9, 0.1], 1)
    whose = mixture._whose(0, 3 * BLOCK)
    counts = [Counter(block.tolist()) for block in np.split(whose, 3)]
    assert counts == [{0: 58_982, 1: 6_554}] * 3
    assert not np.array_equal(whose[:BLOCK], whose[BLOCK : 2 * BLOCK])
    runs = np.array([int(whose[a : a + 100].sum()) for a in range(0, 2 * BLOCK - 100, 37)])
    assert np.abs(runs - 10).max() <= 2


# What is wrong.


@pytest.mark.parametrize(("rank", "ranks"), [(0, 0), (2, 2), (-1, 2), (0, -1)])
def test_batches__refuse_ranks_that_cannot_be(rank, ranks, train):
    with pytest.raises(
        ValueError, match=rf"^rank {rank} of world_size {ranks}: expected a world_size"
    ):
        Batches(InOrder(train, 8), 4, rank, ranks)


def test_batches__refuse_no_samples(train):
    with pytest.raises(ValueError, match="batch_size 0: expected 1 or more"):
        Batches(InOrder(train, 8), 0)


STATES = {
    "expected corpus '.*', found '.*'. The state was saved for another": lambda s, o: (
        s | {"order": o}
    ),
    "expected version 1 of a stream's state, found 2": lambda s, o: s | {"corpusmill.stream": 2},
    "found None. Load one": lambda s, o: {},
    "expected seed 3, found 4": lambda s, o: s | {"order": s["order"] | {"seed": 4}},
    r"expected a position in the order of samples, found \{'epoch': 0\} \('position'\)": (
        lambda s, o: s | {"cursor": {"epoch": 0}}
    ),
    r"expected turn to be \[worker, workers\], found \[2, 2\]": lambda s, o: s | {"turn": [2, 2]},
    r"expected turn to be \[worker, workers\], found \[0\]": lambda s, o: s | {"turn": [0]},
    r"expected turn to be \[worker, workers\], found \['0', 1\]": (
        lambda s, o: s | {"turn": ["0", 1]}
    ),
    "found waiting, which this version of corpusmill does not know": lambda s, o: (
        s | {"waiting": 1}
    ),
    "an epoch has 37 samples": lambda s, o: s | {"cursor": {"epoch": 0, "position": 37}},
    "expected a position in the order of samples, found None": lambda s, o: s | {"cursor": None},
}


@pytest.mark.parametrize("says", STATES)
def test_state__that_does_not_fit_is_refused_in_a_sentence(says, train, other):
    batches = Batches(Shuffled(train, LENGTH, 3), 4)
    wrong = STATES[says](batches.state_dict(), Shuffled(other, LENGTH, 3).identity)
    with pytest.raises(ValueError, match=says) as refused:
        batches.load_state_dict(wrong)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("cursor", [{"epoch": 0, "window": 3, "position": 0}, {"epoch": -1}])
def test_windowed__refuses_a_place_that_is_none(cursor, train):
    batches = Batches(Windowed(train, LENGTH, 3, 2), 4)
    with pytest.raises(ValueError, match="an epoch has 3 windows"):
        batches.load_state_dict(batches.state_dict() | {"cursor": cursor})


def test_mixture__refuses_the_state_of_other_orders(train, other):
    one = Batches(Mixture([InOrder(train, 8), InOrder(other, 8)], [1, 1], 1), 4)
    two = Batches(Mixture([InOrder(other, 8), InOrder(train, 8)], [1, 1], 1), 4)
    with pytest.raises(ValueError, match="state: expected corpus"):
        one.load_state_dict(two.state_dict())
    with pytest.raises(ValueError, match="2 orders are mixed"):
        one.load_state_dict(one.state_dict() | {"cursor": {"position": 0, "of": []}})


@pytest.mark.parametrize("weights", [[], [1], [1, 0], [1, -1], [1, float("nan")], [1, 1e300]])
def test_mixture__refuses_weights_that_are_none(weights, train):
    with pytest.raises(ValueError, match="expected a number above 0 for each of 2"):
        Mixture([InOrder(train, 8)] * 2, weights, 1)


def test_mixture__refuses_what_does_not_mix(train, tmp_path):
    with pytest.raises(ValueError, match="expected each to be at least 1/65536"):
        Mixture([InOrder(train, 8)] * 2, [1, 1e-9], 1)
    with pytest.raises(ValueError, match="expected one length and one tokenizer for all"):
        Mixture([InOrder(train, 8), InOrder(train, 9)], [1, 1], 1)
    wide = Corpus(write_corpus(tmp_path, {"train": [[90]]}, "uint32")).split("train")
    with pytest.raises(ValueError, match="expected one length and one tokenizer for all"):
        Mixture([InOrder(train, 8), InOrder(wide, 8)], [1, 1], 1)
    with pytest.raises(ValueError, match="epochs: expected none for a mixture"):
        next(Batches(Mixture([InOrder(train, 8)], [1], 1), 4, epochs=1))


def test_windowed__refuses_what_cannot_be(train):
    with pytest.raises(ValueError, match="window_shards 0: expected 1 or more"):
        Windowed(train, LENGTH, 1, 0)
    with pytest.raises(ValueError, match="expected 1 to 140, as train has 141 tokens in its long"):
        Windowed(train, 141, 1)
    with pytest.raises(ValueError, match="length 0: expected 1 or more"):
        Windowed(train, 0, 1, packed=True)
