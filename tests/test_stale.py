"""Files of an earlier run are told from this run's and from everybody else's."""

from pathlib import Path

from corpusmill.stale import stale_files

KEPT = ["text/00001.arrow", "pairs/00002.npy", "corpus/train/00000.parquet", "corpus/notes.txt",
        "corpus/train/00000.json", "tokens/test/00000.bin", "plan/parts.jsonl", "tokens/meta.pkl",
        "demo/00009", "bands/complete.json", "pairs/complete.json"]  # fmt: skip
STALE = ["text/00002.arrow", "ledger/00007.parquet", "pairs/00003.npy", "tokens/train/00001.bin",
         "corpus/train/00000.jsonl.zst", "corpus/validation/00000.parquet", "spans/complete.json",
         "spans/00001.npy"]  # fmt: skip


def test_stale_files__are_those_without_a_number_in_this_run(tmp_path):
    for name in KEPT + STALE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    others = {"pairs": ["00002"], "spans": []}
    shards = {"train": 1, "test": 1}
    found = stale_files(tmp_path, ["00000", "00001"], others, shards, "parquet")
    assert sorted(found) == sorted(tmp_path / name for name in STALE)


def test_stale_files__of_no_folder_are_none():
    assert list(stale_files(Path("/nowhere"), [], {}, {}, "parquet")) == []
