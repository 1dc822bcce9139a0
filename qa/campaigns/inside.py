"""What happens inside a process of a run at a chosen moment: imported by it first, see warm.py.

PLAN is what was planned, JSON, in the variable of that name:

    step      the process: the name of a step's script, or "snakemake"; the first of its name
    change    before which of its changes to files below the folder it happens, from 0
    opens     or: before it opens this file
    signal    it sends itself this signal
    fill      a file that takes all room of its disk
    remove    a file or folder that is removed
    replace   [file, other]: the other is moved onto the file
    marker    a file that says that it has happened, so that it does once
    record    a file to which every change is written, as `process TAB step TAB event TAB path`
    pid       a file to which Snakemake writes its process
    shuffle   a seed: ready jobs are begun in the order of a keyed hash
"""

import contextlib
import hashlib
import json
import os
import shutil
import sys
from typing import Any

VARIABLE = "CAMPAIGN_PLAN"
PLAN = json.loads(os.environ.get(VARIABLE, "{}"))
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir"}
STEP = os.path.basename(sys.argv[0]).removesuffix(".py")
FOLDER = os.getcwd() + os.sep

seen = -1


def audit(event: str, arguments: tuple[Any, ...]) -> None:
    """Count this process's changes, and act before the one that was chosen."""
    global seen
    if event != "open" and event not in CHANGES:
        return
    path = arguments[0]
    if not isinstance(path, str | os.PathLike):
        return
    path = os.path.abspath(os.fspath(path))
    if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR):
        if path == PLAN.get("opens"):
            act()
    elif path.startswith(FOLDER):
        seen += 1
        if "record" in PLAN:
            noted(PLAN["record"], f"{os.getpid()}\t{STEP}\t{event}\t{path.removeprefix(FOLDER)}\n")
        if seen == PLAN.get("change"):
            act()


def noted(path: str, line: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(line)


def act() -> None:
    if os.path.exists(PLAN["marker"]):
        return
    noted(PLAN["marker"], STEP)
    if "fill" in PLAN:
        fill(PLAN["fill"])
    if "remove" in PLAN:
        if os.path.isdir(PLAN["remove"]):
            shutil.rmtree(PLAN["remove"])
        else:
            os.remove(PLAN["remove"])
    if "replace" in PLAN:
        file, other = PLAN["replace"]
        os.replace(other, file)
    if "signal" in PLAN:
        os.kill(os.getpid(), PLAN["signal"])


def fill(path: str) -> None:
    """Write until there is no room, not even for a byte."""
    with contextlib.suppress(OSError), open(path, "ab", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass


def shuffle(seed: int) -> None:
    from snakemake.scheduling.greedy import Scheduler

    def reward(self, job, input_sizes) -> int:
        told = f"{seed} {job.output} {job.wildcards}".encode()
        return 1 + int.from_bytes(hashlib.sha256(told).digest()[:4], "big")

    Scheduler.job_reward = reward


if STEP == "snakemake":
    if "pid" in PLAN:
        with open(PLAN["pid"], "w", encoding="utf-8") as its:
            its.write(str(os.getpid()))
    if "shuffle" in PLAN:
        shuffle(PLAN["shuffle"])
if PLAN.get("step") in (STEP, None) or "record" in PLAN:
    sys.addaudithook(audit)
