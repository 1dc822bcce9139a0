"""Everything in `results/` of a finished run against what it has to be."""

from pathlib import Path

from qa.oracle.compare_accounts import compare_accounts
from qa.oracle.compare_copies import compare_copies
from qa.oracle.compare_groups import compare_groups
from qa.oracle.compare_packing import compare_packing
from qa.oracle.compare_parts import compare_parts
from qa.oracle.compare_shards import compare_shards
from qa.oracle.compare_steps import compare_steps
from qa.oracle.compare_tables import compare_tables
from qa.oracle.document import Outcome


def differences(folder: Path, outcome: Outcome) -> list[str]:
    """A line for each difference, its file first; of a refused run only that it has no result."""
    results = folder / "results"
    if outcome.refused:
        return [
            f"results/{name}: there, though the run is refused: {outcome.refused}"
            for name in ("manifest.json", "summary.json")
            if (results / name).exists()
        ]
    compared = (compare_parts, compare_steps, compare_tables, compare_shards, compare_groups,
                compare_packing,
                compare_accounts, compare_copies)  # fmt: skip
    return [line for compare in compared for line in compare(results, outcome)]
