"""A corpus is opened by its manifest: what it gives, what it refuses, what it does not load."""

import json
import subprocess
import sys
import time

import naive_stream
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from file_server import served
from hypothesis import given
from hypothesis import strategies as st
from stream_corpus import (
    END,
    documents,
    read_manifest,
    tokens_of,
    write_corpus,
    write_manifest,
)
from workflow import ROOT

from corpusmill.mill.storage.files import as_json
from corpusmill.reader import (
    Corpus,
    InOrder,
    Samples,
    attention_mask,
    loss_mask,
    positions_of,
    segments_of,
)
from corpusmill.tools.verify.findings import Findings
from corpusmill.tools.verify.listing import read_listing
from corpusmill.tools.verify.locations import LocalPlace

SHARDS = [[5, 9, 30], [], [2, 2, 2], [100, 1, 40]]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    splits = {"train": SHARDS, "validation": [[50]]}
    return write_corpus(tmp_path_factory.mktemp("corpus"), splits)


@pytest.fixture(scope="module")
def train(results):
    return Corpus(results).split("train")


def test_stream__loads_nothing_but_numpy_and_python():
    code = (
        "import sys, numpy; before = {name.partition('.')[0] for name in sys.modules}; "
        "import corpusmill.reader; "
        "more = {name.partition('.')[0] for name in sys.modules} - before - {'corpusmill'}; "
        "sys.exit(' '.join(more - sys.stdlib_module_names) or 'urllib.request' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_corpus__knows_its_splits(results):
    corpus = Corpus(str(results))
    assert corpus.splits == ["train", "validation"]
    assert corpus.split("train").tokens == len(tokens_of(results))
    assert corpus.split("train").documents == sum(map(len, SHARDS))
    assert corpus.vocabulary.end_of_text == END


def test_corpus__may_be_named_by_its_manifest_and_lie_under_a_prefix(results):
    content = read_manifest(results)
    for file in content["files"]:
        file["path"] = f"milled/{file['path']}"
    prefixed = results.parent / "prefixed"
    (prefixed / "milled").mkdir(parents=True)
    (prefixed / "milled/results").symlink_to(results)
    split = Corpus(results / "manifest.json").split("train")
    assert split.read(0, split.tokens).tolist() == tokens_of(results)
    assert split.digest == Corpus(prefixed / "milled/results").split("train").digest


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_read__goes_over_shards(dtype, tmp_path):
    results = write_corpus(tmp_path, {"train": SHARDS}, dtype)
    train, expected = Corpus(results).split("train"), tokens_of(results)
    for start in range(0, len(expected), 7):
        for stop in range(start, len(expected), 31):
            assert train.read(start, stop).tolist() == expected[start:stop]


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (5, 4), (0, 10**6)])
def test_read__refuses_what_is_not_there(start, stop, train):
    with pytest.raises(ValueError, match=r"expected tokens within \[0, 191\) of train"):
        train.read(start, stop)


def test_document__is_that_of_the_index(results, train):
    expected = documents([size for sizes in SHARDS for size in sizes], 0, 50_000)
    assert [train.document(n).tolist() for n in range(train.documents)] == expected
    with pytest.raises(ValueError, match=r"expected a document within \[0, 9\) of train, got 9"):
        train.document(9)


@given(st.integers(0, 191), st.integers(0, 191))
def test_documents_in__cover_a_stretch(train, one, other):
    start, stop = min(one, other), max(one, other)
    spans = train.documents_in(start, stop)
    whole = train.read(start, stop).tolist()
    assert [id for span in spans for id in train.read(span.start, span.stop).tolist()] == whole
    assert all(span.start < span.stop for span in spans)
    for span in spans:
        document = train.document(span.document).tolist()
        first = train.documents_in(0, span.start)
        begins = span.start - sum(s.stop - s.start for s in first if s.document == span.document)
        assert (
            document[span.start - begins : span.stop - begins]
            == train.read(span.start, span.stop).tolist()
        )


def test_placement__leads_to_the_ledger(results, train):
    path = results / "placements/train/00003.parquet"
    path.parent.mkdir(parents=True)
    rows = [{"id": 70 + row, "copy": 0, "source": "web", "row": row} for row in range(3)]
    pq.write_table(pa.Table.from_pylist(rows), path)
    assert train.placement(7) == {"id": 71, "copy": 0, "source": "web", "row": 1}
    with pytest.raises(ValueError, match=r"placements/train/00000.parquet: no such file"):
        train.placement(0)


# Samples.


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
@pytest.mark.parametrize("length", [1, 2, 7, 64, 190])
def test_samples__share_a_token(length, dtype, tmp_path):
    results = write_corpus(tmp_path, {"train": SHARDS}, dtype)
    samples = Samples(Corpus(results).split("train"), length)
    expected = naive_stream.samples(tokens_of(results), length)
    assert len(samples) == len(expected)
    assert samples.rows(np.arange(len(samples))).tolist() == expected
    assert [samples[n].tolist() for n in range(len(samples))] == expected


@given(st.integers(1, 60), st.data())
def test_samples__come_in_the_order_that_is_asked(train, results, length, data):
    samples = Samples(train, length)
    numbers = data.draw(st.lists(st.integers(0, len(samples) - 1)))
    expected = naive_stream.samples(tokens_of(results), length)
    got = samples.rows(np.array(numbers, np.int64))
    assert got.tolist() == [expected[number] for number in numbers]
    assert got.shape == (len(numbers), length + 1)


ROWS = st.lists(st.lists(st.integers(0, 2), min_size=6, max_size=6), min_size=1, max_size=4)


@given(ROWS)
def test_segments_and_positions__equal_naive(rows):
    segments = segments_of(np.array(rows), END)
    assert segments.tolist() == [naive_stream.segments(row, END) for row in rows]
    assert positions_of(segments).tolist() == [naive_stream.positions(row, END) for row in rows]


@given(ROWS)
def test_masks__let_no_document_see_another(rows):
    segments = segments_of(np.array(rows), END)
    loss, attention = loss_mask(segments), attention_mask(segments)
    for r, own in enumerate(segments.tolist()):
        assert loss[r].tolist() == [a == b for a, b in zip(own, own[1:])]  # noqa: B905, RUF007
        assert attention[r].tolist() == [
            [j <= i and own[i] == own[j] for j in range(6)] for i in range(6)
        ]


# What is wrong.


def broken(results, change):
    content = read_manifest(results)
    change(content)
    write_manifest(results, content)


def file_of(content, ending):
    return next(file for file in content["files"] if file["path"].endswith(ending))


CHANGES = {
    "expected manifest version 1, found 2": lambda c: c.update({"corpusmill.manifest": 2}),
    "expected the manifest of a finished run": lambda c: c.pop("files"),
    "has 380 bytes, expected 191 tokens of uint16": (
        lambda c: file_of(c, "train/00000.bin").update(bytes=380, tokens=191)
    ),
    "has an index of 30 bytes, expected 32 for 3 documents": (
        lambda c: file_of(c, "train/00000.idx").update(bytes=30)
    ),
    "has an index of 0 bytes, expected 32": lambda c: c["files"].remove(
        file_of(c, "train/00000.idx")
    ),
    "expected SHA-256 0{64}, found": (
        lambda c: file_of(c, "corpusmill.json").update(sha256="0" * 64)
    ),
    "expected tokenizer/corpusmill.json among the listed files": (
        lambda c: c["files"].remove(file_of(c, "corpusmill.json"))
    ),
}


@pytest.mark.parametrize("says", CHANGES)
def test_manifest__that_cannot_be_is_refused_in_a_sentence(says, tmp_path):
    results = write_corpus(tmp_path, {"train": SHARDS})
    broken(results, CHANGES[says])
    with pytest.raises(ValueError, match=says) as refused:
        Corpus(results)
    assert str(results) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"corpusmill.manifest": 1, "files": [{}]}'])
def test_manifest__that_is_none_is_refused(content, tmp_path):
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(
        ValueError,
        match=r"manifest.json: expected (a manifest that ends|the manifest of a finished run)",
    ):
        Corpus(tmp_path)


def test_corpus__of_a_folder_without_one_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"manifest.json: no such file. Is the run finished"):
        Corpus(tmp_path)


@pytest.mark.parametrize(
    ("ending", "data", "says"),
    [
        ("bin", b"1" * 86, "00000.bin: expected 88 bytes, as listed in manifest.json, found 86"),
        ("idx", b"1" * 8, "00000.idx: expected 32 bytes, as listed in manifest.json, found 8"),
        ("idx", bytes(32), "00000.idx: expected positions that increase from 0 to 44"),
    ],
)
def test_shard__of_another_length_is_refused_when_it_is_read(ending, data, says, tmp_path):
    results = write_corpus(tmp_path, {"train": SHARDS})
    (results / f"tokens/train/00000.{ending}").write_bytes(data)
    train = Corpus(results).split("train")
    with pytest.raises(ValueError, match=says):
        train.document(0)


@pytest.mark.parametrize("length", [0, 191, 10**9])
def test_length__that_a_split_does_not_have_is_refused(length, train):
    with pytest.raises(ValueError, match=rf"length {length}: expected 1 to 190, as train has 191"):
        InOrder(train, length)


def test_split__that_is_not_there_is_refused(results):
    with pytest.raises(
        ValueError, match="expected one of the splits train, validation, got 'test'"
    ):
        Corpus(results).split("test")


def test_keep_shards__is_for_a_cache_alone(results):
    with pytest.raises(ValueError, match="Only shards in a cache are ever removed"):
        Corpus(results, keep_shards=2)


# What it costs.


def test_corpus__of_many_shards_opens_none_of_them(tmp_path):
    results = write_corpus(tmp_path, {"train": [[8]]})
    content = read_manifest(results)
    shard = [file for file in content["files"] if "/train/" in file["path"]]
    for number in range(1, 2000):
        content["files"] += [
            file | {"path": file["path"].replace("00000", f"{number:05}")} for file in shard
        ]
    write_manifest(results, content)
    started = time.perf_counter()
    train = Corpus(results).split("train")
    assert time.perf_counter() - started < 5
    assert train.tokens == 16_000
    assert train.read(0, 8).tolist() == tokens_of(results)


def test_maps__are_closed_when_they_are_too_many_bytes(tmp_path):
    results = write_corpus(tmp_path, {"train": [[100]] * 20})
    train = Corpus(results, mapped_bytes=500).split("train")
    got = [train.read(start, start + 50).tolist() for start in range(0, 2000, 50)]
    assert [id for part in got for id in part] == tokens_of(results)
    with open("/proc/self/maps") as maps:
        assert sum(str(results) in line for line in maps) <= 2


def test_manifest__may_say_more_than_is_asked(results):
    content = read_manifest(results)
    more = content | {"inputs": [], "files": [*content["files"], {"path": "results/x.html"}]}
    write_manifest(results, more)
    assert Corpus(results).splits == ["train", "validation"]
    write_manifest(results, content)
    assert json.loads((results / "manifest.json").read_text()) == content


UNSEALED = {
    "line ends of another system": lambda data: data.replace(b"\n", b"\r\n"),
    "another name of the seal": lambda data: data.replace(b'\n "sha256": "', b'\n "sha257": "'),
    "more line ends": lambda data: data + b"\n\n",
    "its layout differs from what was written": lambda data: json.dumps(json.loads(data)).encode(),
    "a shard taken out": lambda data: as_json(without_last_shard(json.loads(data))).encode(),
    "no end": lambda data: data[:-20],
}


def without_last_shard(content: dict) -> dict:
    return content | {"files": [one for one in content["files"] if "/00001." not in one["path"]]}


@pytest.mark.parametrize("place", ["folder", "address"])
@pytest.mark.parametrize("change", UNSEALED)
def test_manifest__that_does_not_hold_by_its_own_digest_is_refused(change, place, tmp_path):
    results = write_corpus(tmp_path, {"train": [[30], [40]]})
    manifest = results / "manifest.json"
    good = manifest.read_bytes()
    manifest.write_bytes(UNSEALED[change](good))
    assert manifest.read_bytes() != good
    with served(results) as server:
        opened = results if place == "folder" else server.address
        with pytest.raises(ValueError, match=r"manifest\.json: .*SHA-256") as refused:
            Corpus(opened, cache=tmp_path / "cache", say=lambda line: None)
    assert "\n" not in str(refused.value)
    findings = Findings()
    read_listing(LocalPlace(results), findings)
    assert [damage.name for damage in findings.damages][:1] == ["manifest.json"]
