"""Why jobs of a cluster ended, from the log of a run."""

from corpusmill.run.cluster_log import ends_of_jobs

LOG = """
Job 8 has been submitted with SLURM jobid 287 (log: /w/.snakemake/slurm_logs/rule_sign/00001/287.log).
[Sun Nov 22 06:05:47 2026]
Error in rule sign:
    message: SLURM-job '287' failed, SLURM status is: 'FAILED'. Detailed failure reason unavailable
    jobid: 8
slurmstepd-vm: error: StepId=287.0 exceeded memory limit (1146675200 > 1006632960), being killed
slurmstepd-vm: error: Exceeded job memory limit
srun: error: vm: task 0: Killed
Error in rule sign:
    message: None
Error in rule band:
    message: SLURM-job '288' failed, SLURM status is: 'TIMEOUT'. Detailed failure reason unavailable
slurmstepd-n7: error: *** STEP 288.0 ON n7 CANCELLED AT 2026-11-22T06:05:36 DUE TO TIME LIMIT ***
Error in rule pair:
    message: SLURM-job '289' failed, SLURM status is: 'OUT_OF_MEMORY'. Detailed failure reason
slurmstepd: error: Detected 1 oom_kill event in StepId=289.0. Some of the step tasks have been OOM Killed.
Error in rule filter:
    message: SLURM-job '290' failed, SLURM status is: 'CANCELLED'. Detailed failure reason
"""  # noqa: E501
OF_A_GROUP = """
[Sun Nov 22 06:05:47 2026]
    message: SLURM-job '291' failed, SLURM status is: 'NODE_FAIL'. Detailed failure reason
    jobs:
        rule sign:
"""


def test_ends_of_jobs__are_one_line_each_with_the_reason():
    assert list(ends_of_jobs(LOG + OF_A_GROUP)) == [
        "sign: SLURM job 287 FAILED: StepId=287.0 exceeded memory limit (1146675200 > 1006632960), "
        "being killed",
        "band: SLURM job 288 TIMEOUT: STEP 288.0 ON n7 CANCELLED AT 2026-11-22T06:05:36 DUE TO "
        "TIME LIMIT",
        "pair: SLURM job 289 OUT_OF_MEMORY: Detected 1 oom_kill event in StepId=289.0. Some of the "
        "step tasks have been OOM Killed.",
        "filter: SLURM job 290 CANCELLED",
        "a group: SLURM job 291 NODE_FAIL",
    ]


def test_ends_of_jobs__says_nothing_of_a_run_without_slurm():
    assert list(ends_of_jobs("Error in rule sign:\n    message: None\n    jobid: 8\n")) == []
