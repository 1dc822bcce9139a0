"""What is said of a run before it: duplicates, time, disk, the command as a whole."""

import json
import math
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from warm import warm_python
from workflow import document, write_jsonl

from corpusmill.cli.check import checked_config
from corpusmill.cli.main import main
from corpusmill.messages.progress import Silence
from corpusmill.mill.dedup.band_settings import BandSetting
from corpusmill.mill.dedup.sketches import NO_SHINGLE
from corpusmill.run.layout import Layout
from corpusmill.tools.tune.estimate.duplicates import (
    Groups,
    Range,
    chances,
    duplicates_in_all,
    groups_of,
    similar_pairs,
)
from corpusmill.tools.tune.estimate.estimating import Options, sizes_for, told
from corpusmill.tools.tune.estimate.projection import Estimate, line_through
from corpusmill.tools.tune.estimate.reading import TAKEN_BYTES, TRIAL_BYTES, Sizes
from corpusmill.tools.tune.estimate.trial import Workflow
from corpusmill.tools.tune.sample import Sampled


def seen(sizes: list[int], share: float, seed: int) -> Groups:
    """Of groups of these sizes, what a sample has: the first of each that was read stays."""
    rng = np.random.default_rng(seed)
    found = rng.binomial(sizes, share)
    dropped = np.concatenate([np.arange(k) > 0 for k in found.tolist()])
    return Groups(dropped, found[found > 1])


@pytest.mark.parametrize("share", [0.1, 0.3, 0.7])
def test_duplicates_in_all__are_near_the_truth_and_in_the_range(share):
    sizes = [1] * 50_000 + [2] * 5000 + [3] * 500 + [20] * 40
    truth = sum(size - 1 for size in sizes)
    got = duplicates_in_all(seen(sizes, share, 1), share)
    assert got.least < truth < got.most
    assert got.likely == pytest.approx(truth, rel=0.25)


def test_duplicates_in_all__of_all_are_those_that_were_found():
    groups = seen([1, 2, 5, 5], 1.0, 1)
    assert duplicates_in_all(groups, 1.0) == (9, 9, 9)


def test_chances__are_binomial():
    got = chances(5, 3, 0.3)
    for k in range(4):
        for m in range(1, 6):
            expected = math.comb(m, k) * 0.3**k * 0.7 ** max(m - k, 0)
            assert got[k, m - 1] == pytest.approx(expected)


def test_similar_pairs__are_those_that_share_a_band_and_enough_values():
    rng = np.random.default_rng(1)
    table = rng.integers(0, 2**32, (40, 12)).astype(np.uint32)
    table[7], table[9], table[30] = table[3], table[3], table[3]
    table[9, :2] += np.uint32(1)  # 10 of 12 values
    table[30, :6] += np.uint32(1)  # the half
    table[20], table[21] = NO_SHINGLE, NO_SHINGLE

    def pairs(verified: bool) -> set[tuple[int, int]]:
        found = similar_pairs(table, BandSetting(4, 3), 0.8, verified, Silence())
        return set(map(tuple, found.tolist()))

    assert {(3, 7), (3, 9)} <= pairs(True) <= {(3, 7), (3, 9), (7, 9)}
    assert any(30 in pair for pair in pairs(False))


def test_groups_of__drops_for_what_stays_and_equal_texts_for_the_first():
    digests = np.array([5, 6, 5, 7, 6, 8], np.uint64)
    got = groups_of(digests, np.array([[0, 3], [3, 5]]))
    assert got.dropped.tolist() == [False, False, True, True, True, False]
    assert sorted(got.sizes.tolist()) == [2, 3]


def test_line_through__takes_what_a_job_takes_by_itself_from_what_its_text_does():
    sizes = np.array([1e6, 9e6, 5e6])
    assert line_through(sizes, 0.5 + 2e-7 * sizes, 9.0) == pytest.approx((0.5, 2e-7))
    alike = np.array([4e6, 4e6])
    assert line_through(alike, np.array([1.0, 1.2]), 0.3) == pytest.approx((0.3, 0.8 / 4e6))
    assert line_through(np.zeros(1), np.array([0.2]), 0.3)[0] == pytest.approx(0.2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("estimated")
    texts = [document(k, words=150) for k in range(500)]
    write_jsonl(folder / "raw/a.jsonl", [{"body": text} for text in texts + texts[:100]])
    write_jsonl(folder / "raw/b.jsonl", [{"body": "short"}] * 50)
    config = {
        "sources": [{"name": "a", "files": ["raw"], "text_field": "body", "weight": 2}],
        "tokenizer": {"source": "train", "train_vocabulary": 512},
        "output": {"exports": ["nanogpt", "mds"], "sample_tokens": 10**6},
    }
    (folder / "mine.yaml").write_text(yaml.safe_dump(config))
    return folder


def test_estimate__of_a_corpus_that_is_all_read_is_what_comes_out(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "executable", warm_python())
    got = CliRunner().invoke(main, ["estimate", "mine.yaml", "--cores", "1", "--json"])
    assert got.exit_code == 0, got.output
    said = json.loads(got.stdout)
    assert (said["records"], said["documents"], said["filtered"]) == (650, 650, 600)
    assert said["duplicates"] == {"likely": 100, "least": 100, "most": 100}
    assert (said["kept"], said["taken_share"], said["cores"]) == (1000, 1, 1)
    size = sum(len(document(k, words=150)) for k in range(500))
    assert said["kept_bytes"] == 2 * size
    assert size / 4 < said["tokens"] < 2 * size
    # Longer samples than this corpus has are no fault of a sample of it.
    assert said["exports_disk_bytes"] == pytest.approx(2 * 2 * said["tokens"], rel=0.2)
    assert said["exports_disk_bytes"] < said["kept_disk_bytes"] < said["disk_bytes"]
    stages = {stage["name"]: stage for stage in said["stages"]}
    assert {"read", "filter", "find duplicates", "shuffle", "tokenize"} <= set(stages)
    assert all(stage["jobs"] and stage["mem_mb"] >= 500 for stage in said["stages"])
    assert not {path.name for path in folder.iterdir()} - {"raw", "mine.yaml"}


def estimate_of(folder: Path, monkeypatch, **sections) -> dict:
    """Of the same corpus with other sections, from a trial with a part of it."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "executable", warm_python())
    sizes = Sizes(10**9, 10**9, 150_000)
    monkeypatch.setattr("corpusmill.tools.tune.estimate.estimating.sizes_for", lambda *given: sizes)
    config = yaml.safe_load((folder / "mine.yaml").read_text()) | {"output": {}} | sections
    (folder / "other.yaml").write_text(yaml.safe_dump(config))
    got = CliRunner().invoke(main, ["estimate", "other.yaml", "--cores", "1", "--json"])
    (folder / "other.yaml").unlink()
    assert got.exit_code == 0, got.output
    return json.loads(got.stdout)


def test_estimate__counts_packed_rows(folder, monkeypatch):
    without, packed = (
        estimate_of(folder, monkeypatch, output={"pack": pack}) for pack in ([], [2])
    )
    assert packed["milled_bytes"] < packed["text_bytes"] / 2
    more = packed["kept_disk_bytes"] - without["kept_disk_bytes"]
    assert more == pytest.approx((16 / 2 + 8 / 2) * packed["tokens"], rel=0.2)


@pytest.mark.parametrize(("unit", "figure"), [("bytes", "kept_bytes"), ("documents", "kept")])
def test_estimate__of_a_mixture_has_its_budget(folder, monkeypatch, unit, figure):
    # More than the sample has.
    size = {"bytes": 800_000, "documents": 800}[unit]
    mixture = {"budget": {unit: size}, "shares": {"a": 1}, "max_epochs": 2}
    stages = [{"name": "one", "exclude": []}, {"name": "two", "budget": {unit: size // 2}}]
    none = {"validation": 0, "test": 0}
    of_train = estimate_of(folder, monkeypatch, mixture=mixture, splits=none)
    assert of_train[figure] == pytest.approx(size, rel=0.05)
    of_stages = estimate_of(folder, monkeypatch, mixture=mixture, stages=stages, splits=none)
    assert of_stages[figure] == pytest.approx(1.5 * size, rel=0.05)


def told_of(**changed) -> list[str]:
    """What is said of figures."""
    found = Estimate(
        records=100, documents=100, text_bytes=1e6, filtered=90, duplicates=Range(1, 1, 1),
        kept=89, kept_bytes=1e6, tokens=5, stages=[], seconds=1, cpu_seconds=1, cores=1,
        disk_bytes=1, kept_disk_bytes=1, taken_share=1.0, compared=90, exports_disk_bytes=0,
        milled_bytes=2_000_000, mixture={},
    )  # fmt: skip
    return list(told(found._replace(**changed)))


def test_told__says_what_was_compared_and_how():
    last = told_of()[-1]
    assert last.startswith(
        "All 100 documents were read. The 90 documents that passed the filters were compared"
    )
    assert "by sketches. Held-out texts and repeated spans were not searched for." in last
    assert last.endswith("come from a trial run on 2 MB.")
    (some, _) = told_of(taken_share=0.25)[-2:]
    assert some.startswith("Only 25.0% of the input was read. The 90 documents of it that passed")


def test_share__of_a_source_of_which_nothing_was_taken_is_none():
    def of(documents: float, sampled: int) -> tuple[float, float]:
        told = Sampled("a", 1, 10, 1.0, 9, documents, 0, sampled, 0, [])
        return told.share, told.weight

    assert (of(9, 9), of(16, 4), of(8, 0), of(0, 0)) == ((1, 1), (0.25, 4), (0, 8), (1, 0))


SLOW = """
from corpusmill.mill.filters.declaration import Filter, Value, below, count


class Slow(Filter):
    fate = "slow"
    settings = {"least": count(1, "Nothing.")}
    values = {"seen": Value("uint32", "nothing")}
    limits = (below("seen", "least"),)

    def measure(self, texts):
        import time
        import numpy as np

        time.sleep(texts.offsets[-1] / 2e6)
        return {"seen": np.ones(len(texts.offsets) - 1, np.uint32)}
"""


def test_sizes_for__are_what_the_time_allows(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "slow.py").write_text(SLOW)
    write_jsonl(folder / "big/a.jsonl", [{"text": document(k, words=150)} for k in range(9000)])
    (folder / "big.yaml").write_text(
        "sources: [{name: a, files: [big]}]\nfilters: [{name: slow, file: slow.py}]\n"
    )
    config = checked_config([Path("big.yaml")])
    layout = Layout.planned(config, Path("results"), {})
    (folder / "scratch").mkdir()
    got = sizes_for(config, layout, Options(1, 1000, 10), folder / "scratch")
    # 2 MB of text are filtered in a second, and a fifth of the time is for that.
    assert 500_000 < got.taken < 4_200_000
    assert got.trial < 1_100_000
    more = sizes_for(config, layout, Options(1, 1000, 10**6), folder)
    assert more == (1_000_000_000, TAKEN_BYTES, TRIAL_BYTES)


def test_estimate__says_how_far_it_is(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "executable", warm_python())
    monkeypatch.setattr("corpusmill.messages.progress.SAY_EVERY_SECONDS", 0.05)
    got = CliRunner().invoke(main, ["estimate", "mine.yaml", "--cores", "1"])
    assert got.exit_code == 0, got.output
    assert re.search(r"^processing a sample: [1-9]\d* of \d+ jobs, ", got.stderr, re.MULTILINE)
    assert not re.search(r"^[a-z ]+: 0 MB \(", got.stderr, re.MULTILINE)


def test_estimate__without_documents_says_so(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "none.jsonl").write_text('{"text": 1}\n')
    (folder / "none.yaml").write_text("sources: [{name: a, files: [none.jsonl]}]\n")
    got = CliRunner().invoke(main, ["estimate", "none.yaml"])
    (folder / "none.jsonl").unlink()
    (folder / "none.yaml").unlink()
    assert got.exit_code == 1
    assert "none of the first records (1)" in got.stderr.splitlines()[-1]


def test_workflow__plans_by_events_and_says_why_it_is_refused(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    config = checked_config([Path("mine.yaml")])
    planning = Workflow(tmp_path / "plan", config, "--cores", "1", "--dry-run")
    jobs, mem_mb = planning.end()
    planning.stop()
    assert jobs["normalize"] == jobs["sign"] == 1
    assert jobs["encode"] == 3
    assert mem_mb["encode"] > 500
    assert not {"all", "total"} & set(jobs)
    lacking = replace(config, sources=[replace(config.sources[0], files=["none.jsonl"])])
    refused = Workflow(tmp_path / "refused", lacking, "--cores", "1", "--dry-run")
    with pytest.raises(ValueError, match="the whole run would fail") as caught:
        refused.end()
    refused.stop()
    assert str(caught.value).splitlines()[1].startswith('source "a": no file matches none.jsonl')
