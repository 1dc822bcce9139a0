"""The jobs that a run is about to do, and whether they may hold more memory than is allowed."""

from collections.abc import Callable
from typing import Any

from corpusmill.run.job_list import RuleJobs
from corpusmill.run.memory import Memory


def memory_asked(workflow: Any, job: Any) -> int:
    """The mem_mb of a job as Snakemake evaluates it, but not yet limited by --resources; 0 where
    nothing asks for any, or for a multiple of files that are not there yet."""
    asked, _ = job.rule.apply_input_function(
        job.rule.resources.get("mem_mb").evaluate,
        job.wildcards_dict,
        input=job.input,
        attempt=1,
        threads=lambda: job.threads,
        rulename=job.rule.name,
        async_run=workflow.async_run,
    )
    return asked.value if isinstance(asked.value, int) else 0


def jobs_to_do(workflow: Any) -> dict[str, RuleJobs]:
    """By rule the memory that its jobs may hold, and the logs of those that are to be done."""
    needs: dict[str, int] = {}
    logs: dict[str, list[str]] = {}
    for job in workflow.dag.jobs:
        needs[job.rule.name] = max(memory_asked(workflow, job), needs.get(job.rule.name, 0))
    for job in workflow.dag.needrun_jobs():
        logs.setdefault(job.rule.name, []).extend(map(str, job.log))
    return {rule: RuleJobs(needs[rule], logs.get(rule, [])) for rule in needs}


def allowed_megabytes(workflow: Any) -> int | None:
    """What --resources mem_mb allows; None if it does not limit it."""
    allowed = workflow.global_resources.get("mem_mb")
    return None if allowed is None else allowed.value


def refuse_too_little_memory(allowed: int | None, rules: dict[str, RuleJobs]) -> None:
    """Raise ValueError for a job that needs more. Snakemake would run it all the same, and believe
    that it takes no more than is allowed."""
    if allowed is None:
        return
    needs = [(jobs.mem_mb, rule) for rule, jobs in rules.items() if jobs.logs]
    need, rule = max(needs, default=(0, ""))
    if need > allowed:
        raise ValueError(
            f"--resources mem_mb allows {allowed} MB, and {rule} needs {need}. Allow more, or "
            "lower input.part_bytes and output.shard_bytes."
        )


def note_needs(allowed: int | None, memory: Memory, note: Callable[[str], None]) -> None:
    """Note from now on if a job may hold more: of what was read, or at another attempt, more than
    was known when the run began. Snakemake counts it as no more than is allowed, so what runs
    beside it may be too much."""
    if allowed is None:
        return
    told = [allowed]

    def hear(megabytes: int) -> None:
        if megabytes > told[-1]:
            told.append(megabytes)
            note(
                f"--resources mem_mb allows {allowed} MB, and a job may hold {megabytes}, as "
                "is known by now. Jobs beside it may be too many: allow more, or fewer --cores."
            )

    memory.hear_need = hear
