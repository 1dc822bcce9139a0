"""The word that a step is done for all parts, and with what content: barriers of the DAG.

reads    the small file that each job of the stage has written
writes   results/{stage}/complete.json   all of these, in order
"""

COUNTS = {
    "spans": "results/spans/{part}.json",
    "repeats": "results/repeats/{span_bucket}.json",
    "bands": "results/bands/{part}.json",
    "pairs": "results/pairs/{bucket}.json",
    "extracts": "results/extracts/{block}.json",
    "resolved": "results/resolved/{bin}.json",
    "assign": "results/assign/{part}.json",
    "scatter": "results/scatter/{part}.json",
}


rule complete:
    input:
        # Of a refused corpus no later step is worth starting.
        "results/admitted.json",
        lambda wildcards: "results/allowed.json" if wildcards.stage == "bands" else [],
        counts=lambda wildcards: LAYOUT.every(COUNTS[wildcards.stage]),
    output:
        listing="results/{stage}/complete.json",
    log:
        "logs/complete/{stage}.log",
    benchmark:
        "logs/complete/{stage}.tsv"
    wildcard_constraints:
        stage="|".join(COUNTS),
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
