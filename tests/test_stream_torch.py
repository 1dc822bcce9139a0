"""As datasets of torch: with torch where it is installed, and always with what stands in for it."""

import importlib
import sys
import types

import pytest
from stream_corpus import write_corpus

from corpusmill.reader import Batches, Corpus, Samples, Shuffled

SIZES = [[40, 60], [100], [30, 30, 40], [80, 91]]


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    return Corpus(write_corpus(tmp_path_factory.mktemp("corpus"), {"train": SIZES})).split("train")


@pytest.fixture
def stood_in(monkeypatch):
    """The module with a torch of nothing but what it asks for; `info`: which worker it is in."""
    torch, utils, data = (
        types.ModuleType(name) for name in ("torch", "torch.utils", "torch.utils.data")
    )
    torch.from_numpy = lambda array: array
    data.Dataset = data.IterableDataset = object
    data.info = None
    data.get_worker_info = lambda: data.info
    for module in (torch, utils, data):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delitem(sys.modules, "corpusmill.reader.torch_datasets", raising=False)
    yield importlib.import_module("corpusmill.reader.torch_datasets"), data
    del sys.modules["corpusmill.reader.torch_datasets"]


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
@pytest.mark.parametrize("epochs", [1, 2])
def test_token_batches__are_made_by_workers_in_turn(workers, epochs, train, stood_in):
    module, data = stood_in
    order = Shuffled(train, 8, 1)
    dataset = module.TokenBatches(order, 3, 1, 2, epochs)
    iterators = []
    for number in range(workers):
        data.info = types.SimpleNamespace(id=number, num_workers=workers)
        iterators.append(iter(dataset))
    got = []
    while (batch := next(iterators[len(got) % workers], None)) is not None:
        got.append(batch.tolist())
    assert got == [batch.tolist() for batch in Batches(order, 3, 1, 2, epochs)]


def test_token_batches__go_on_with_other_workers(train, stood_in):
    module, data = stood_in
    order = Shuffled(train, 8, 1)
    first = module.TokenBatches(order, 3)
    data.info = types.SimpleNamespace(id=0, num_workers=4)
    next(iter(first))
    second = module.TokenBatches(order, 2)
    second.load_state_dict(first.state_after(5))
    data.info = None
    whole = [row for batch in Batches(order, 1, epochs=1) for row in batch.tolist()]
    assert next(iter(second)).tolist() == whole[15:17]


# With torch itself, which warns of more workers than cores, and of what it has moved.

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
COLLATED = {"batch_size": None}


@pytest.fixture
def datasets():
    pytest.importorskip("torch", reason="torch is not installed")
    return importlib.import_module("corpusmill.reader.torch_datasets")


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_data_loader__gives_every_sample_once(workers, train, datasets):
    import torch
    from torch.utils.data import DataLoader

    order = Shuffled(train, 8, 1)
    loader = DataLoader(datasets.TokenBatches(order, 4, epochs=2), num_workers=workers, **COLLATED)
    got = list(loader)
    assert all(batch.dtype == torch.int64 for batch in got)
    expected = [batch.tolist() for batch in Batches(order, 4, epochs=2)]
    assert [batch.tolist() for batch in got] == expected


def test_data_loader__can_spawn_its_workers(train, datasets):
    from torch.utils.data import DataLoader

    order = Shuffled(train, 8, 1)
    dataset = datasets.TokenBatches(order, 4, epochs=1)
    loader = DataLoader(dataset, num_workers=1, multiprocessing_context="spawn", **COLLATED)
    expected = [batch.tolist() for batch in Batches(order, 4, epochs=1)]
    assert [batch.tolist() for batch in loader] == expected


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("steps", [0, 1, 4, 7])
def test_stateful_data_loader__goes_on_exactly(workers, steps, train, datasets):
    loaders = pytest.importorskip("torchdata.stateful_dataloader", reason="no torchdata")
    order = Shuffled(train, 8, 1)

    def loader():
        dataset = datasets.TokenBatches(order, 4, 1, 2, epochs=2)
        return loaders.StatefulDataLoader(dataset, num_workers=workers, **COLLATED)

    whole = [batch.tolist() for batch in loader()]
    first = loader()
    batches = iter(first)
    seen = [next(batches).tolist() for _ in range(steps)]
    state = first.state_dict()
    second = loader()
    second.load_state_dict(state)
    assert seen + [batch.tolist() for batch in second] == whole
    assert whole == [batch.tolist() for batch in Batches(order, 4, 1, 2, 2)]


def test_token_samples__suit_samplers_of_torch(train, datasets):
    from torch.utils.data import DataLoader

    samples = Samples(train, 8)
    loader = DataLoader(datasets.TokenSamples(samples), batch_size=5, shuffle=True)
    got = [row for batch in loader for row in batch.tolist()]
    assert sorted(got) == sorted(samples[n].tolist() for n in range(len(samples)))
    assert datasets.TokenSamples(samples)[3].tolist() == samples[3].tolist()
