#!/usr/bin/env python3
"""Stand-ins for the commands of SLURM: jobs start on this machine, a few at a time.

One script under the names of all commands, which `commands` links to it. A folder has their state.
Standard library only.
"""

import argparse
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

COMMANDS = ["sbatch", "squeue", "sacct", "scancel", "srun", "scontrol", "sinfo"]
SLOTS = 3
OVER_MEMORY = "exceeded memory limit (1146675200 > 1006632960), being killed"
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"}


def commands(folder: Path, **faults) -> dict[str, str]:
    """The variables with which programs find the stand-ins. What is to go wrong:

    rules: rule -> how its first job ends before it begins: "CANCELLED", "TIMEOUT", "FAILED" (for
    memory, as slurmstepd says), or "lost": nobody knows it any more.
    late: seconds until squeue answers, and until it knows a new job.
    hides: whether squeue forgets a job once it has ended well.
    silent: how many times squeue fails at first.
    """
    (folder / "bin").mkdir(parents=True)
    for name in COMMANDS:
        (folder / "bin" / name).symlink_to(Path(__file__).resolve())
    (folder / "faults.json").write_text(json.dumps(faults))
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {"STAND_IN_OF_SLURM": str(folder), "PATH": path}


def submissions(folder: Path) -> list[dict]:
    """Every job that was submitted, in order, with the state that it is in."""
    jobs = []
    for number in sorted(int(path.stem) for path in folder.glob("*.job")):
        job = json.loads((folder / f"{number}.job").read_text())
        jobs.append(job | {"state": (folder / f"{number}.state").read_text()})
    return jobs


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.faults = json.loads((folder / "faults.json").read_text())

    def first(self, mark: str) -> bool:
        """Whether nobody has asked so before."""
        try:
            (self.folder / mark).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def state(self, number: int) -> str:
        return (self.folder / f"{number}.state").read_text()

    def change(self, number: int, state: str, unless: set[str] = ENDED) -> bool:
        """Put a job into a state; False if it is in one of the others by now."""
        with open(self.folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            path = self.folder / f"{number}.state"
            if path.exists() and path.read_text() in unless:
                return False
            temporary = self.folder / f"{number}.{os.getpid()}"
            temporary.write_text(state)
            temporary.rename(path)
            return True

    def sbatch(self, arguments: list[str]) -> None:
        parser = argparse.ArgumentParser()
        for name in ("--job-name", "--output", "--comment", "--wrap", "--mem"):
            parser.add_argument(name)
        parser.add_argument("-D", dest="folder")
        job = vars(parser.parse_known_args(arguments)[0])
        number = 1
        while not self.first(f"{number}.number"):
            number += 1
        rule = job["comment"].removeprefix("rule_").split("_wildcards_")[0]
        fault = self.faults.get("rules", {}).get(rule)
        fault = fault if fault and self.first(f"{rule}.fault") else None
        safe = os.environ.get("PYTHONSAFEPATH")
        job |= {
            "number": number,
            "safe": safe,
            "rule": rule,
            "fault": fault,
            "mem": int(job["mem"] or 0),
        }
        self.change(number, "PENDING")
        (self.folder / f"{number}.job").write_text(json.dumps(job | {"at": time.time()}))
        if fault != "lost":
            quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
                     "stderr": subprocess.DEVNULL}  # fmt: skip
            itself = str(Path(__file__).resolve())  # under no command's name
            subprocess.Popen([sys.executable, itself, str(number)], start_new_session=True, **quiet)
        print(number)

    def supervise(self, number: int) -> None:
        """A job from its start to its end, in a process of its own."""
        job = json.loads((self.folder / f"{number}.job").read_text())
        with self.slot():
            if not self.change(number, "RUNNING"):
                return
            said = Path(job["output"].replace("%j", str(number)))
            with open(said, "w") as output:
                if job["fault"] == "FAILED":
                    output.write(f"slurmstepd-here: error: StepId={number}.0 {OVER_MEMORY}\n")
                if job["fault"]:
                    self.change(number, job["fault"])
                    return
                process = subprocess.Popen(
                    ["sh", "-c", job["wrap"]],
                    cwd=job["folder"],
                    env=os.environ | {"SLURM_JOB_ID": str(number)},
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
                (self.folder / f"{number}.pid").write_text(str(process.pid))
                self.change(number, "FAILED" if process.wait() else "COMPLETED")

    def slot(self):
        """One of a few places to run, the first that is free."""
        while True:
            for n in range(SLOTS):
                file = open(self.folder / f"{n}.slot", "w")  # noqa: SIM115
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return file
                except BlockingIOError:
                    file.close()
            time.sleep(0.05)

    def squeue(self, arguments: list[str]) -> None:
        for n in range(self.faults.get("silent", 0)):
            if self.first(f"{n}.silent"):
                sys.exit("slurm_load_jobs error: Unable to contact slurm controller")
        late = self.faults.get("late", 0)
        time.sleep(late)
        run = arguments[arguments.index("--name") + 1]
        for job in submissions(self.folder):
            hidden = job["state"] == "COMPLETED" and self.faults.get("hides")
            known = job["fault"] != "lost" and time.time() - job["at"] > late
            if job["job_name"] == run and known and not hidden:
                print(f"{job['number']}|{job['state']}")

    def scancel(self, arguments: list[str]) -> None:
        for job in submissions(self.folder):
            asked = job["job_name"] if "--name" in arguments else str(job["number"])
            if asked in arguments and self.change(job["number"], "CANCELLED"):
                pid = self.folder / f"{job['number']}.pid"
                if pid.exists():
                    os.killpg(int(pid.read_text()), signal.SIGTERM)


def main() -> None:
    name, arguments = Path(sys.argv[0]).name, sys.argv[1:]
    cluster = Cluster(Path(os.environ["STAND_IN_OF_SLURM"]))
    match name:
        case "sbatch" | "squeue" | "scancel":
            getattr(cluster, name)(arguments)
        case "srun":
            command = next(n for n, word in enumerate(arguments) if not word.startswith("-"))
            os.execvp(arguments[command], arguments[command:])
        case "sacct":
            sys.exit("Slurm accounting storage is disabled")
        case "scontrol":
            print("MinJobAge               = 300 sec")
        case "sinfo":
            print("PARTITION\nmain*")
        case _:
            cluster.supervise(int(arguments[0]))


if __name__ == "__main__":
    main()
