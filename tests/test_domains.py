"""Domains of crawled documents: exact counts, and the largest of them."""

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from handmade import text_writer

from corpusmill.mill.read.first_records import Asked
from corpusmill.mill.report.domains import (
    NO_DOMAIN,
    Domains,
    added,
    all_domains,
    domain_of,
    domains_of_part,
    save_domains,
)
from corpusmill.run.absent_members import absent_urls

MEMBERS = {"web": "url", "other web": "meta.url"}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.Example.ORG:80/a?b", "example.org"),
        ("http://a.www.example.org./", "a.www.example.org"),
        ("example.org/a", "example.org"),
        ("https://user@bücher.de/", "xn--bcher-kva.de"),
        ("http://[2001:DB8::1]/", "2001:db8::1"),
        (" //x.org ", "x.org"),
        ("not a url", NO_DOMAIN),
        ("https://=1+1/", NO_DOMAIN),
        ("https://a\0b.org", NO_DOMAIN),
        ("https:///path", NO_DOMAIN),
        ("https://www./", "www"),
        ("", NO_DOMAIN),
        (f"https://{'a' * 300}/", NO_DOMAIN),
        (7, NO_DOMAIN),
        (None, NO_DOMAIN),
        (["https://a.org"], NO_DOMAIN),
    ],
)
def test_domain_of__is_the_host_without_www(url, expected):
    assert domain_of(json.dumps(url)) == expected


def test_domain_of__without_a_member_is_none():
    assert domain_of(None) == NO_DOMAIN


class Part:
    """A part of documents of three sources, two of them crawled."""

    def __init__(self, path: Path, seed: int, documents: int, hosts: int) -> None:
        chance = random.Random(seed)
        files = [{"source": name, "path": "f"} for name in ("web", "plain", "other web")]
        self.path, self.expected = path, Counter()
        self.documents: Counter[str] = Counter()
        self.kept = np.array([chance.random() < 0.7 for _ in range(documents)], bool)
        self.text_bytes = np.array([chance.randrange(9) for _ in range(documents)], np.uint64)
        with text_writer(path, files) as writer:
            for row in range(documents):
                file, host = chance.randrange(3), f"h{chance.randrange(hosts)}.org"
                host = chance.choice([host, host, host, NO_DOMAIN])
                url = {"url": f"https://www.{host}/{row}"} if host else {}
                record = {"meta": url} if files[file]["source"] == "other web" else url
                writer.add(b"text", json.dumps(record)[1:-1].encode(), file, row)
                if self.kept[row] and files[file]["source"] in MEMBERS:
                    self.documents[host] += 1
                    self.expected[host] += int(self.text_bytes[row])

    def table(self):
        return domains_of_part(self.path, MEMBERS, self.kept, self.text_bytes)


def by_hand(parts: list[Part]) -> list[tuple[str, int, int]]:
    """Domain, documents and bytes of all parts, the most bytes first."""
    documents, sizes = Counter(), Counter()
    for part in parts:
        documents.update(part.documents)
        sizes.update(part.expected)
    rows = [(name, documents[name], sizes[name]) for name in documents]
    return sorted(rows, key=lambda row: (-row[2], row[0]))


def of_blocks(folder: Path, parts: list[Part], blocks: int, **options) -> Domains:
    files = [folder / f"{block}.arrow" for block in range(blocks)]
    for block, file in enumerate(files):
        save_domains(file, added(part.table() for part in parts[block::blocks]))
    return all_domains(files, **options)


@pytest.mark.parametrize(("hosts", "blocks"), [(1, 1), (7, 2), (400, 3), (400, 6)])
def test_all_domains__equal_naive_however_divided(hosts, blocks, tmp_path):
    parts = [Part(tmp_path / f"{n}.part", n, 300, hosts) for n in range(5)]
    got = of_blocks(tmp_path, parts, blocks)
    rows = by_hand(parts)
    named = [row for row in rows if row[0] != NO_DOMAIN]
    assert got.largest.to_pylist() == [
        dict(zip(got.largest.column_names, row, strict=True))
        for row in named[: -(-len(named) // 10)]
    ]
    assert got[1:] == (
        len(named), sum(row[1] for row in rows), sum(row[2] for row in rows),
        sum(row[1] for row in rows if row[0] == NO_DOMAIN),
    )  # fmt: skip


@pytest.mark.parametrize("most_rows", [0, 9, 10**6])
def test_added__is_the_same_however_many_rows_it_holds(most_rows, tmp_path):
    parts = [Part(tmp_path / f"{n}.part", n, 90, 30) for n in range(6)]
    got = added((part.table() for part in parts), most_rows)
    rows = zip(*(column.to_pylist() for column in got.columns), strict=True)
    assert list(rows) == sorted(by_hand(parts))


def test_all_domains__keeps_the_largest_of_too_many(tmp_path):
    parts = [Part(tmp_path / "0.part", 1, 900, 500)]
    got = of_blocks(tmp_path, parts, 1, most=5)
    named = [row for row in by_hand(parts) if row[0] != NO_DOMAIN]
    assert got.largest["domain"].to_pylist() == [row[0] for row in named[:5]]
    assert got.number == len(named)


@pytest.mark.parametrize("documents", [0, 1])
def test_all_domains__of_nothing_are_none(documents, tmp_path):
    part = Part(tmp_path / "0.part", 3, documents, 1)
    part.kept[:] = False
    got = of_blocks(tmp_path, [part], 1)
    assert (got.largest.num_rows, *got[1:]) == (0, 0, 0, 0, 0)


def test_part__without_a_crawled_source_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("corpusmill.mill.read.parts.TextPart.batches", None)
    with text_writer(tmp_path / "part", [{"source": "plain", "path": "f"}]) as writer:
        writer.add(b"text", b'"url":"https://a.org"', 0, 1)
    assert domains_of_part(tmp_path / "part", MEMBERS, np.ones(1, bool), None).num_rows == 0


def test_absent_urls__are_told_with_the_source(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "url": "https://a.org"}\n')
    files = [Asked("web", str(path), "text", 0), Asked("other web", str(path), "text", 0)]
    (told,) = absent_urls(MEMBERS, files, ())
    assert "the source other web is crawled" in told
    assert "meta.url" in told
