"""Barriers of the DAG: confirm that a step with many jobs is done, and collect their counts.

reads    the counts of each job of the stage
writes   results/{stage}/complete.json   all of these, in order
"""


rule complete:
    input:
        counts=lambda wildcards: LAYOUT.every(LAYOUT.stages[wildcards.stage]),
    output:
        listing="results/{stage}/complete.json",
    log:
        "logs/complete/{stage}.log",
    wildcard_constraints:
        stage="|".join(LAYOUT.stages),
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        settings=settings(),
        code=code_digest("complete"),
        paths=named_paths,
    shell:
        run_script("complete")
