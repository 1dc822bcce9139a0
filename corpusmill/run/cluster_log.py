"""Why jobs of a cluster ended, found in what Snakemake has written of a run."""

import re
from collections.abc import Iterator

# What Snakemake's plugin says of a job that failed; of one of several steps it names no rule first.
FAILED = re.compile(
    r"^(?:Error in rule (\w+):|\[.*\])\n\s*message: SLURM-job '(\d+)' failed, "
    r"SLURM status is: '(\w+)",
    re.MULTILINE,
)
# What SLURM itself says, some sixty lines further on in the job's log.
REASON = re.compile(
    r"^slurmstepd\S*: error: (.*(?:memory limit \(|oom.kill|DUE TO TIME LIMIT).*)$",
    re.MULTILINE | re.IGNORECASE,
)
NUMBER = re.compile(r"(?:StepId=|JOB |STEP )(\d+)", re.IGNORECASE)


def ends_of_jobs(log: str) -> Iterator[str]:
    """One line for each SLURM job that failed: its rule, number and status, and SLURM's reason."""
    reasons: dict[str, str] = {}
    for reason in REASON.findall(log):
        for number in NUMBER.findall(reason):
            reasons.setdefault(number, reason.strip("* "))
    for rule, number, status in FAILED.findall(log):
        why = f": {reasons[number]}" if number in reasons else ""
        yield f"{rule or 'a group'}: SLURM job {number} {status}{why}"
