"""`python -m qa.campaigns kills`: one campaign, or all; a table of each, and every fault found.

From the checkout: .venv/bin/python -m qa.campaigns
"""

import argparse
import itertools
import json
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from warm import warm_jobs

from qa.campaigns import corpus, full_disk, inputs, kills, stale, surroundings
from qa.campaigns.runs import ran

DEFAULT_FOLDER = Path(tempfile.gettempdir()) / "corpusmill-campaigns"


def whole_run(folder: Path, make: Callable[[Path], dict], record: Path | None = None) -> Path:
    """A run to which nothing happens, made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    make(folder)
    done = ran(folder, plan={"record": str(record)} if record else None)
    if done.code:
        raise RuntimeError(done.fault())
    print(f"a whole run: {done.seconds:.1f} s", flush=True)
    return folder


class Campaign:
    """Tells what comes of every try, at once, and keeps it as JSON lines."""

    def __init__(self, name: str, base: Path) -> None:
        self.base, self.faults, self.number = base / name, 0, 0
        shutil.rmtree(self.base, ignore_errors=True)
        self.base.mkdir(parents=True)
        self.lines = base / f"{name}.jsonl"
        self.lines.unlink(missing_ok=True)

    def place(self) -> Path:
        self.number += 1
        return self.base / f"{self.number:04d}"

    def tell(self, what: str, faults: list[str], **facts: object) -> None:
        self.faults += bool(faults)
        with self.lines.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"what": what, "faults": faults} | facts) + "\n")
        print(f"{what}: {'; '.join(faults) or 'well'}", flush=True)


def do_kills(campaign: Campaign, whole: Path, moments: dict, options: argparse.Namespace) -> None:
    for target in options.targets:
        for number in kills.SIGNALS:
            for seen in kills.of_one_kind(
                number, target, options.tries, options.seed, whole, campaign.place()
            ):
                campaign.tell(f"{signal.Signals(number).name} to {target}", seen.faults,
                              signal=number, target=target, kills=seen.kills,
                              unlocked=seen.unlocked, steps=seen.steps,
                              seconds=seen.seconds_to_end)  # fmt: skip


def do_jobs(campaign: Campaign, whole: Path, moments: dict, options: argparse.Namespace) -> None:
    for seed in range(options.seed, options.seed + options.rounds):
        for number in kills.SIGNALS:
            for seen in kills.in_jobs(number, seed, moments, whole, campaign.place()):
                campaign.tell(f"{signal.Signals(number).name} to a job of {seen.step}", seen.faults,
                              signal=number, step=seen.step, change=seen.change,
                              happened=seen.happened, said=seen.told[-600:])  # fmt: skip


def do_disk(campaign: Campaign, whole: Path, moments: dict, options: argparse.Namespace) -> None:
    told = [full_disk.of_snakemake(whole, campaign.place())]
    for number, seed in enumerate(range(options.seed, options.seed + options.rounds)):
        where = {0: 0.0, 1: 1.0}.get(number)
        told.append(full_disk.each(moments, where, seed, whole, campaign.place()))
    for seen in itertools.chain.from_iterable(told):
        campaign.tell(f"full while {seen.step} writes", seen.faults, step=seen.step,
                      change=seen.change, path=seen.path, happened=seen.happened,
                      code=seen.code, said=seen.said)  # fmt: skip


def do_surroundings(campaign: Campaign, whole: Path, moments: dict, options) -> None:
    for cell in surroundings.CELLS:
        if options.only in cell.name:
            campaign.tell(cell.name, surroundings.checked(cell, whole, campaign.place()))


def do_inputs(campaign: Campaign, whole: Path, moments: dict, options: argparse.Namespace) -> None:
    own = whole_run(campaign.base / "whole", inputs.corpus)
    for case in inputs.cases():
        if options.only in case.name:
            seen = inputs.tried(case, own, campaign.place())
            campaign.tell(f"{case.name}: {seen.came}", seen.faults, code=seen.code, came=seen.came,
                          seconds=seen.seconds, said=seen.said)  # fmt: skip


def do_stale(campaign: Campaign, whole: Path, moments: dict, options: argparse.Namespace) -> None:
    told = []
    for seen in stale.each(options.others, options.only, campaign.base):
        told.append(seen)
        campaign.tell(f"{seen.kind} of other {seen.other}: {seen.came}", seen.faults,
                      **vars(seen))  # fmt: skip
    print("\n".join(stale.table(told)))


CAMPAIGNS = {"kills": do_kills, "jobs": do_jobs, "disk": do_disk,
             "surroundings": do_surroundings, "inputs": do_inputs, "stale": do_stale}  # fmt: skip


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="qa.campaigns", description=__doc__)
    parser.add_argument("campaigns", nargs="*", help=f"of {', '.join(CAMPAIGNS)}; none named: all")
    parser.add_argument("--tries", type=int, default=100, help="kills of each signal and target")
    parser.add_argument("--targets", nargs="*", default=kills.TARGETS, choices=kills.TARGETS)
    parser.add_argument("--rounds", type=int, default=3, help="over all rules, each other moments")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", default="", help="surroundings, inputs, kinds of files with this in the name"
    )
    parser.add_argument("--others", nargs="*", default=stale.OTHERS, choices=stale.OTHERS,
                        help="what files that are brought back were made from")  # fmt: skip
    parser.add_argument("--keep", type=Path, default=DEFAULT_FOLDER, help="what was found stays")
    return parser.parse_args()


def main() -> None:
    options = asked()
    names = options.campaigns or list(CAMPAIGNS)
    options.keep.mkdir(parents=True, exist_ok=True)
    faults = 0
    with warm_jobs():
        record, whole = options.keep / "changes", options.keep / "whole"
        record.unlink(missing_ok=True)
        moments = {}
        if {*names} - {"inputs", "stale"}:
            whole_run(whole, corpus.corpus, record)
            changes = kills.changes_of(record)
            moments = {step: found for step, found in changes.items() if step in corpus.RULES}
        for name in names:
            campaign = Campaign(name, options.keep)
            CAMPAIGNS[name](campaign, whole, moments, options)
            faults += campaign.faults
    print(f"{faults} with faults; every try is in {options.keep}")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
