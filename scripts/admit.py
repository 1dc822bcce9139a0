"""Refuse the corpus if more of its records are malformed than the config allows."""

import itertools
import logging
from pathlib import Path

from corpusmill.files import load_json, save_json
from corpusmill.step_log import step_log

SHOW = 10


def admit(counts: list[Path], quarantine: list[Path], most: float, admitted: Path) -> None:
    records = malformed = 0
    for file in counts:
        for count in load_json(file)["by_source"].values():
            records += count.get("records", 0)
            malformed += count.get("malformed", 0)
    share = malformed / max(records, 1)
    logging.info("%d of %d records are malformed (%.4f %%)", malformed, records, 100 * share)
    if share > most:
        shown = []
        for file in quarantine:
            with open(file, encoding="utf-8") as lines:
                shown += [line.strip() for line in itertools.islice(lines, SHOW - len(shown))]
        raise ValueError(
            f"{malformed} of {records} records are malformed ({100 * share:.3f} %), more than "
            f"input.max_malformed_fraction ({most}) allows. All of them, with file, line, offset "
            f"and reason: results/quarantine/*.jsonl. The first:\n" + "\n".join(shown) + "\n"
            "Repair them, or raise input.max_malformed_fraction."
        )
    save_json(admitted, {"records": records, "malformed": malformed})


if __name__ == "__main__":
    with step_log(snakemake.log[0]):
        admit(
            counts=[Path(file) for file in snakemake.input.counts],
            quarantine=[Path(file) for file in snakemake.input.quarantine],
            most=snakemake.params.most,
            admitted=Path(snakemake.output[0]),
        )
