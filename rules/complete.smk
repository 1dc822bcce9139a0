"""Barriers of the DAG: confirm that a step is done for all parts, and collect its counts.

reads    the counts of each job of the stage
writes   results/{stage}/complete.json   all of these, in order
"""


rule complete:
    input:
        # If the corpus is refused, no later step should start.
        "results/admitted.json",
        lambda wildcards: "results/allowed.json" if wildcards.stage == "bands" else [],
        counts=lambda wildcards: LAYOUT.every(LAYOUT.barriers[wildcards.stage]),
    output:
        listing="results/{stage}/complete.json",
    log:
        "logs/complete/{stage}.log",
    wildcard_constraints:
        stage="|".join(LAYOUT.barriers),
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
