"""Which input files make which part.

writes   results/plan/parts.jsonl   one line per part: its files, as they were when the run began
"""


rule plan:
    output:
        parts="results/plan/parts.jsonl",
    log:
        "logs/plan/plan.log",
    benchmark:
        "logs/plan/plan.tsv"
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        settings=settings(
            lines=LAYOUT.plan_lines,
        ),
        code=code_digest("plan"),
        paths=named_paths,
    shell:
        run_script("plan")
