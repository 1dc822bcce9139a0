"""The mixture of a finished run, and what a different one would give, without a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from corpusmill.mill.account.mixture_account import Account, account_of_composition
from corpusmill.mill.decide.candidates import CandidateTables, names_of_blocks
from corpusmill.mill.decide.composition import Tally, chosen_by_stages, compose_stages
from corpusmill.mill.decide.mixture import Stage, label_column, labels_of, numbers_of
from corpusmill.mill.storage.regular_files import regular_state
from corpusmill.mill.storage.untrusted import load_plain_json
from corpusmill.run.config import Config
from corpusmill.run.config_files import read_config_file
from corpusmill.run.mixture_config import stage_faults
from corpusmill.run.workflow_files import workflow_home
from corpusmill.tools.why.results import Results

MOST_TABLES = 100_000


def mixtures_of(results: Path) -> dict[str, Account]:
    """Return the accounts of a finished run's mixtures, by split; raise ValueError if it used
    none."""
    Results(results)  # refuses an unfinished run
    accounts = load_plain_json(results / "summary.json").get("mixture")
    if not isinstance(accounts, dict):
        raise ValueError(
            f"{results}: this run used no mixture. Set mixture.budget or mixture.copies, and run "
            "again."
        )
    return accounts


def tried(results: Path, configs: Sequence[Path]) -> dict[str, Account]:
    """Return the accounts that the mixtures in config files would have with a run's candidates."""
    config = with_mixture_of(Results(results).config, configs)
    stages = config.composed
    tables = tables_of(results, stages)
    found = compose_stages(tables, stages)
    tallies = {stage.split: Tally(len(stage.composition.supplies)) for stage in found}
    for columns in tables.pieces():
        for split, chosen in chosen_by_stages(found, columns).items():
            tallies[split].add(chosen.cells, columns["size"], chosen.copies)
    return {
        stage.split: account_of_composition(
            stage.composition.told(), [tallies[stage.split].counts()]
        )
        for stage in found
    }


def with_mixture_of(config: Config, files: Sequence[Path]) -> Config:
    """Return a run's configuration with the sections `mixture` and `stages` of config files over
    the defaults."""
    shipped = read_config_file(workflow_home() / "config.yaml").value
    given = dict(config.given) | {name: shipped[name] for name in ("mixture", "stages")}
    for file in files:
        found = read_config_file(file)
        if found.repeated_keys:
            raise ValueError("\n".join(found.repeated_keys))
        value = found.value if isinstance(found.value, dict) else {}
        if not {"mixture", "stages"} & set(value):
            raise ValueError(f"{file}: expected the section mixture or stages. Add one.")
        given["mixture"] = given["mixture"] | value.get("mixture", {})
        given["stages"] = value.get("stages", given["stages"])
    read = Config.read(given)
    faults = stage_faults(read) if read.stages else read.mixture.faults(read)
    if told := list(faults):
        raise ValueError("\n".join(told))
    return read


def tables_of(results: Path, stages: list[Stage], any_unit: bool = False) -> CandidateTables:
    """Return a run's candidates; raise ValueError if they do not have what mixtures need. any_unit:
    their sizes are not used."""
    counts = sorted((results / "candidates").glob("[0-9]*.json"))[:MOST_TABLES]
    reports = sorted((results / "mixture").glob("*.json"))
    if not counts or not reports:
        raise ValueError(
            f"{results}/candidates: found no tables. A run with a mixture makes them. If they were "
            "removed, run again: corpusmill run"
        )
    ran = load_plain_json(reports[0])["unit"]
    if stages and not any_unit and stages[0].mixture.unit != ran:
        told = f"this run counted {ran}, not {stages[0].mixture.unit}"
        raise ValueError(f"mixture.budget: {told}. Give the budget in {ran}.")
    tables = [file.with_suffix(".arrow") for file in counts]
    regular_state(tables[0])
    with pa.memory_map(str(tables[0])) as source:
        there = pa.ipc.open_file(source).schema.names
    labels, numbers = labels_of(stages), numbers_of(stages)
    for name in (*map(label_column, labels), *numbers):
        if name not in there:
            value = name.removeprefix("label:").removeprefix("member:")
            raise ValueError(
                f"mixture: the run did not collect {value}. Use it in the mixture of the run, and "
                "run again; only the steps from weigh on run."
            )
    names = names_of_blocks([load_plain_json(file) for file in counts], labels)
    sources = list(stages[0].mixture.weights) if stages else []
    return CandidateTables(tables, sources, names, numbers)


def as_json(accounts: dict[str, Account]) -> dict[str, Any]:
    return {"corpusmill.mixture": 1, "splits": accounts}
