"""Whole runs with a mixture."""

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_verify import seal
from tokenizer_kinds import byte_level
from warm import warm_python
from workflow import ROOT, digests, mill, small_corpus, snakemake, summary

from corpusmill.mill.storage.files import as_json, own_digest
from corpusmill.reader import Chosen, Corpus, Shrunk


def ledger(folder: Path) -> pa.Table:
    return pa.concat_tables(
        [pq.read_table(file) for file in sorted((folder / "results/ledger").glob("*.parquet"))]
    )


def config_of(folder: Path, **mixture) -> dict:
    config = small_corpus(folder)
    config["tokenizer"] = {"source": byte_level(folder / "tokenizer")}
    return config | {"mixture": mixture}


def placements(folder: Path) -> pa.Table:
    files = sorted((folder / "results/placements/train").glob("*.parquet"))
    return pa.concat_tables([pq.read_table(file) for file in files])


@pytest.fixture(scope="module")
def mixed(tmp_path_factory) -> Path:
    """One run of a mixture by tokens, source, a member and the size of clusters."""
    folder = tmp_path_factory.mktemp("mixed")
    config = config_of(
        folder,
        budget={"tokens": 300_000},
        by=["source", {"member": "where.source"}, {"value": "text_bytes", "quantiles": 2}],
        shares={"one": 0.5, "two": 0.2, "three": 0.3},
        copies=[{"by": "duplicates", "curve": {1: 1, 2: 3}}],
        max=6,
    )
    mill(folder, config)
    return folder


def test_mixture__reaches_its_shares(mixed):
    told = summary(mixed)["mixture"]["train"]
    lengths = Counter()
    longest = Counter()
    for row in placements(mixed).to_pylist():
        size = row["token_end"] - row["token_start"]
        lengths[row["source"]] += size
        longest[row["source"]] = max(longest[row["source"]], size)
    for source, share in {"one": 0.5, "two": 0.2, "three": 0.3}.items():
        assert abs(lengths[source] - share * 300_000) <= longest[source]
    assert 0 <= 300_000 - lengths.total() <= max(longest.values())
    assert sum(cell["reached"] for cell in told["cells"]) == lengths.total()
    assert summary(mixed)["tokens"]["train"] == lengths.total()
    assert {cell["cell"][1] for cell in told["cells"]} == {"one", "two", "three"}


def test_mixture__copies_in_the_ledger_are_those_in_the_shards(mixed):
    rows = ledger(mixed).to_pylist()
    copies = {row["id"]: row["copies"] for row in rows if row["split"] == "train"}
    assert Counter(placements(mixed)["id"].to_pylist()) == copies
    assert max(copies.values()) <= 6
    assert any(row["fate"] == "left_over" for row in rows)
    assert all(row["copies"] == 1 for row in rows if row["split"] in ("validation", "test"))


def test_mixture__repeats_documents_with_duplicates_more(mixed):
    rows = [row for row in ledger(mixed).to_pylist() if row["source"] == "one"]
    winners = {row["winner"] for row in ledger(mixed).to_pylist() if row["fate"] == "duplicate"}
    mean = {}
    for has in (True, False):
        its = [row["copies"] or 0 for row in rows
               if (row["id"] in winners) == has
               and (row["split"] == "train" or row["fate"] == "left_over")]  # fmt: skip
        mean[has] = sum(its) / len(its)
    assert mean[True] == pytest.approx(3 * mean[False], rel=0.3)


def test_mixture__is_the_same_for_one_core_and_after_files_were_added_in_two_runs(mixed, tmp_path):
    config = json.loads(json.dumps(config_of(tmp_path, **mixture_of(mixed))))
    late = [tmp_path / f"raw/{source}/1.jsonl" for source in ("one", "two", "three")]
    mill(tmp_path, config, "--cores", "1")
    assert digests(tmp_path) == digests(mixed)
    assert all(path.exists() for path in late)
    done = snakemake(
        tmp_path, "--configfile", "mine.yaml", "--cores", "2", "-n", "--quiet", "rules"
    )
    assert "Nothing to be done" in done.stdout + done.stderr


def mixture_of(folder: Path) -> dict:
    return json.loads((folder / "results/summary.json").read_text())["configuration"]["mixture"]


def test_mixture__validation_and_test_stay_as_without_one(mixed, tmp_path):
    config = config_of(tmp_path)
    del config["mixture"]
    mill(tmp_path, config)
    same = [name for name in digests(mixed) if "/validation/" in name or "/test/" in name]
    both = [{name: one[name] for name in same if name.endswith((".bin", ".zst"))}
            for one in (digests(mixed), digests(tmp_path))]  # fmt: skip
    assert both[0] == both[1]


def test_mixture__a_changed_budget_only_runs_what_follows(mixed, tmp_path):
    again = snakemake(
        mixed, "--configfile", "mine.yaml", "--cores", "2", "-n", "--quiet", "rules", "--config",
        'mixture={"budget": {"tokens": 200000}}',
    )  # fmt: skip
    said = again.stdout + again.stderr
    assert "apportion" in said
    assert "scatter" in said
    assert "normalize" not in said
    assert "\ncount" not in said


def test_mixture__without_a_budget_gives_the_copies_of_its_curves(tmp_path):
    config = config_of(tmp_path, copies=[{"by": "duplicates", "curve": {1: 1, 2: 2}}])
    mill(tmp_path, config)
    rows = ledger(tmp_path).to_pylist()
    winners = {row["winner"] for row in rows if row["fate"] == "duplicate"}
    for row in rows:
        if row["split"] == "train":
            assert row["copies"] == (2 if row["id"] in winners else 1)


def test_mixture__why_tells_the_cell_of_a_document(mixed):
    rows = ledger(mixed).to_pylist()
    left = next(row for row in rows if row["fate"] == "left_over")
    used = max((row for row in rows if row["split"] == "train"), key=lambda row: row["copies"])
    for row, number in ((left, "no copy"), (used, f"{used['copies']} copies")):
        said = " ".join(corpusmill(mixed, "why", str(row["id"])).split())
        assert f"It is in the cell {row['source']}:{row['source']}:q" in said
        assert "(by source, where.source, text_bytes), which has a share of 0." in said
        assert "Its factors: " in said
        assert f"gets {number} (at most 6)." in said


def corpusmill(folder: Path, *arguments: str, code: int = 0) -> str:
    done = subprocess.run(
        [warm_python(), "-m", "corpusmill", *arguments], env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done.stdout


def test_mixture__why_needs_no_file_of_shares(mixed, tmp_path):
    shutil.copytree(mixed / "results", tmp_path / "results")
    told = summary(mixed)
    told["configuration"]["mixture"]["shares"] = {"file": str(tmp_path / "gone.csv")}
    (tmp_path / "results/summary.json").write_text(json.dumps(told))
    row = next(
        row for row in ledger(mixed).to_pylist() if row["copies"] and row["split"] == "train"
    )
    assert "It is in the cell " in " ".join(corpusmill(tmp_path, "why", str(row["id"])).split())


def test_groups__are_those_of_the_account(mixed, tmp_path):
    train = Corpus(mixed / "results").split("train")
    placed, account = placements(mixed), summary(mixed)["mixture"]["train"]
    numbers = np.load(mixed / "results/tokens/train/groups.npy")
    assert [train.groups[n].source for n in numbers.tolist()] == placed["source"].to_pylist()
    copies, sizes = Counter(), Counter()
    for group in train.groups:
        assert group.cell[0] == group.source
        copies[group.cell] += group.documents
        sizes[group.cell] += group.tokens
    for cell in account["cells"]:
        of_cell = Counter({int(n): k for n, k in cell["documents_by_copies"].items()})
        assert copies[tuple(cell["cell"])] == sum(n * k for n, k in of_cell.items())
        assert sizes[tuple(cell["cell"])] == cell["reached"]
    web = Chosen(train, cells=[("one", "one")])
    assert web.tokens == sum(size for cell, size in sizes.items() if cell[:2] == ("one", "one"))
    validation = Corpus(mixed / "results").split("validation")
    assert {group.cell for group in validation.groups} == {None}
    shutil.copytree(mixed, tmp_path / "run")
    summed = tmp_path / "run/results/summary.json"
    content = json.loads(summed.read_text())
    by_copies = content["mixture"]["train"]["cells"][0]["documents_by_copies"]
    by_copies["1"] = by_copies.get("1", 0) + 1
    content["sha256"] = own_digest({k: v for k, v in content.items() if k != "sha256"})
    summed.write_text(as_json(content))
    done = verified(tmp_path / "run")
    assert done.returncode == 1
    assert re.search("the cell .* copies, the shards of train have", done.stdout)


def verified(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [warm_python(), "-m", "corpusmill", "verify", "results", "--deep"],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=folder, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip


def test_mixture__is_verified_and_proved(mixed):
    corpusmill(mixed, "verify", "results", "--deep")
    said = corpusmill(mixed, "prove", "--parts", "2", "--shards", "1")
    assert "the copies of documents in train" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda cell: cell["documents_by_copies"].update({"6": 1000}), "copies of the mixture in"),
        (lambda cell: cell.update(reached=cell["reached"] + 1, counted=cell["counted"] + 1),
         "tokens of the mixture in train"),
    ],
)  # fmt: skip
def test_mixture__verify_compares_its_account_with_ledger_and_shards(mixed, tmp_path, change, said):
    shutil.copytree(mixed / "results", tmp_path / "results")
    seal(
        tmp_path / "results/summary.json",
        lambda told: change(told["mixture"]["train"]["cells"][0]),
    )
    assert said in corpusmill(tmp_path, "verify", "results", "--deep", code=1)


@pytest.mark.parametrize(
    ("mixture", "said"),
    [
        ({"budget": {"documents": 10**5}}, "mixture: the cell one has"),
        ({"budget": {"documents": 10**3}, "max_epochs": {"all": 1.5}},
         "but max_epochs.all (1.5) allows"),
        ({"budget": {"bytes": 1000}, "by": [{"member": "nothing", "missing": "fail"}]},
         "have no value for nothing"),
        ({"budget": {"bytes": 1000}, "by": [{"member": "where.source"}],
          "shares": {"one": 0.5, "thre": 0.5}}, "is in the cell thre. Did you mean three"),
    ],
)  # fmt: skip
def test_mixture__stops_before_the_shuffle(tmp_path, mixture, said):
    config = config_of(tmp_path, **mixture)
    (tmp_path / "mine.yaml").write_text(json.dumps(config))
    done = snakemake(tmp_path, "--configfile", "mine.yaml", "--cores", "2")
    assert done.returncode
    assert said in done.stdout + done.stderr
    assert not (tmp_path / "results/scatter").exists()


def test_mixture_command__shows_and_writes_what_a_run_can_read(mixed, tmp_path):
    said = corpusmill(mixed, "mixture", "--write", str(tmp_path / "r.csv"), "--page",
                      str(tmp_path / "p.html"))  # fmt: skip
    assert said.startswith("mixture: 29")
    assert "<svg" in (tmp_path / "p.html").read_text()
    account = json.loads(corpusmill(mixed, "mixture", "--json"))["splits"]["train"]
    assert account == summary(mixed)["mixture"]["train"]
    header, row = (tmp_path / "r.csv").read_text().splitlines()
    assert len(header.split(",")) == len(row.split(",")) == 1 + len(account["cells"])
    again = mixture_of(mixed) | {"shares": {"file": str(tmp_path / "r.csv")}}
    (tmp_path / "again.yaml").write_text(json.dumps({"mixture": again}))
    tried = json.loads(
        corpusmill(mixed, "mixture", "--json", "--try", str(tmp_path / "again.yaml"))
    )
    other_cells = tried["splits"]["train"]["cells"]
    for one, other in zip(account["cells"], other_cells, strict=True):
        assert abs(one["reached"] - other["reached"]) <= 0.01 * one["reached"] + 2000


def test_mixture_command__try_equals_a_run(mixed, tmp_path):
    other = mixture_of(mixed) | {"budget": {"tokens": 200_000}, "shares": "proportional"}
    (tmp_path / "other.yaml").write_text(json.dumps({"mixture": other}))
    tried = json.loads(
        corpusmill(mixed, "mixture", "--json", "--try", str(tmp_path / "other.yaml"))
    )
    config = config_of(tmp_path)
    mill(tmp_path, config | {"mixture": other})
    assert tried["splits"] == summary(tmp_path)["mixture"]


@pytest.mark.parametrize(
    ("mixture", "said"),
    [
        ({"by": ["source"]}, "expected the section mixture or stages"),
        ({"mixture": {"budget": {"bytes": 9}}}, "this run counted tokens, not bytes"),
        ({"mixture": {"budget": {"tokens": 9}, "by": [{"member": "n"}]}}, "did not collect n"),
        ({"mixture": {"budget": {"tokens": 10**9}}}, "is the largest budget"),
        ({"mixture": {"by": ["nothing"]}}, "no filter measures nothing"),
    ],
)  # fmt: skip
def test_mixture_command__refuses(mixed, tmp_path, mixture, said):
    (tmp_path / "other.yaml").write_text(json.dumps(mixture))
    done = subprocess.run(
        [warm_python(), "-m", "corpusmill", "mixture", "--try", str(tmp_path / "other.yaml")],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=mixed, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


STAGES = [
    {"name": "stable", "budget": {"tokens": 150_000},
     "shares": {"one": 0.5, "two": 0.5, "three": 0}},
    {"name": "decay", "budget": {"tokens": 60_000}, "shares": "proportional", "seed": 7,
     "exclude": ["stable"], "by": [{"value": "text_bytes", "quantiles": 2}]},
    {"name": "again", "budget": {"tokens": 90_000}, "by": [{"member": "where.source"}]},
]  # fmt: skip


def test_shrink__of_the_corpus_and_of_other_mixtures(mixed, tmp_path):
    train = Corpus(mixed / "results").split("train")
    out = tmp_path / "proxy"
    corpusmill(mixed, "shrink", "--tokens", "1e5", "--out", str(out))
    copies = Counter(placements(mixed)["id"].to_pylist())
    ids = placements(mixed)["id"].to_pylist()
    listed = np.load(out / "documents.npy").tolist()
    assert np.load(out / "copies.npy")[0].tolist() == [copies[ids[number]] for number in listed]
    assert abs(Shrunk(train, out).tokens - 100_000) < 10_000
    mixture = mixture_of(mixed) | {"shares": {"one": 0.2, "two": 0.2, "three": 0.6}}
    (tmp_path / "other.yaml").write_text(json.dumps({"mixture": mixture | {"max": 50}}))
    said = json.loads(
        corpusmill(mixed, "shrink", "--tokens", "1e5", "--out", str(out), "--json", "--try",
                   str(tmp_path / "other.yaml"))
    )  # fmt: skip
    (told,) = said["mixtures"]
    assert told["name"] == "other"
    shrunk = Shrunk(train, out)
    assert shrunk.tokens == told["tokens"]
    assert abs(shrunk.tokens - 100_000) < 2_000
    (tmp_path / "r.csv").write_text("run,one,two,three\nx,0.5,0.25,0.25\ny,0.2,0.2,0.6\n")
    corpusmill(mixed, "shrink", "--tokens", "1e5", "--out", str(out), "--ratios",
               str(tmp_path / "r.csv"), "--try", str(tmp_path / "other.yaml"))  # fmt: skip
    assert Shrunk(train, out, "y").tokens == told["tokens"]
    assert Shrunk(train, out, "x").tokens != told["tokens"]


@pytest.mark.parametrize(
    ("mixture", "arguments", "said"),
    [
        (None, ["--target-tokens", "1e6"], "expected mixtures, from --try or --ratios"),
        ({"budget": {"tokens": 10_000}}, [], "expected at most the 10,000 tokens of the target"),
        ({"budget": {"bytes": 10**6}}, [], "expected a budget in tokens, found bytes"),
        ({"by": ["source"]}, [], "expected mixture.budget, the tokens of the target"),
        ({"by": ["source"], "budget": {"tokens": 10**9}}, [], "mine: mixture: the cell one has"),
        ({"by": [{"member": "where.else"}], "budget": {"tokens": 200_000}}, [],
         "the run did not collect where.else"),
    ],
)  # fmt: skip
def test_shrink__refuses(mixed, tmp_path, mixture, arguments, said):
    if mixture is not None:
        (tmp_path / "mine.yaml").write_text(json.dumps({"mixture": mixture}))
        arguments = ["--try", str(tmp_path / "mine.yaml"), *arguments]
    done = subprocess.run(
        [warm_python(), "-m", "corpusmill", "shrink", "--tokens", "1e5", "--out",
         str(tmp_path / "proxy"), *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=mixed, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "proxy").exists()


@pytest.fixture(scope="module")
def staged(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("staged")
    config = config_of(folder, by=["source"], max=3)
    mill(
        folder,
        config | {"stages": STAGES, "output": config["output"] | {"join": True, "pack": [128]}},
    )
    return folder


def ids_in(folder: Path, split: str) -> Counter:
    files = sorted((folder / f"results/placements/{split}").glob("*.parquet"))
    return Counter(pa.concat_tables([pq.read_table(file) for file in files])["id"].to_pylist())


def test_stages__have_shards_of_their_own(staged):
    tokens = summary(staged)["tokens"]
    assert list(tokens) == ["again", "decay", "stable", "validation", "test"]
    for stage in STAGES:
        budget = stage["budget"]["tokens"]
        assert 0 <= budget - tokens[stage["name"]] <= 2000
    assert not (staged / "results/tokens/train").exists()
    corpus = Corpus(staged / "results")
    assert corpus.splits == ["again", "decay", "stable", "validation", "test"]
    assert corpus.split("decay").tokens == tokens["decay"]
    cells = summary(staged)["mixture"]["again"]["cells"]
    assert [cell["cell"] for cell in cells] == [["one"], ["three"], ["two"]]
    assert (staged / "results/tokens/decay.bin").stat().st_size == 2 * tokens["decay"]


def test_stages__do_not_use_documents_of_excluded_stages(staged):
    stable, decay, again = (ids_in(staged, one["name"]) for one in STAGES)
    assert not set(stable) & set(decay)
    assert set(stable) & set(again)
    rows = {row["id"]: row for row in ledger(staged).to_pylist() if row["split"] == "train"}
    for name, copies in (("stable", stable), ("decay", decay), ("again", again)):
        of_ledger = {id: row[f"{name}_copies"] for id, row in rows.items() if row[f"{name}_copies"]}
        assert of_ledger == copies
    assert {id: row["copies"] for id, row in rows.items()} == stable + decay + again


def test_stages__are_verified_proved_and_explained(staged):
    corpusmill(staged, "verify", "results", "--deep")
    corpusmill(staged, "prove", "--parts", "2", "--shards", "3")
    row = next(row for row in ledger(staged).to_pylist() if row["split"] == "train"
               and row["stable_copies"] and row["again_copies"])  # fmt: skip
    said = " ".join(corpusmill(staged, "why", str(row["id"])).split())
    assert "Stage stable: It is in the cell " in said
    assert "Stage decay: It is used by stable, whose documents are excluded." in said
    assert "results/corpus/stable/" in said
    assert "results/corpus/again/" in said
    shown = corpusmill(staged, "mixture", "--page", str(staged / "p.html"))
    assert "tokens in decay of a budget of 60,000" in shown
    assert (staged / "p.html").read_text().count("<h2>Stage ") == 3


def test_stages__are_the_same_for_one_core(staged, tmp_path):
    config = config_of(tmp_path, by=["source"], max=3)
    output = config["output"] | {"join": True, "pack": [128]}
    mill(tmp_path, config | {"stages": STAGES, "output": output}, "--cores", "1")
    assert digests(tmp_path) == digests(staged)


def test_check__names_a_member_of_a_stage_that_no_record_has(tmp_path):
    stage = {"name": "a", "budget": {"bytes": 9000}, "by": [{"member": "where.sorce"}]}
    config = small_corpus(tmp_path) | {"stages": [stage]}
    (tmp_path / "mine.yaml").write_text(json.dumps(config))
    said = " ".join(corpusmill(tmp_path, "check", "mine.yaml").split())
    assert "mixture.by needs the member where.sorce, but none of the first records has it" in said
    assert "Did you mean where.source" in said


@pytest.mark.parametrize(
    ("stages", "said"),
    [
        ([{"name": "a"}], "stages: a: expected a budget or copies"),
        ([{"name": "train", "budget": {"bytes": 9}}], "this name is that of a split"),
        ([{"name": "a", "budget": {"bytes": 9}}, {"name": "a", "budget": {"bytes": 9}}],
         "two stages have this name"),
        ([{"name": "a", "budget": {"bytes": 9}, "exclude": ["b"]}], "b is no earlier stage"),
        ([{"name": "a", "budget": {"bytes": 9}}, {"name": "b", "budget": {"documents": 9}}],
         "expected budgets in one unit, found bytes, documents"),
        ([{"name": "A", "budget": {"bytes": 9}}], "stages[0].name: 'A' is not valid"),
        ([{"name": "a", "budget": {"bytes": 9}, "shares": {"one": 1}}], "no share for source"),
    ],
)  # fmt: skip
def test_stages__refuse(tmp_path, stages, said):
    config = small_corpus(tmp_path) | {"stages": stages}
    (tmp_path / "mine.yaml").write_text(json.dumps(config))
    done = snakemake(tmp_path, "--configfile", "mine.yaml", "-n", "-q")
    assert done.returncode
    assert said in done.stdout + done.stderr
