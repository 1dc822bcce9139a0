"""The mixture of a finished run, and what a different one would give, without a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from corpusmill.mill.account.mixture_account import Account, account_of_composition
from corpusmill.mill.decide.candidates import CandidateTables
from corpusmill.mill.decide.composition import Tally, compose, copies_of_part
from corpusmill.mill.decide.mixture import NONE, Mixture
from corpusmill.mill.storage.regular_files import regular_state
from corpusmill.mill.storage.untrusted import load_plain_json
from corpusmill.run.config import Config
from corpusmill.run.config_files import read_config_file
from corpusmill.run.workflow_files import workflow_home
from corpusmill.tools.why.results import Results

MOST_TABLES = 100_000


def mixture_of(results: Path) -> Account:
    """Return the account of a finished run's mixture; raise ValueError if it used none."""
    Results(results)  # refuses an unfinished run
    account = load_plain_json(results / "summary.json").get("mixture")
    if not isinstance(account, dict):
        raise ValueError(
            f"{results}: this run used no mixture. Set mixture.budget or mixture.copies, and run "
            "again."
        )
    return account


def tried(results: Path, configs: Sequence[Path]) -> Account:
    """Return the account that the mixture in config files would have with a run's candidates."""
    config = with_mixture_of(Results(results).config, configs)
    mixture = config.mixture.settings(config)
    tables = tables_of(results, mixture)
    composed = compose(tables)
    tally = Tally(len(composed.supplies))
    for columns in tables.pieces():
        copies, cells = copies_of_part(composed, mixture, columns)
        tally.add(cells, columns["size"], copies)
    return account_of_composition(composed.told(tables), [tally.counts()])


def with_mixture_of(config: Config, files: Sequence[Path]) -> Config:
    """Return a run's configuration with the section `mixture` of config files over the defaults."""
    shipped = read_config_file(workflow_home() / "config.yaml").value
    given = dict(config.given) | {"mixture": shipped["mixture"]}
    for file in files:
        found = read_config_file(file)
        if found.repeated_keys:
            raise ValueError("\n".join(found.repeated_keys))
        value = found.value if isinstance(found.value, dict) else {}
        if "mixture" not in value:
            raise ValueError(f"{file}: expected the section mixture, found none. Add it.")
        given["mixture"] = given["mixture"] | value["mixture"]
    read = Config.read(given)
    if faults := list(read.mixture.faults(read)):
        raise ValueError("\n".join(faults))
    return read


def tables_of(results: Path, mixture: Mixture) -> CandidateTables:
    """Return a run's candidates; raise ValueError if they do not have what the mixture needs."""
    counts = sorted((results / "candidates").glob("[0-9]*.json"))[:MOST_TABLES]
    if not counts:
        raise ValueError(
            f"{results}/candidates: found no tables. A run with a mixture makes them. If they were "
            "removed, run again: corpusmill run"
        )
    ran = load_plain_json(results / "mixture/cells.json")["unit"]
    if mixture.unit != ran:
        told = f"this run counted {ran}, not {mixture.unit}"
        raise ValueError(f"mixture.budget: {told}. Give the budget in {ran}.")
    blocks = [load_plain_json(file) for file in counts]
    tables = [file.with_suffix(".arrow") for file in counts]
    regular_state(tables[0])
    with pa.memory_map(str(tables[0])) as source:
        there = pa.ipc.open_file(source).schema.names
    for name in (*mixture.labels, *mixture.numbers):
        if name not in there:
            raise ValueError(
                f"mixture: the run did not collect {name.removeprefix('member:')}. Use it in the "
                "mixture of the run, and run again; only the steps from weigh on run."
            )
    labels = {
        name: sorted({one for block in blocks for one in block["labels"].get(name, [])} - {NONE})
        for name in mixture.labels
    }
    return CandidateTables(tables, mixture, labels)


def as_json(account: Account) -> dict[str, Any]:
    return {"corpusmill.mixture": 1, **account}
