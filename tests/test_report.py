"""What is shown of a finished run: its numbers are those of the results, nothing is cut off."""

import csv
import io
import itertools
import json
import math
import re
import shutil
import xml.etree.ElementTree as ET
from collections import Counter

import naive
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError
from markupsafe import escape
from workflow import ROOT, document, jobs, mill, small_corpus, snakemake, summary, write_jsonl

from corpusmill.mill.account.accounts import funnel as account_of
from corpusmill.mill.decide.fates import SPLITS
from corpusmill.mill.dedup.cluster_sizes import added, cluster_sizes
from corpusmill.mill.dedup.edges import STAGES
from corpusmill.mill.report import duplicates, funnel, statistics, times
from corpusmill.mill.report.duplicates import bins, removed, similarities_page
from corpusmill.mill.report.pages import TEMPLATES, as_csv, page
from corpusmill.mill.report.tallies import BINS
from corpusmill.mill.report.times import Time
from corpusmill.mill.report.whole import Finished, by_language, whole_page
from corpusmill.mill.storage.files import load_json

SVG = "{http://www.w3.org/2000/svg}"
FATES = ["malformed", "too_short", "duplicate"]
# As wide as letters get in a usual font, which is why it is for all of them together.
CHARACTER_WIDTH = 8.2


def account(came: int, **dropped: int) -> Counter:
    """Documents of 10 bytes each, those that are malformed of none."""
    kept = came - sum(dropped.values())
    found = Counter(dropped) + Counter({f"{fate}_bytes": 10 * n for fate, n in dropped.items()})
    found.update(documents=came, kept=kept, copies=2 * kept, kept_bytes=10 * kept)
    found.update(text_bytes=10 * (came - dropped.get("malformed", 0)), written_bytes=20 * kept)
    return found


def summed(sources: dict[str, Counter], fates: list[str] = FATES) -> dict:
    """summary.json of these accounts, as far as documents go."""
    whole = sum(sources.values(), Counter())
    return account_of(whole, fates, SPLITS) | {
        "sources": {n: account_of(a, fates, SPLITS) for n, a in sources.items()}
    }


def part(rows: list[tuple[float | None, str]]) -> pa.Table:
    """A table of results/clusters."""
    similarity, stage = zip(*rows, strict=True) if rows else ([], [])
    return pa.table(
        {"similarity": pa.array(similarity, pa.float32()), "stage": pa.array(stage, pa.string())}
    )


def widths(image: ET.Element, kind: str) -> list[float]:
    return [float(bar.get("width")) for bar in image.iter(f"{SVG}rect") if bar.get("class") == kind]


def cut_off(image: ET.Element) -> list[str]:
    """Texts that do not fit the picture."""
    width, height = float(image.get("width")), float(image.get("height"))
    found = []
    for text in image.iter(f"{SVG}text"):
        x, y, half = (
            float(text.get("x")),
            float(text.get("y")),
            len(text.text) * CHARACTER_WIDTH / 2,
        )
        middle = x + {"start": half, "middle": 0, "end": -half}[text.get("text-anchor")]
        sideways = text.get("transform") is None and not half <= middle <= width - half
        if sideways or not 10 <= y <= height - 4:
            found.append(text.text)
    return found


def overlapping(image: ET.Element) -> list[tuple[str, str]]:
    """Texts on a line that stand on one another."""
    lines: dict[float, list[tuple[float, float, str]]] = {}
    for text in image.iter(f"{SVG}text"):
        if text.get("transform") is None:
            wide = len(text.text) * CHARACTER_WIDTH
            left = float(text.get("x")) - {"start": 0, "middle": wide / 2, "end": wide}[
                text.get("text-anchor")
            ]  # fmt: skip
            lines.setdefault(float(text.get("y")), []).append((left, left + wide, text.text))
    return [
        (one[2], other[2])
        for texts in map(sorted, lines.values())
        for one, other in itertools.pairwise(texts)
        if other[0] < one[1]
    ]


def part_of_page(name: str, *facts, **named) -> str:
    """What a macro makes of these facts."""
    return str(getattr(TEMPLATES.get_template("parts.html").module, name)(*facts, **named))


# Tables.


def test_table__escapes_and_aligns():
    made = part_of_page(
        "table", ("name", "text_bytes", "share"), [("<b>&", 1234567, 0.5), ("x", None, 2.0)]
    )
    rows = list(ET.fromstring(made).iter("tr"))
    assert [[cell.text for cell in row] for row in rows] == [
        ["name", "text_bytes", "share"], ["<b>&", "1,234,567", "0.50"], ["x", None, "2.00"],
    ]  # fmt: skip
    assert {tuple(cell.get("class") for cell in row) for row in rows} == {
        (None, "number", "number")
    }
    assert part_of_page("table", ("name",), []) == ""
    rows = [("1", "4.56 %"), ("web", ""), ("x", "1,300")]
    shares = part_of_page("table", ("source", "share"), rows)
    first, *_ = ET.fromstring(shares).iter("tr")
    assert [cell.get("class") for cell in first] == [None, "number"]


def test_as_csv__is_read_back():
    rows = [['a "quoted", name', "1", ""], ["two\nlines", "", "0.5"]]
    made = as_csv(
        ("name", "n", "share"), [('a "quoted", name', 1, None), ("two\nlines", None, 0.5)]
    )
    assert list(csv.reader(io.StringIO(made, newline=""))) == [["name", "n", "share"], *rows]


def test_page__refuses_to_leave_out_a_fact():
    with pytest.raises(UndefinedError, match="'account' is undefined"):
        page("funnel.html", picture="", heading=[], rows=[])


# The funnel.

TWO = {"web": account(100, malformed=1, duplicate=9), "books": account(50, too_short=5)}


def test_figures__are_those_of_the_summary():
    found = {(f.source, f.what): (f.documents, f.text_bytes) for f in funnel.figures(summed(TWO))}
    assert len(found) == len(funnel.figures(summed(TWO))) == 3 * 6
    assert found["web", "records in"] == (100, 990)
    assert found["web", "malformed"] == (1, None)
    assert found["web", "duplicate"] == (9, 90)
    assert found["books", "kept"] == (45, 450)
    assert found["all sources", "too_short"] == (5, 50)
    assert found["all sources", "copies written"] == (270, 2700)


def test_figures__have_the_bytes_that_were_cut():
    cut = {"web": account(3) + Counter(text_bytes=7, cut_bytes=7)}
    assert funnel.Figure("web", "spans cut out", None, 7) in funnel.figures(summed(cut))
    image = ET.fromstring(funnel.picture(summed(cut)))
    assert "spans cut out" in [text.text for text in image.iter(f"{SVG}text")]


def test_funnel_picture__has_bars_as_long_as_the_shares():
    image = ET.fromstring(funnel.picture(summed({"web": TWO["web"]})))
    documents, text = widths(image, "documents"), widths(image, "text")
    whole = 816
    expected = [whole * share for share in (0.90, 0.01, 0.09)]
    assert documents == pytest.approx(expected * 2, abs=0.1)
    assert text == pytest.approx([whole * 90 / 99, whole * 9 / 99] * 2, abs=0.1)
    tips = [tip.text for tip in image.iter(f"{SVG}title")]
    assert tips[:3] == ["kept: 90 (90.0 %)", "malformed: 1 (1.0 %)",
                        "duplicate: 9 (9.0 %)"]  # fmt: skip


def test_funnel_picture__cuts_nothing_off_and_tells_fates_apart():
    fates = [f"{'a_long_name_of_a_filter_' * 4}{n}" for n in range(30)]
    counts = dict.fromkeys(fates, 10**9)
    sources = {"x" * (4 * n + 1): account(40 * 10**9, **counts) for n in range(50)}
    image = ET.fromstring(funnel.picture(summed(sources, fates)))
    assert cut_off(image) == overlapping(image) == []
    colours = [bar.get("fill") for bar in image.iter(f"{SVG}rect") if bar.get("class") == "text"]
    assert len(set(colours)) == 31
    assert len(colours) == 51 * 31


@pytest.mark.parametrize("sources", [{}, {"web": account(0)}, {"web": account(4, malformed=4)}])
def test_funnel_page__of_nothing_has_no_bars_of_text(sources):
    assert widths(ET.fromstring(funnel.picture(summed(sources))), "text") == []
    assert "WARNING: a &lt; b" in funnel.funnel_page(summed(sources), "WARNING: a < b")


# Similarities.


def test_removed__equals_naive():
    some = np.random.default_rng(1).uniform(0.5, 1, 2000).round(4).tolist()
    rows = [(value, "shingles") for value in [*some, *(n / 100 for n in range(101))]]
    found = removed([part(rows[:700]), part([]), part(rows[700:])])
    assert dict(enumerate(found.counts)) == dict.fromkeys(range(100), 0) | Counter(
        naive.similarity_bin(str(value)) for value, _ in rows
    )


def test_removed__draws_what_was_measured_of_unequal_texts():
    rows = [(1.0, "identical"), (1.0, "sketch"), (0.9, "shingles"), (None, "band"), (None, "chain")]
    found = removed([part(rows), part(rows[:1])])
    assert bins(found.counts) == [(0.90, 0.91, 1), (0.99, 1.0, 1)]
    assert found.stages == {"identical": 2, "sketch": 1, "shingles": 1, "band": 1, "chain": 1}
    assert set(duplicates.FOUND) == set(STAGES.values())
    assert "6 documents were removed" in similarities_page(found, 0.8)


@pytest.mark.parametrize("rows", [[], [(1.0, "identical")], [(None, "band"), (None, "chain")]])
def test_similarities_page__without_a_measured_one_says_so(rows):
    made = similarities_page(removed([part(rows)]), 0.8)
    assert "There are no bars" in made
    assert "<svg" not in made


@pytest.mark.parametrize("least", [0.03, 0.55, 0.8, 0.999])
@pytest.mark.parametrize("threshold", [0.01, 0.5, 0.8, 0.85, 0.999999])
@pytest.mark.parametrize("most", [1, 9, 99, 10**9])
def test_similarities_picture__has_all_inside(least, threshold, most):
    found = removed([part([(least, "shingles")])])
    found.counts[:] *= most
    image = ET.fromstring(duplicates.picture(found, threshold))
    assert cut_off(image) == overlapping(image) == []
    (mark,) = (line for line in image.iter(f"{SVG}line") if line.get("stroke-dasharray"))
    assert duplicates.LEFT <= float(mark.get("x1")) <= duplicates.RIGHT
    (bar,) = (bar for bar in image.iter(f"{SVG}rect") if bar.get("class") == "bar")
    left, top = float(bar.get("x")), float(bar.get("y"))
    assert duplicates.LEFT <= left < left + float(bar.get("width")) <= duplicates.RIGHT
    assert duplicates.TOP <= top < duplicates.BOTTOM


# Clusters.


@given(st.lists(st.integers(1, 99), max_size=30))
def test_cluster_sizes__equal_naive(dropped):
    winners = [7 * place for place, number in enumerate(dropped) for _ in range(number)]
    got = cluster_sizes(np.array(winners[::-1], np.uint64))
    assert got == naive.cluster_sizes(winners)
    half = sum(dropped[: len(dropped) // 2])
    halves = (np.array(those, np.uint64) for those in (winners[:half], winners[half:]))
    assert added(map(cluster_sizes, halves)) == got


def test_cluster_picture__has_bars_as_long_as_the_numbers():
    bins = cluster_sizes(np.array([1, 2, 3, 4, 4, *[5] * 30]))
    image = ET.fromstring(duplicates.clusters_picture(bins))
    assert cut_off(image) == overlapping(image) == []
    assert widths(image, "clusters") == pytest.approx([190, 190 / 3, 190 / 3], abs=0.1)
    assert widths(image, "documents") == pytest.approx([190 * n / 31 for n in (6, 3, 31)], abs=0.1)
    words = [text.text for text in image.iter(f"{SVG}text")]
    assert [one for one in words if "2" in one or "3" in one][-3:] == ["2", "3", "21 to 50"]


# Languages.


def test_languages__have_a_share_for_every_reason_and_are_bounded():
    figures = {
        f"l{n:02}": {"read": 200 - n, "dropped": {"a": 100 - n, "<b>": 1}} for n in range(20)
    }
    figures["l00"]["dropped"] |= {f"rare{n:02}": 1 for n in range(15)}
    rows = list(ET.fromstring(part_of_page("languages", **by_language(figures))).iter("tr"))
    heading, first, *others = [["".join(cell.itertext()) for cell in row] for row in rows]
    assert heading[:5] == ["language", "documents read", "kept", "a", "<b>"]
    assert len(heading) == 3 + 12 + 1
    assert heading[-1] == "other reasons"
    assert first[:5] == ["l00", "200", "42.0 %", "50.0 %", "0.5 %"]
    assert first[-1] == "2.5 %"
    assert len(others) == 15
    name, documents, *_ = others[-1]
    assert (name, documents) == ("other languages", f"{sum(200 - n for n in range(15, 20))}")
    assert "background: rgb(213 94 0 / 32%)" in rows[1][3].get("style")


# Times.


def test_times__are_the_longest_first():
    rules = {"a": Time("a", 2, 1.5, 1.0, 30), "b": Time("b", 1, 9.0, 12.0, 400, 1000)}
    told = {name: row._asdict() for name, row in rules.items()}
    for row in told.values():
        del row["rule"]
    assert times.times({"rules": told}) == [rules["b"], rules["a"]]
    image = ET.fromstring(times.picture([rules["b"], rules["a"]]))
    assert "9.0 s, 12.0 s CPU, 1 job" in [text.text for text in image.iter(f"{SVG}text")]
    bars = [float(bar.get("width")) for bar in list(image.iter(f"{SVG}rect"))[4:]]
    seconds = times.LONGEST_SECONDS / 12
    megabyte = times.LONGEST_MEMORY / 1000
    expected = [9 * seconds, 12 * seconds, 1000 * megabyte, 400 * megabyte]
    expected += [1.5 * seconds, seconds, 0, 30 * megabyte]
    assert bars == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("rows", [
    [], [Time("a", 1, 0.0, 0.0, 0)], [Time("long" * 9, 10**4, 10.0**6, 10.0**6, 10**5, 10**5)],
])  # fmt: skip
def test_times_picture__cuts_nothing_off(rows):
    image = ET.fromstring(times.picture(rows))
    assert cut_off(image) == overlapping(image) == []


# Statistics.


@pytest.mark.parametrize("lows", [[0.0], [0.0, 1.0], [-1.5e-300 * n for n in range(99)],
                                  [float(n) for n in range(1000)]])  # fmt: skip
def test_statistics_picture__labels_bars_by_where_they_begin(lows):
    rows = [
        {"low": low, "stage": stage, "documents": n + 1}
        for n, low in enumerate(lows)
        for stage in ("read", "kept")
    ]
    image = ET.fromstring(statistics.picture(rows))
    assert cut_off(image) == overlapping(image) == []
    labels = [text.text for text in image.iter(f"{SVG}text")]
    assert 1 <= len(labels) <= statistics.LABELS
    tips = [tip.text for tip in image.iter(f"{SVG}title")]
    assert sum(int(tip.split(": ")[1].split(" read")[0].replace(",", "")) for tip in tips[::2]) == (
        sum(range(1, len(lows) + 1))
    )


@pytest.mark.parametrize(
    ("lows", "starts"),
    [
        ([0.0, 10.0, 100.0], [0, 10, 13, 16, 20, 26, 32, 40, 51, 64, 80, 100]),
        ([0.1, 0.29, 0.3], [0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.22, 0.24, 0.26, 0.28, 0.3]),
        ([-20.0, -10.0, 0.0, 1.0], [-20, -16, -13, -10, 0, 1]),
        ([-math.inf, 0.0], [-1e17, 0]),
    ],
)
def test_bars_of__are_even_and_have_all_between(lows, starts):
    bars = statistics.bars_of(lows)
    assert bars.starts == pytest.approx(starts)
    assert all(starts[place] <= low or low < 0 for low, place in bars.of_bin.items())
    assert [bars.of_bin[lows[0]], bars.of_bin[lows[-1]]] == [0, len(starts) - 1]


# A run.


@pytest.fixture(scope="module")
def milled(tmp_path_factory):
    """A finished run with near-duplicates."""
    folder = tmp_path_factory.mktemp("milled")
    config = small_corpus(folder)
    near = [f"{document(n // 2, 200)} {'other ' * (n % 12)}{n}" for n in range(160)]
    write_jsonl(folder / "raw/one/near.jsonl", [{"text": text} for text in near])
    mill(folder, config)
    return folder


def csv_rows(folder, name: str) -> list[dict]:
    return list(csv.DictReader((folder / f"results/report/{name}.csv").read_text().splitlines()))


def test_funnel_table__balances_and_equals_the_summary(milled):
    rows = csv_rows(milled, "funnel")
    for source in {row["source"] for row in rows}:
        of = {row["what"]: row for row in rows if row["source"] == source}
        told = summary(milled) if source == "all sources" else summary(milled)["sources"][source]
        for unit, figure in (("documents", "documents"), ("text_bytes", "bytes")):
            got = {what: int(row[unit]) for what, row in of.items() if row[unit]}
            came, kept = got.pop("records in"), got.pop("kept")
            assert got.pop("copies written") == told[figure]["written"]
            assert (came, kept) == (told[figure]["in"], told[figure]["kept"])
            assert got == told[figure]["dropped"]
            assert came == kept + sum(got.values())


def test_similarities__are_those_of_the_clusters(milled):
    rows = [row for path in sorted(milled.glob("results/clusters/*.parquet"))
            for row in pq.read_table(path).to_pylist()]  # fmt: skip
    near = [str(np.float32(row["similarity"])) for row in rows if row["stage"] != "identical"]
    assert len(near) > 70
    made = (milled / "results/report/similarities.html").read_text()
    shown = re.findall(r"<title>(0\.\d+) to .*: (\d+)</title>", made)
    expected = Counter(naive.similarity_bin(value) for value in near)
    assert {round(float(start) * 100): int(number) for start, number in shown} == expected


def test_summary__says_which_token_ends_documents(milled):
    facts = json.loads((milled / "results/tokenizer/corpusmill.json").read_text())
    told = json.loads((milled / "results/summary.json").read_text())["tokenizer"]
    assert told == {name: facts[name] for name in told}
    assert set(told) == {"source", "end_of_text", "end_of_text_id", "vocabulary"}
    expected = f"documents end with <|endoftext|>, id {facts['end_of_text_id']}"
    assert expected in (milled / "results/summary.txt").read_text().splitlines()


def test_times_table__equals_the_summary(milled):
    rules = summary(milled)["rules"]
    rows = csv_rows(milled, "times")
    assert {row["rule"] for row in rows} == set(rules) >= {"normalize", "encode"}
    for row in rows:
        figures = rules[row.pop("rule")]
        assert {name: float(value) for name, value in row.items()} == figures
        assert figures["cpu_seconds"] > 0


def test_whole_page__tells_what_the_results_do_and_needs_nothing_beside_it(milled):
    made = (milled / "results/report.html").read_text()
    told, words = summary(milled), re.sub(r"<[^>]+>", " ", made)
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)|url\(|@import|<script""", made)
    links, places = (
        re.findall(rf'{key}="(s\d+)"', made.replace("#", "")) for key in ("href", "id")
    )
    assert links == places
    assert len(links) == 7
    assert f"{sum(told['tokens'].values()):,} tokens" in words
    dropped = told["documents"]["dropped"]["duplicate"]
    assert f"{100 * dropped / told['documents']['in']:.2f} %" in words
    for rule, took in told["rules"].items():
        peak, bound = took["peak_memory_mb"], took["mem_mb"]
        assert re.search(rf"  {rule} .*  {peak:,}  {bound:,}  {100 * peak / bound:.0f} %", words)
        assert bound > 0
    (group, *_) = load_json(milled / "results/duplicates.json")["largest_groups"]
    assert escape(group["shared"][:100]) in made
    assert escape(group["starts"][0]) in made
    assert told["manifest"] in words
    assert told["config_digest"] in words


def whole(folder, summary: dict | None = None, **others) -> str:
    """The page of a run with these facts in place of its own."""
    found = Finished(
        load_json(folder / "results/summary.json"), {"clusters": [], "largest_groups": []},
        removed([]), 0.8, [], pa.Table.from_pylist([], BINS), [], {},
    )  # fmt: skip
    return whole_page(found._replace(summary=found.summary | (summary or {}), **others))


def test_whole_page__escapes_and_names_malformed_records(milled):
    records = [json.dumps({"source": "<b>", "file": "a&b", "line": n, "reason": "<i>"}).encode()
               for n in range(3)]  # fmt: skip
    documents = summary(milled)["documents"]
    documents["dropped"]["malformed"] = 9
    made = whole(milled, {"documents": documents}, quarantine=records, config={"a": "<u>"})
    assert "9 records could not be read. The first 3 are listed here" in made
    assert "&lt;b&gt;" in made
    assert "a&amp;b:2" in made
    assert not re.search("<[biu]>", made)


def test_whole_page__draws_the_largest_of_many_sources_and_tells_all(milled):
    many = summed({f"source{n}": account(100 + n) for n in range(20)})
    for one in (many, *many["sources"].values()):
        one["tokens"] = {"train": 5}
    made = whole(milled, many)
    drawn, rest = made.split("The picture shows the 12 largest of 20 sources")
    assert [f"source{n}<" in drawn for n in range(20)] == [False] * 8 + [True] * 12
    assert all(f"<td>source{n}</td>" in rest for n in range(20))
    assert "The table shows the 8 largest of 20 sources" in rest


def test_whole_page__shows_how_pairs_of_groups_begin(milled):
    pair = {"id": 5, "winner": 2, "similarity": 0.91, "stage": "shingles"}
    near = {
        "texts": 2,
        "documents": 2,
        "kept": 1,
        "pairs": 1,
        "sample": [pair],
        "starts": ["<i>a", "b"],
        "shared": "&",
    }
    copies = near | {
        "starts": ["", ""],
        "shared": "",
        "sample": [pair | {"similarity": None, "stage": "identical"}],
    }
    made = whole(milled, duplicates={"clusters": [], "largest_groups": [near, copies]})
    assert "Group 1: 5 was dropped for 2 (shingles, similarity 0.91)" in made
    assert "<h3>Document 5 begins</h3>\n<pre>&lt;i&gt;a</pre>" in made
    assert "<h3>Document 2 begins</h3>\n<pre>b</pre>" in made
    assert "<h3>Passage in both</h3>\n<pre>&amp;</pre>" in made
    assert "Group 2: 5 was dropped for 2 (identical)" in made
    assert made.count("Both texts are equal") == 1
    assert made.count("corpusmill why 5") == 2


def test_whole_page__tells_languages_or_that_no_filter_does(milled):
    none = "No filter of this run detects languages"
    assert none in whole(milled)
    made = whole(milled, {"languages": {"en": {"read": 4, "dropped": {"<b>": 1}}}})
    assert none not in made
    assert '<td>en</td><td class="number">4</td><td class="number">75.0 %</td>' in made
    assert "<th>&lt;b&gt;</th>" in made


def test_report__has_pages_with_captions(milled):
    done = snakemake(milled, "--configfile", "mine.yaml", "--report", "report.html")
    assert done.returncode == 0, done.stdout + done.stderr
    made = (milled / "report.html").read_text()
    assert "corpusmill turned raw text into tokens" in made
    results = json.loads(re.search(r"^\s*var results = (\{.*?\});?$", made, re.MULTILINE)[1])
    names = {"report.html", "funnel.html", "funnel.csv", "similarities.html", "statistics.html",
             "times.html", "times.csv", "summary.json", "summary.txt"}  # fmt: skip
    assert {result["name"] for result in results.values()} == names
    assert all("<p>" in result["caption"] for result in results.values())
    assert all(result["labels"]["result"] for result in results.values())


def test_report__is_made_anew_when_a_template_changes(milled, tmp_path):
    skipped = shutil.ignore_patterns(".*", "results", "logs", "tests", "benchmarks", "docs")
    checkout = shutil.copytree(ROOT, tmp_path / "checkout", ignore=skipped)
    asked = (milled, "--configfile", "mine.yaml", "-n", "--quiet", "rules")
    done = snakemake(*asked, checkout=checkout)
    assert "Nothing to be done" in done.stdout + done.stderr
    with (checkout / "corpusmill/mill/report/templates/base.html").open("a") as template:
        template.write("<!-- more -->")
    assert jobs(snakemake(*asked, checkout=checkout)).get("report") == 1
