"""The jobs that a run will do, and whether they need more memory than allowed."""

from collections.abc import Callable
from typing import Any

from corpusmill.run.job_list import RuleJobs
from corpusmill.run.memory import Memory


def memory_asked(workflow: Any, job: Any) -> int:
    """Return the mem_mb of a job, before --resources limits it.

    0 if it is unset, or depends on files that do not exist yet.
    """
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
    """Return, by rule, the memory of its jobs and the logs of those that will run."""
    needs: dict[str, int] = {}
    logs: dict[str, list[str]] = {}
    for job in workflow.dag.jobs:
        needs[job.rule.name] = max(memory_asked(workflow, job), needs.get(job.rule.name, 0))
    for job in workflow.dag.needrun_jobs():
        logs.setdefault(job.rule.name, []).extend(map(str, job.log))
    return {rule: RuleJobs(needs[rule], logs.get(rule, [])) for rule in needs}


def allowed_megabytes(workflow: Any) -> int | None:
    """Return the limit of --resources mem_mb; None if there is none."""
    allowed = workflow.global_resources.get("mem_mb")
    return None if allowed is None else allowed.value


def refuse_too_little_memory(allowed: int | None, rules: dict[str, RuleJobs]) -> None:
    """Raise ValueError if a job needs more than allowed.

    Snakemake would run it anyway, and count it as needing no more than that.
    """
    if allowed is None:
        return
    needs = [(jobs.mem_mb, rule) for rule, jobs in rules.items() if jobs.logs]
    need, rule = max(needs, default=(0, ""))
    if need > allowed:
        raise ValueError(
            f"--resources mem_mb allows {allowed} MB, but {rule} needs {need}. Allow more memory, "
            "or lower input.part_bytes and output.shard_bytes."
        )


def note_needs(allowed: int | None, memory: Memory, note: Callable[[str], None]) -> None:
    """From now on, note when a job may need more memory than allowed.

    The need grows with the size of the text read and with each retry. Snakemake counts a job with
    no more than the allowed memory, so it may start too many other jobs.
    """
    if allowed is None:
        return
    told = [allowed]

    def hear(megabytes: int) -> None:
        if megabytes > told[-1]:
            told.append(megabytes)
            note(
                f"--resources mem_mb allows {allowed} MB, but a job may now need {megabytes}. "
                "Together with the other running jobs it may exceed the limit. Allow more memory, "
                "or lower --cores."
            )

    memory.hear_need = hear
