"""What a run notes of its jobs' memory, whichever way Snakemake has been told of it."""

import pytest
import yaml
from workflow import small_corpus, snakemake

from corpusmill.run.job_list import JOB_LIST, load_job_list


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked")
    (folder / "mine.yaml").write_text(yaml.safe_dump(small_corpus(folder)))
    return folder


def plan(folder, *arguments):
    asked = ("--configfile", "mine.yaml", "--cores", "1", "--until", "plan", "--forceall")
    return snakemake(folder, *asked, *arguments)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("mem_mb=int(700*1.5**(attempt-1))", 700),
        ("mem_mb=threads*300", 300),
        ("mem=2GB", 2000),
    ],
)
def test_run__notes_memory_as_snakemake_evaluates_it(folder, asked, expected):
    done = plan(folder, "--set-resources", f"plan:{asked}")
    assert done.returncode == 0, done.stderr
    assert load_job_list(folder / JOB_LIST).rules["plan"].mem_mb == expected


@pytest.mark.parametrize("said", [[], ["mem_mb=max(2*input.size_mb,1000)"]])
def test_run__takes_default_resources_that_are_expressions(folder, said):
    """Remote executors add such defaults by themselves. `all` has no other memory than these; the
    run is refused for what other rules need."""
    done = snakemake(
        folder, "--configfile", "mine.yaml", "--cores", "1", "--resources", "mem_mb=200",
        "--default-resources", *said,
    )  # fmt: skip
    assert done.returncode == 1
    assert "--resources mem_mb allows 200 MB, but " in done.stderr


def test_run__refuses_less_than_an_expression_comes_to(folder):
    done = plan(folder, "--set-resources", "plan:mem_mb=threads*300", "--resources", "mem_mb=200")
    assert done.returncode == 1
    assert "--resources mem_mb allows 200 MB, but plan needs 300." in done.stderr


def test_run__counts_no_memory_by_files_that_are_not_there_yet(folder):
    by_size = ("--set-resources", "sign:mem_mb=int(1+input.size_mb)")
    done = snakemake(
        folder, "--configfile", "mine.yaml", "--cores", "1", "--until", "sign", *by_size
    )
    assert done.returncode == 0, done.stderr
    assert load_job_list(folder / JOB_LIST).rules["sign"].mem_mb == 0
