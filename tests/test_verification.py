"""Whatever happens to a finished shard is found; an intact one has no fault."""

import hashlib
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from handmade import write_bytes
from tokenizer_kinds import EXACT

from corpusmill.mill.decide.fates import SPLITS
from corpusmill.mill.shuffle.scattering import SCHEMA
from corpusmill.mill.shuffle.text_shards import write_shard
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.files import load_json, save_json, writing
from corpusmill.mill.storage.sha256 import file_sha256
from corpusmill.mill.storage.sliced_streams import write_streams
from corpusmill.mill.storage.sums import DamagedError
from corpusmill.mill.storage.tables import save_parquet
from corpusmill.mill.tokens.shard_checks import (
    alignment_faults,
    placement_faults,
    sampled_rows,
    shard_faults,
)
from corpusmill.mill.tokens.token_shards import TokenFiles
from corpusmill.mill.tokens.tokenizer_folder import keep_tokenizer
from corpusmill.mill.tokens.tokenizers import load_kept, reference_ids

TEXTS = ["the miller opened", "", "x = 1\n", "Größe 水 😀", "<|endoftext|>", "before sunrise " * 9]


def write_text(folder, texts: list[str], progress) -> None:
    """Write a text shard, and the scatter file for it."""
    ids = range(len(texts))
    columns = [ids, ids, [0] * len(texts), ["s"] * len(texts), texts, [b'"n":1'] * len(texts)]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)]
    rows = pa.table(arrays, schema=SCHEMA)
    with writing(folder / "0.jsonl.zst", kept=True) as file:
        written = write_shard(file, None, rows, np.arange(len(rows)), progress)
    save_json(folder / "text.json", written._asdict())
    write_scattered(folder, rows)


def write_scattered(folder, rows: pa.Table) -> None:
    sizes, targets = np.ones(len(rows), np.int64), np.zeros(len(rows), np.int64)
    with writing(folder / "0.arrows") as file:
        starts = write_streams(file, SCHEMA, lambda block: rows[block], sizes, targets, len(SPLITS))
    save_array(folder / "0.npy", starts[np.newaxis])
    files = {"data": f"{folder}/0.arrows", "index": f"{folder}/0.npy"}
    save_json(folder / "scatter.json", files)


def encoded(folder, tokenizer_folder, step) -> None:
    step("encode").encode(
        [folder / "scatter.json"], "train", 0, dict.fromkeys(SPLITS, 1), tokenizer_folder,
        token_files(folder), folder / "placements.parquet",
    )  # fmt: skip


def token_files(shard) -> TokenFiles:
    return TokenFiles(*(shard / f"train/0.{ending}" for ending in ("bin", "idx", "json")))


def files_of(shard) -> list:
    placements = shard / "placements.parquet"
    return [shard / "0.jsonl.zst", shard / "text.json", token_files(shard), placements]


def made(folder, texts: list[str], tokenizer_folder, step, progress):
    (folder / "train").mkdir(parents=True)
    write_text(folder, texts, progress)
    encoded(folder, tokenizer_folder, step)
    return folder


@pytest.fixture(scope="module")
def intact(tmp_path_factory, tiny_tokenizer, step, progress):
    folder = tmp_path_factory.mktemp("shard") / "results"
    return made(folder, TEXTS, tiny_tokenizer[0], step, progress)


@pytest.fixture
def shard(intact, tmp_path):
    """A copy of the intact shard, to be damaged."""
    return shutil.copytree(intact, tmp_path / "results")


@pytest.fixture
def verified(tiny_tokenizer, progress):
    """All faults of a shard, as the verify step would tell them."""
    folder, setting = tiny_tokenizer
    reference = load_kept(folder, setting)

    def faults(shard, setting=setting) -> list[str]:
        files = files_of(shard)
        try:
            found, eyes = shard_faults(*files, reference, setting, progress)
        except ValueError as error:  # wrong input, told at the terminal as a fault is
            return [str(error)]
        assert found or "--- train/0.bin, start (token 0 of " in eyes
        return found

    return faults


def repair_digest(shard) -> None:
    """Make the description fit the damaged bytes, so that only the content is wrong."""
    facts = load_json(shard / "train/0.json")
    for file in ("train/0.bin", "train/0.idx"):
        write_bytes(shard / file, (shard / file).read_bytes())
    facts |= {"sha256": file_sha256(shard / "train/0.bin")}
    facts |= {"index_sha256": file_sha256(shard / "train/0.idx")}
    save_json(shard / "train/0.json", facts)


def set_token(shard, place: int, value: int) -> None:
    tokens = np.fromfile(shard / "train/0.bin", "<u2")
    tokens[place] = value
    tokens.tofile(shard / "train/0.bin")
    repair_digest(shard)


def change_index(shard, change) -> None:
    starts = np.fromfile(shard / "train/0.idx", "<u8")
    change(starts).astype("<u8").tofile(shard / "train/0.idx")


def test_shard_faults__of_an_intact_shard_are_none(intact, verified):
    assert verified(intact) == []


@pytest.mark.parametrize("texts", [[], [""], ["a"]])
def test_shard_faults__of_a_tiny_shard_are_none(
    tmp_path, verified, tiny_tokenizer, step, progress, texts
):
    assert verified(made(tmp_path, texts, tiny_tokenizer[0], step, progress)) == []


def faults_of_placements(shard) -> list[str]:
    return list(placement_faults(shard / "placements.parquet", token_files(shard)))


def test_placement_faults__of_an_intact_shard_are_none(intact):
    assert faults_of_placements(intact) == []


@pytest.mark.parametrize("column", ["row", "token_start", "token_end", "shard", "split", "source"])
def test_placement_faults__find_one_changed_value(shard, column):
    table = pq.read_table(shard / "placements.parquet")
    place = table.column_names.index(column)
    values = table.column(column).to_pylist()
    values[2] = f"{values[2]}x" if isinstance(values[2], str) else values[2] + 1
    table = table.set_column(place, table.field(column), pa.array(values, table.field(column).type))
    save_parquet(shard / "placements.parquet", table)
    (fault,) = faults_of_placements(shard)
    assert fault.startswith(f"{shard / 'placements.parquet'}: ")


@pytest.mark.parametrize("rows", [slice(0, -1), slice(1, None)])
def test_placement_faults__find_a_missing_row(shard, rows):
    table = pq.read_table(shard / "placements.parquet")
    save_parquet(shard / "placements.parquet", table.slice(rows.start, len(table) - 1))
    assert faults_of_placements(shard)


def flipped(data: bytes, place: int) -> bytes:
    changed = bytearray(data)
    changed[place] ^= 1
    return bytes(changed)


DAMAGES = [
    *(
        ("train/0.bin", lambda data, n=n: flipped(data, n), "0.bin: block 0 differs")
        for n in (0, 7, -1)
    ),
    *(("train/0.bin", lambda data, n=n: data[:-n], "0.bin") for n in (1, 2, 10, 100)),
    ("train/0.bin", lambda data: b"", "0.bin"),
    *(("train/0.bin", lambda data, n=n: data + bytes(n), "0.bin") for n in (1, 2, 64)),
    ("train/0.idx", lambda data: data + bytes(3), ""),
    *(("0.jsonl.zst", lambda data, n=n: data[:-n], "0.jsonl.zst") for n in (1, 20)),
]


@pytest.mark.parametrize(("name", "damage", "told"), DAMAGES)
def test_shard_faults__find_flipped_missing_and_added_bytes(shard, verified, name, damage, told):
    path = shard / name
    path.write_bytes(damage(path.read_bytes()))
    assert any(told in fault for fault in verified(shard))


def test_shard_faults__find_damage_in_a_column_that_is_not_read(
    tmp_path, tiny_tokenizer, step, progress
):
    folder, setting = tiny_tokenizer
    (tmp_path / "results/train").mkdir(parents=True)
    text = tmp_path / "results/0.parquet"
    blob = np.random.default_rng(1).integers(97, 123, 300_000, np.uint8).tobytes()
    row = [[1], [1], [0], ["s"], ["a text"], [b'"blob":"%s"' % blob]]
    arrays = [pa.array(values, field.type) for values, field in zip(row, SCHEMA, strict=True)]
    columns = pa.schema([("blob", pa.string())])
    with writing(text, kept=True) as file:
        rows = pa.table(arrays, schema=SCHEMA)
        written = write_shard(file, columns, rows, np.arange(1), progress)
    save_json(tmp_path / "results/text.json", written._asdict())
    write_scattered(tmp_path / "results", rows)
    encoded(tmp_path / "results", folder, step)

    def faults() -> list[str]:
        found = [text, *files_of(tmp_path / "results")[1:]]
        return shard_faults(*found, load_kept(folder, setting), setting, progress)[0]

    assert faults() == []
    text.write_bytes(flipped(text.read_bytes(), text.stat().st_size // 2))
    assert pq.read_table(text, columns=["text"])["text"].to_pylist() == ["a text"]
    with pytest.raises(DamagedError, match=r"0\.parquet: block"):
        faults()


@pytest.mark.parametrize(
    "change",
    [
        lambda starts: starts + 1,
        lambda starts: starts[:-1],
        lambda starts: starts[:0],
        lambda starts: starts[:1],
        lambda starts: starts * 2,
        lambda starts: np.append(starts, starts[-1]),
        lambda starts: np.where(starts == starts[2], starts[1], starts),
        lambda starts: starts[[0, 2, 1, *range(3, starts.size)]],
        lambda starts: starts * 0,
    ],
    ids=["moved", "one short", "empty", "start only", "doubled", "one more", "document empty",
         "swapped", "zeros"],
)  # fmt: skip
def test_shard_faults__find_a_changed_index(shard, verified, change):
    change_index(shard, change)
    assert verified(shard) != []


@pytest.mark.parametrize("texts", [TEXTS[:-1], TEXTS[1:], [*TEXTS, "one more"], []])
def test_shard_faults__find_text_documents_lost_or_added(shard, verified, progress, texts):
    write_text(shard, texts, progress)
    said = f"6 documents in the token shard, {len(texts)} in the text shard"
    assert any(said in fault for fault in verified(shard))


def test_shard_faults__find_documents_in_another_order(shard, verified, progress):
    write_text(shard, [TEXTS[2], *TEXTS[1:2], TEXTS[0], *TEXTS[3:]], progress)
    faults = verified(shard)
    for row in (0, 2):
        assert any(f"document {row} does not decode back to its text" in f for f in faults)
        assert any(f"ids of document {row} differ from those of the reference" in f for f in faults)


def test_shard_faults__find_placements_of_other_documents(shard, verified):
    path = shard / "placements.parquet"
    table = pq.read_table(path)
    ids = pa.array([0, 1, 2, 4, 3, 5], pa.uint64())
    save_parquet(path, table.set_column(table.column_names.index("id"), "id", ids))
    found = [fault for fault in verified(shard) if "is another document than in" in fault]
    assert [fault.split(": ")[1].split(" of ")[0] for fault in found] == ["row 3", "row 4"]


def test_shard_faults__find_a_text_shard_that_is_not_the_one_written(shard, verified, progress):
    facts = load_json(shard / "text.json")
    write_text(shard, TEXTS, progress)
    assert load_json(shard / "text.json") == facts
    save_json(shard / "text.json", facts | {"sha256": hashlib.sha256(b"").hexdigest()})
    assert any("0.jsonl.zst: SHA-256 is" in fault for fault in verified(shard))


def test_shard_faults__find_an_id_beyond_the_vocabulary(shard, verified, tiny_tokenizer):
    vocabulary = tiny_tokenizer[1].vocabulary
    set_token(shard, 1, vocabulary)
    expected = f"token id {vocabulary}, but the tokenizer has {vocabulary} tokens"
    assert any(expected in fault for fault in verified(shard))


def test_shard_faults__find_an_end_of_text_inside_a_document(shard, verified, tiny_tokenizer):
    set_token(shard, 1, tiny_tokenizer[1].end_of_text_id)
    assert any("7 end-of-text tokens, expected one per" in fault for fault in verified(shard))


def test_shard_faults__find_a_missing_end_of_text(shard, verified):
    set_token(shard, -1, 50)
    faults = verified(shard)
    assert any("5 end-of-text tokens" in fault for fault in faults)
    assert any("does not end with the end-of-text token" in fault for fault in faults)


def test_shard_faults__find_another_id_of_a_sampled_document(shard, verified):
    set_token(shard, 0, 50)
    assert any("ids of document 0 differ from those of the reference" in f for f in verified(shard))


@pytest.mark.parametrize("change", [{"dtype": "uint32"}, {"vocabulary": 999}])
def test_shard_faults__find_another_tokenizer(shard, verified, tiny_tokenizer, change):
    setting = tiny_tokenizer[1]._replace(**change)
    assert any("the tokenizer changed" in fault for fault in verified(shard, setting))


@pytest.mark.parametrize("change", [{"documents": 5}, {"tokens": 1}, {"dtype": "uint32"}])
def test_shard_faults__find_a_wrong_description(shard, verified, change):
    save_json(shard / "train/0.json", load_json(shard / "train/0.json") | change)
    assert verified(shard) != []


BESIDE = ["a <tag>b", "x <end>\t\nlong", "no such token  here", "<both> grain " * 3000, " <tag> "]


@pytest.fixture(scope="module", params=["byte level, stripping", "metaspace, always"])
def beside(request, tmp_path_factory, step, progress):
    """A shard of texts with tokens that swallow white space, and its tokenizer."""
    folder, source = tmp_path_factory.mktemp("kept"), tmp_path_factory.mktemp("given")
    setting = keep_tokenizer(folder, EXACT[request.param](source), "auto", "auto")
    shard = made(tmp_path_factory.mktemp("shard") / "results", BESIDE, folder, step, progress)
    return shard, folder, setting


def faults_beside(shard, folder, setting, progress) -> list[str]:
    files = files_of(shard)
    return shard_faults(*files, load_kept(folder, setting), setting, progress)[0]


def test_shard_faults__tokens_that_swallow_white_space_are_none(beside, progress):
    assert faults_beside(*beside, progress) == []
    assert load_json(beside[0] / "train/0.json")["by_source"]["s"]["lost_characters"] > 2


@pytest.mark.parametrize("row", range(len(BESIDE) - 1))
def test_shard_faults__beside_such_tokens_the_rest_is_compared(beside, row, tmp_path, progress):
    shard, folder, setting = beside
    shard = shutil.copytree(shard, tmp_path / "results")
    first = int(np.fromfile(shard / "train/0.idx", "<u8")[row])
    tokens = np.fromfile(shard / "train/0.bin", "<u2")
    other = reference_ids(load_kept(folder, setting), ["Q"])[0][-1]
    lossy = setting.lossy_tokens.values()
    set_token(shard, next(i for i in range(first, tokens.size) if tokens[i] not in lossy), other)
    found = faults_beside(shard, folder, setting, progress)
    assert any(f"document {row} does not decode back to its text" in fault for fault in found)


def test_verify__refuses_a_damaged_shard_and_passes_an_intact_one(
    shard, step, tiny_tokenizer, tmp_path
):
    files = [
        shard / "0.jsonl.zst",
        shard / "text.json",
        token_files(shard),
        shard / "placements.parquet",
        tiny_tokenizer[0],
        tmp_path / "report.json",
        tmp_path / "eye.txt",
    ]
    step("verify").verify(*files)
    assert load_json(tmp_path / "report.json")["documents"] == len(TEXTS)
    (tmp_path / "report.json").unlink()
    set_token(shard, 0, 50)
    with pytest.raises(ValueError, match="Remove these files and run again"):
        step("verify").verify(*files)
    assert not (tmp_path / "report.json").exists()


@pytest.mark.parametrize("documents", [0, 1, 2, 24, 25, 1000])
def test_sampled_rows__spread_from_first_to_last(documents):
    got = sampled_rows(documents)
    assert got == sorted(set(got))
    assert len(got) == min(documents, 24)
    assert not documents or (got[0], got[-1]) == (0, documents - 1)


def test_alignment_faults__windows_are_shifted_by_one(intact, tiny_tokenizer):
    bin = intact / "train/0.bin"
    tokens = bin.stat().st_size // 2
    assert list(alignment_faults(bin, tiny_tokenizer[1], tokens)) == []
    for few in (0, 1, 2, 3):
        assert list(alignment_faults(bin, tiny_tokenizer[1], few)) == []
