"""The fate, the split and the copies of every document: decisions only.

reads    results/filter/{part}.arrow, results/groups/winners.npy
writes   results/assign/{part}.arrow   fate, winner, split, copies
"""


rule assign:
    input:
        text="results/text/{part}.arrow",
        verdicts="results/filter/{part}.arrow",
        winners="results/groups/winners.npy",
        listing="results/bands/complete.json",
    output:
        decisions="results/assign/{part}.arrow",
    log:
        "logs/assign/{part}.log",
    benchmark:
        "logs/assign/{part}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=part_memory(base=500, per_text_megabyte=0.1),
    params:
        weights=WEIGHTS,
        fractions=FRACTIONS,
        seed=config["shuffle"]["seed"],
        code=code_digest("assign"),
    script:
        "../scripts/assign.py"
