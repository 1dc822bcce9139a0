"""The run stops where too much would be removed, and says why; else it reports."""

import json
from pathlib import Path

import pytest

from corpusmill.mill.storage.files import load_json, save_json


def group(texts: int, documents: int, **more) -> dict:
    return {"texts": texts, "documents": documents, **more}


SOME = {"least": 6, "most": 10, "clusters": 2, "documents": 15}


def saved(folder: Path, counts: list[dict]) -> list[Path]:
    files = [folder / f"{number:05d}.json" for number in range(len(counts))]
    for file, of_job in zip(files, counts, strict=True):
        save_json(file, of_job)
    return files


def report_of(step, folder: Path, sources: list[dict], bins: list[list[dict]],
              max_group_texts: int | None = 100, prefer=(), **most: float) -> dict:  # fmt: skip
    parts = [
        {"by_source": part, "stages": {"identical": n, "shingles": 1}, "winners": 3}
        for n, part in enumerate(sources)
    ]
    parts += [{"stages": {}, "winners": 0} | part for part in prefer]
    bins = bins or [[]]
    dropped = [*[0] * (len(bins) - 1), 3 * len(sources)]
    found = [
        {"dropped": n, "pairs": 10, "measured": 3, "clusters": [SOME], "groups": groups}
        for n, groups in zip(dropped, bins, strict=True)
    ]
    assigned, resolved = saved(folder / "assigned", parts), saved(folder / "resolved", found)
    out = folder / "duplicates.json"
    limits = {"max_group_texts": max_group_texts, "max_duplicate_fraction": most}
    step("guard").guard(assigned, resolved, limits, dict.fromkeys(most, "near"), out)
    return load_json(out)


def counts(documents: int, duplicates: int) -> dict:
    stages = {"identical": duplicates, "sketch": 0}
    return {"documents": documents, "duplicates": duplicates, **stages}


def test_guard__adds_up_what_parts_and_bins_found(step, tmp_path):
    sources = [{"web": counts(6, 1)}, {"web": counts(4, 2), "books": counts(0, 0)}]
    bins = [[group(3, 4)], [group(1, 9), group(5, 5)], []]
    got = report_of(step, tmp_path, sources, bins, web=0.3, books=0)
    assert got["dropped"] == {"identical": 1, "shingles": 2}
    assert (got["pairs"], got["measured"]) == (30, 9)
    assert got["clusters"] == [SOME | {"clusters": 6, "documents": 45}]
    assert got["sources"] == {
        "books": {"policy": "near", "documents": 0, "duplicates": 0, "share": 0, "stages": {}},
        "web": {
            "policy": "near",
            "documents": 10,
            "duplicates": 3,
            "share": 0.3,
            "stages": {"identical": 3},
        },
    }
    assert got["largest_groups"] == [group(5, 5), group(3, 4), group(1, 9)]


def test_guard__does_not_depend_on_the_order_of_parts_and_bins(step, tmp_path):
    sources = [{"web": counts(6, 1)}, {"web": counts(4, 2)}]
    same = [group(2, 2, shared=shared) for shared in "abc"]
    one = report_of(step, tmp_path, sources, [same[:1], same[1:]], web=1)
    other = report_of(step, tmp_path, sources[::-1], [same[:0:-1], same[:1]], web=1)
    assert one["largest_groups"] == other["largest_groups"] == same
    assert one["sources"] == other["sources"]


def test_guard__refuses_parts_that_lost_a_dropped_document(step, tmp_path):
    parts = [{"by_source": {}, "stages": {}, "winners": 4}]
    bins = [{"dropped": 5, "pairs": 9, "measured": 0, "clusters": [], "groups": []}]
    files = saved(tmp_path / "assigned", parts), saved(tmp_path / "resolved", bins)
    with pytest.raises(
        ValueError, match=r"the bins dropped 5 documents .* the parts have 4 duplicates"
    ):
        step("guard").guard(*files, {}, {}, tmp_path / "duplicates.json")


def test_guard__stops_at_a_source_of_too_many_duplicates_with_the_evidence(step, tmp_path):
    shown = group(7, 9, sample=[{"id": 5, "winner": 2}], shared="Größe 水")
    sources = [{"web": counts(10, 10), "books": counts(10, 9)}]
    with pytest.raises(ValueError, match="source web: 10 of 10 documents are duplicates") as error:
        report_of(step, tmp_path, sources, [[shown]], web=0.9, books=0.9)
    assert "max_duplicate_fraction allows only 0.9" in str(error.value)
    assert "books" not in str(error.value)
    assert json.dumps(shown, ensure_ascii=False) in str(error.value)
    assert not (tmp_path / "duplicates.json").exists()


def test_guard__stops_at_a_group_of_too_many_texts_with_the_evidence(step, tmp_path):
    groups = [group(n, n, shared=f"passage {n}") for n in (101, 8, 100, 9)]
    with pytest.raises(ValueError, match=r"a group of 101 different texts .* only 100") as error:
        report_of(step, tmp_path, [], [groups[:2], groups[2:]])
    assert [f"passage {n}" in str(error.value) for n in (101, 100, 9, 8)] == [True] * 3 + [False]


def test_guard__names_every_fault_at_once(step, tmp_path):
    sources = [{"a": counts(2, 2), "b": counts(2, 2), "c": counts(2, 1)}]
    with pytest.raises(ValueError, match="source a") as error:
        report_of(step, tmp_path, sources, [[group(500, 500)]], a=0.5, b=0, c=0.5)
    lines = str(error.value).splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["source a", "source b"]
    assert "500 different texts" in lines[2]


def test_guard__goes_on_where_the_configuration_allows_it(step, tmp_path):
    sources, bins = [{"web": counts(10, 10)}], [[group(101, 200)]]
    assert report_of(step, tmp_path, sources, bins, 101, web=1)["sources"]["web"]["share"] == 1
    assert report_of(step, tmp_path, sources, bins, None, web=1)["largest_groups"] == bins[0]


def test_guard__many_copies_of_few_texts_are_no_large_group(step, tmp_path):
    assert report_of(step, tmp_path, [], [[group(1, 10**9)]], 2)["largest_groups"]


def test_guard__of_an_empty_corpus(step, tmp_path):
    for sources, bins in (([], []), ([{}], [[]]), ([{"web": counts(0, 0)}], [[]])):
        got = report_of(step, tmp_path, sources, bins, web=0)
        assert got["largest_groups"] == []
        assert set(got["dropped"].values()) <= {0, 1}


def kinds_of_part(places: dict[str, str], **sources: tuple[int, int, int]) -> dict:
    kinds = ("number", "text", "none")
    prefer = {name: dict(zip(kinds, counts, strict=True)) for name, counts in sources.items()}
    return {"by_source": {}, "prefer": prefer, "prefer_places": places}


def test_guard__tells_the_kinds_of_the_preferred_field(step, tmp_path):
    parts = [
        kinds_of_part({"number": "a:1"}, web=(3, 0, 1), books=(0, 0, 2)),
        kinds_of_part({}, web=(0, 0, 4)),
    ]
    got = report_of(step, tmp_path, [], [], prefer=parts)
    assert got["prefer"] == {"number": 3, "text": 0, "none": 7}
    assert "prefer" not in report_of(step, tmp_path, [{"web": counts(1, 0)}], [], web=1)


def test_guard__stops_at_numbers_and_texts_in_the_preferred_field(step, tmp_path):
    parts = [
        kinds_of_part({"number": "a:1"}, web=(3, 0, 1)),
        kinds_of_part({"text": "b:7"}, web=(0, 2, 0)),
        kinds_of_part({"text": "c:1"}, books=(0, 2, 0)),
    ]
    with pytest.raises(ValueError, match="a number in 3 documents, first in a:1, and a text in 4, "
                       "first in b:7"):  # fmt: skip
        report_of(step, tmp_path, [], [], prefer=parts)
    assert not (tmp_path / "duplicates.json").exists()
