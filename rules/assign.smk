"""The fate, the split and the copies of every document: decisions only.

reads    results/filter/{part}.arrow, results/digests/{part}.npy, results/groups/winners.npy
writes   results/assign/{part}.arrow   fate, winner, split, copies
         results/holdout/{part}.npy    digest, origin of the part's own held-out texts
"""


rule assign:
    input:
        verdicts="results/filter/{part}.arrow",
        digests="results/digests/{part}.npy",
        winners="results/groups/winners.npy",
        starts="results/groups/starts.npy",
    output:
        decisions="results/assign/{part}.arrow",
        held_out="results/holdout/{part}.npy",
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
