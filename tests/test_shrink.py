"""Proxies of a corpus: small lists of documents with the mixture and repetition of a target."""

import json
from fractions import Fraction

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stream_corpus import documents, write_corpus

from corpusmill.mill.decide.mixture import Axis, MaxEpochs, Mixture
from corpusmill.reader import Batches, Corpus, InOrder, Shrunk
from corpusmill.tools.tune.shrink.pool import Pool
from corpusmill.tools.tune.shrink.proxies import Proxy, Shrinker, drawn, merged, of_corpus
from corpusmill.tools.tune.shrink.shrinking import write

NAMES = ["web", "code", "books"]


def pool_of(sizes: list[int], sources: list[int], copies: list[int] | None = None) -> Pool:
    count = len(sizes)
    columns = {
        "id": np.arange(count, dtype=np.uint64) * 7,
        "size": np.array(sizes, np.int64),
        "source": np.array(sources, np.int64),
    }
    numbers = np.ones(count, np.int64) if copies is None else np.array(copies, np.int64)
    return Pool(columns, {}, np.array(sources, np.uint32), numbers, np.cumsum(numbers) - numbers)


def mixture_of(shares: dict[str, float], budget: int, most: int = 20, **changed) -> Mixture:
    mixture = Mixture(
        "tokens", budget, [Axis("source")], [], dict.fromkeys(NAMES, 1.0), shares, most,
        MaxEpochs(None, None, {}),
        "fail", 3, "sample",
    )  # fmt: skip
    return mixture._replace(**changed)


DOCUMENTS = st.lists(st.tuples(st.integers(1, 50), st.integers(0, 2)), min_size=1, max_size=40)


@given(DOCUMENTS, st.floats(0, 1), st.integers(0, 5))
def test_drawn__equals_naive(found, share, seed):
    sizes, classes = (np.array(one, np.int64) for one in zip(*found, strict=True))
    ids = np.arange(sizes.size, dtype=np.uint64)
    cells = np.array([0, 0, 1])
    expected = set()
    for its in range(3):
        mine = sorted(
            (k for k in range(sizes.size) if classes[k] == its),
            key=lambda k: naive.keyed_hash(k, seed, "shrink"),
        )
        total = sum(sizes[k] for k in mine)
        before = 0
        for k in mine:
            if before + sizes[k] / 2 <= share * total:
                expected.add(k)
            before += sizes[k]
    for cell in (0, 1):
        mine = [k for k in range(sizes.size) if cells[classes[k]] == cell]
        if mine and not expected & {*mine}:
            first = min(mine, key=lambda k: (classes[k], naive.keyed_hash(k, seed, "shrink")))
            expected.add(first)
    assert drawn(classes, cells, sizes, ids, share, seed).tolist() == sorted(expected)


@given(DOCUMENTS, st.integers(1, 60), st.integers(1, 4))
def test_proxy__applies_the_mixture_to_its_documents(found, tokens, epochs):
    sizes, sources = map(list, zip(*found, strict=True))
    pool = pool_of(sizes, sources)
    there = [name for k, name in enumerate(NAMES) if k in sources]
    budget = sum(sizes) * epochs
    tokens = min(tokens, budget)
    shares = {name: 1 / len(there) for name in there}
    mixture = mixture_of(shares, budget, most=100)
    proxy = Shrinker(pool, 3).proxy(mixture, tokens)
    own = [
        naive.Candidate(7 * k, there.index(NAMES[sources[k]]), 1.0,
                        naive.unit_hash(7 * k, 3, "sample"), sizes[k])
        for k in proxy.places.tolist()
    ]  # fmt: skip
    order = sorted(range(len(there)), key=there.__getitem__)
    cells = [order.index(cell) for cell in range(len(there))]
    own = [one._replace(cell=cells[one.cell]) for one in own]
    limits = [sum(one.size * 100 for one in own if one.cell == c) for c in range(len(there))]
    total = sum(Fraction(str(share)) for share in shares.values())
    wanted = [Fraction(str(1 / len(there))) / total * tokens for _ in there]
    targets = [min(one, Fraction(most)) for one, most in zip(wanted, limits, strict=True)]
    expected = naive.apportioned(own, targets, limits, [*range(len(there))], tokens, 100)
    assert proxy.copies.tolist() == [expected[7 * k] for k in proxy.places.tolist()]
    assert proxy.tokens == sum(
        n * sizes[k] for k, n in zip(proxy.places.tolist(), proxy.copies.tolist(), strict=True)
    )


def many(count: int) -> Pool:
    rng = np.random.default_rng(1)
    sizes = np.minimum(1 + rng.lognormal(5, 1, count), 5_000).astype(int)
    return pool_of(sizes.tolist(), rng.integers(0, 3, count).tolist())


def test_proxy__has_shares_and_repetition_of_the_target():
    pool = many(200_000)
    budget = 2 * pool.tokens
    for shares in (
        {"web": 0.7, "code": 0.2, "books": 0.1},
        {"web": 0.1, "code": 0.1, "books": 0.8},
    ):
        proxy = Shrinker(pool, 1).proxy(mixture_of(shares, budget), pool.tokens // 10)
        assert proxy.repetition_difference < 0.01
        assert proxy.share_difference < 0.001
        assert abs(proxy.tokens - pool.tokens // 10) < 5_000
        whole = Shrinker(pool, 1).proxy(mixture_of(shares, budget), budget)
        assert whole.places.size == 200_000
        exact = np.bincount(whole.copies, pool.columns["size"]) / pool.tokens
        for number, share in proxy.target_repetition.items():
            assert abs(share - exact[number]) < 0.001  # but for the documents of one bin


def test_proxy__a_larger_one_has_the_documents_of_a_smaller_one():
    pool = many(2_000)
    shrinker = Shrinker(pool, 1)
    mixture = mixture_of({"web": 0.7, "code": 0.2, "books": 0.1}, pool.tokens)
    small, large = (shrinker.proxy(mixture, pool.tokens // n) for n in (20, 10))
    assert {*small.places.tolist()} < {*large.places.tolist()}


def test_proxy__of_the_corpus_keeps_the_copies_in_the_shards():
    rng = np.random.default_rng(2)
    copies = rng.choice([1, 2, 5], 100_000, p=[0.8, 0.15, 0.05])
    pool = pool_of(
        rng.integers(10, 500, copies.size).tolist(), rng.integers(0, 3, copies.size).tolist(),
        copies.tolist(),
    )  # fmt: skip
    total = int((pool.columns["size"] * copies).sum())
    proxy = of_corpus(pool, total // 50, 1)
    assert (proxy.copies == copies[proxy.places]).all()
    assert proxy.repetition_difference < 0.002
    assert proxy.share_difference < 0.002
    assert abs(proxy.tokens - total // 50) < 20_000
    with pytest.raises(ValueError, match="tokens of the target"):
        of_corpus(pool, total + 1, 1)


def proxy_of(places: list[int], copies: list[int]) -> Proxy:
    return Proxy(np.array(places), np.array(copies), 100, 10, 0.0, {1: 1.0}, {1: 1.0})


SHARDS = [[5, 9, 30, 3], [2, 2, 2, 7, 8], [100, 1, 40]]


def listed(split, folder, most: int = 3):
    proxies = {"a": proxy_of([1, 4, 5], [1, most, 0]), "b": proxy_of([0, 4, 9], [2, 1, 1])}
    places, copies = merged(proxies)
    assert places.tolist() == [0, 1, 4, 9]
    return write(folder, split, places, copies, proxies, 10)


@pytest.mark.parametrize(("most", "held"), [(3, 1 << 30), (3, 0), (300, 0)])
def test_shrunk__reads_each_document_as_often_as_listed(tmp_path, most, held, monkeypatch):
    monkeypatch.setattr("corpusmill.reader.shrunk.HELD_BYTES", held)
    results = write_corpus(tmp_path, {"train": SHARDS})
    train = Corpus(results).split("train")
    listed(train, tmp_path / "proxy", most)
    texts = documents([size for own in SHARDS for size in own], 0, 50_000)
    for name, numbers in (("a", [1, 4] + [4] * (most - 1)), ("b", [0, 4, 9, 0])):
        stream = [id for number in numbers for id in texts[number]]
        chosen = Shrunk(train, tmp_path / "proxy", name)
        assert chosen.tokens == len(stream)
        assert (chosen.held is None) == (held == 0)
        rows = [row for (row,) in Batches(InOrder(chosen, 3), 1, epochs=1)]
        found = np.concatenate([rows[0][:1], *(row[1:] for row in rows)]).tolist()
        assert found == stream[: len(found)]
        assert len(stream) - len(found) < 3
    assert (
        InOrder(Shrunk(train, tmp_path / "proxy", "a"), 3).identity
        != InOrder(Shrunk(train, tmp_path / "proxy", "b"), 3).identity
    )


def edited(folder, change):
    facts = json.loads((folder / "shrink.json").read_text())
    change(facts)
    (folder / "shrink.json").write_text(json.dumps(facts))


@pytest.mark.parametrize(
    ("change", "name", "said"),
    [
        (lambda facts: None, None, "expected the name of one of 2 mixtures"),
        (lambda facts: None, "c", "there is no mixture 'c'"),
        (lambda facts: facts.update(corpus="0"), "a", "of a corpus with other tokens"),
        (lambda facts: facts.update(split="test"), "a", "found one of 'test'"),
        (lambda facts: facts.update(documents=3), "a", "expected 2 lists of 3 documents"),
        (lambda facts: facts.update(documents=-3), "a", "the description of a proxy"),
        (lambda facts: facts.update(bytes_per_number=8), "a", "the description of a proxy"),
        (lambda facts: facts.update(mixtures=[]), "a", "the description of a proxy"),
        (lambda facts: facts.update(documents_sha256="0"), "a", "documents.npy: expected other"),
        (lambda facts: facts["mixtures"][0].update(sha256="0"), "a", "copies.npy: expected other"),
        (lambda facts: facts.pop("corpusmill.shrink"), "a", "the description of a proxy"),
    ],
)  # fmt: skip
def test_shrunk__refuses(tmp_path, change, name, said):
    train = Corpus(write_corpus(tmp_path, {"train": SHARDS})).split("train")
    listed(train, tmp_path / "proxy")
    edited(tmp_path / "proxy", change)
    with pytest.raises(ValueError, match=said):
        Shrunk(train, tmp_path / "proxy", name)


def test_shrunk__refuses_a_document_that_is_not_there(tmp_path):
    train = Corpus(write_corpus(tmp_path, {"train": SHARDS})).split("train")
    proxies = {"a": proxy_of([4, 99], [1, 1])}
    write(tmp_path / "proxy", train, *merged(proxies), proxies, 10)
    with pytest.raises(ValueError, match="expected some of the 12 documents of train"):
        Shrunk(train, tmp_path / "proxy")
