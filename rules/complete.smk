"""The word that a step is done for all parts, and with what content: barriers of the DAG.

reads    the small file that each job of the stage has written
writes   results/{stage}/complete.json   all of these, in order
"""


rule complete:
    input:
        # Of a refused corpus no later step is worth starting.
        "results/admitted.json",
        lambda wildcards: "results/allowed.json" if wildcards.stage == "bands" else [],
        counts=lambda wildcards: LAYOUT.every(LAYOUT.barriers[wildcards.stage]),
    output:
        listing="results/{stage}/complete.json",
    log:
        "logs/complete/{stage}.log",
    benchmark:
        "logs/complete/{stage}.tsv"
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
