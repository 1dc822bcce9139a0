"""The fate, the split and the copies of every document: decisions only.

reads    results/filter/{part}.arrow, results/digests/{part}.npy, results/groups/winners.npy
writes   results/assign/{part}.arrow   fate, winner, split, copies
         results/holdout/{part}.npy    digest, origin of the part's own held-out texts
         results/holdout/{part}.json   texts, digest
         results/holdout/complete.json  all of these, in part order
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
        counts="results/holdout/{part}.json",
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


rule complete_assign:
    input:
        counts=of_parts("results/holdout/{part}.json"),
    output:
        "results/holdout/complete.json",
    log:
        "logs/complete_assign/complete.log",
    benchmark:
        "logs/complete_assign/complete.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        code=code_digest("complete"),
    script:
        "../scripts/complete.py"
