"""Token shards: ids, an end after every document, an index, a description."""

import hashlib
import json

import naive
import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.tokens.token_shards import TokenFiles, TokenShard, TokenShardWriter, with_ends

END = 3
DOCUMENTS = [[5, 6, 65535], [], [3], [0, 1]]
SOURCES = ["b", "a", "b", "b"]
many = st.lists(st.lists(st.integers(0, 65535), max_size=5), max_size=8)


def arrays(documents: list[list[int]]) -> list[np.ndarray]:
    return [np.array(ids, np.uint32) for ids in documents]


def add(writer, sources: list[str], documents: list[list[int]], dtype: str, **sums) -> None:
    tokens = with_ends(arrays(documents), END, dtype)
    lengths = np.array([len(ids) + 1 for ids in documents], np.int64)
    writer.add(pa.chunked_array([sources], pa.string()), tokens, lengths, **sums)


def names(folder) -> list:
    return [folder / "0.bin", folder / "0.idx", folder / "0.json"]


def written(folder, batches: list[list[list[int]]], dtype: str) -> TokenShard:
    with TokenShardWriter(TokenFiles(*names(folder))) as writer:
        for batch in batches:
            add(writer, ["s"] * len(batch), batch, dtype)
    writer.finish(dtype=dtype)
    return TokenShard(TokenFiles(*names(folder)))


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
@given(documents=many)
def test_with_ends__equals_naive(dtype, documents):
    got = with_ends(arrays(documents), END, dtype)
    assert got.tolist() == naive.with_ends(documents, END)
    assert got.dtype == np.dtype(dtype).newbyteorder("<")


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
@examples(30)
@given(batches=st.lists(many.filter(bool), max_size=3))
def test_token_shard__reads_back_what_was_written(tmp_path_factory, dtype, batches):
    documents = [ids for batch in batches for ids in batch]
    shard = written(tmp_path_factory.mktemp("tokens"), batches, dtype)
    assert shard.tokens.tolist() == naive.with_ends(documents, END)
    got = [shard.document(row).tolist() for row in range(len(documents))]
    assert got == [[*ids, END] for ids in documents]


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_token_shard_writer__files_are_little_endian(tmp_path, dtype):
    written(tmp_path, [DOCUMENTS[:1], DOCUMENTS[1:]], dtype)
    tokens = naive.with_ends(DOCUMENTS, END)
    width = 2 if dtype == "uint16" else 4
    expected = b"".join(token.to_bytes(width, "little") for token in tokens)
    assert (tmp_path / "0.bin").read_bytes() == expected
    starts = b"".join(start.to_bytes(8, "little") for start in [0, 4, 5, 7, 10])
    assert (tmp_path / "0.idx").read_bytes() == starts


def test_token_shard_writer__describes_the_shard(tmp_path):
    with TokenShardWriter(TokenFiles(*names(tmp_path))) as writer:
        add(writer, SOURCES, DOCUMENTS, "uint16", characters=np.array([5, 0, 1, 2]))
        add(writer, SOURCES[:1], DOCUMENTS[1:2], "uint16", characters=np.array([0]))
    writer.finish(dtype="uint16", tokenizer="train")
    assert json.loads((tmp_path / "0.json").read_text()) == {
        "corpusmill.tokens": 1, "documents": 5, "tokens": 11, "bytes": 22,
        "sha256": hashlib.sha256((tmp_path / "0.bin").read_bytes()).hexdigest(),
        "index_sha256": hashlib.sha256((tmp_path / "0.idx").read_bytes()).hexdigest(),
        "by_source": {
            "a": {"documents": 1, "tokens": 1, "characters": 0},
            "b": {"documents": 4, "tokens": 10, "characters": 8},
        },
        "dtype": "uint16", "tokenizer": "train",
    }  # fmt: skip


def test_token_shard_writer__leaves_nothing_on_an_exception(tmp_path):
    def fail() -> None:
        with TokenShardWriter(TokenFiles(*names(tmp_path))) as writer:
            add(writer, SOURCES, DOCUMENTS, "uint16")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert list(tmp_path.iterdir()) == []
