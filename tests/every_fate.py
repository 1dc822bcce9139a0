"""A small corpus in which every fate is met, text is cut and documents are repeated."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from workflow import document, write_jsonl

NOTICE = "We use cookies and similar things, and our privacy policy says what for.\n"
MENU = "Home, News, Weather, Sports, Letters to the Editor, Advertisements, Imprint\n"


def long(number: int) -> str:
    return document(number, words=140)


def changed(text: str, *places: int) -> str:
    words = text.split()
    return " ".join("otherwise" if place in places else word for place, word in enumerate(words))


def twin(number: int) -> str:
    """A line that is cut where it comes again, and lines that are too short for that."""
    lines = [document(500 + number, words=30)]
    lines += [" ".join(document(600 + 7 * number + k, words=3).split()) for k in range(7)]
    return "\n".join(lines)


def corpus(folder: Path) -> dict:
    """Small, with every fate; returns the run's config."""
    web = [{"text": long(n), "n": n} for n in range(40)]
    web += [{"text": changed(long(n), 9)} for n in range(4)]
    web += [{"text": changed(long(n), *range(9, 200, 30))} for n in range(4, 8)]
    web += [{"text": MENU + long(100 + n)} for n in range(3)]
    web += [{"text": NOTICE + long(110 + n)} for n in range(3)]
    web += [{"text": ""}, {"text": "short"}, {"text": "Über " * 40}]
    web += [{"text": document(900 + n)} for n in range(6)]
    web += [{"text": twin(n)} for n in range(15)]
    write_jsonl(folder / "raw/web/0.jsonl", web)
    write_jsonl(folder / "raw/web/1.jsonl", [{"text": twin(n)} for n in range(15)])
    with open(folder / "raw/web/1.jsonl", "a") as file:
        file.write('{"text": "this one stops\n{"nothing": 1}\n')
    write_jsonl(folder / "raw/few/0.jsonl", [{"text": long(200 + n)} for n in range(40)])
    books = [long(n) for n in range(30, 36)] + [long(300 + n) for n in range(6)]
    (folder / "raw/books").mkdir()
    pq.write_table(pa.table({"content": books}), folder / "raw/books/0.parquet")
    write_jsonl(folder / "raw/evaluation/0.jsonl", [{"text": document(900 + n)} for n in range(6)])
    return {
        "sources": [
            {"name": "web", "files": ["raw/web/*.jsonl"], "weight": 2, "max_malformed_fraction": 1},
            {"name": "few", "files": ["raw/few/0.jsonl"], "weight": 0.5},
            {"name": "books", "files": ["raw/books/*.parquet"], "text_field": "content",
             "priority": 1, "cut_spans": False},
            {"name": "evaluation", "files": ["raw/evaluation/0.jsonl"], "held_out": True},
        ],
        "input": {"part_bytes": 65_536},
        "spans": {"unit": "line"},
        "filters": [
            {"name": "empty"},
            {"name": "c4", "needs_end_mark": False, "min_words_per_line": 0, "min_sentences": 0},
            {"name": "too_short", "min_chars": 100},
        ],
        "splits": {"validation": 0.3, "test": 0.15},
        "output": {"shard_bytes": 65_536, "join": True, "pack": [64]},
        "tokenizer": {"source": "train", "train_vocabulary": 400},
    }  # fmt: skip
