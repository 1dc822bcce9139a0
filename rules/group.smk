"""Connected components of all pairs, and who of each is kept.

reads    results/pairs/*.npy; for the choice: results/filter/{part}.arrow, through
         results/bands/complete.json
writes   results/groups/winners.npy   uint64 (documents of all parts,): the id of the kept document
         results/groups/starts.npy    int64 (parts + 1,): where each part begins in it
"""


rule group:
    input:
        listing="results/bands/complete.json",
        pairs=expand("results/pairs/{bucket}.npy", bucket=BUCKET_NAMES),
    output:
        winners="results/groups/winners.npy",
        starts="results/groups/starts.npy",
    log:
        "logs/group/group.log",
    benchmark:
        "logs/group/group.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=documents_memory(base=800, bytes_per_document=24),
    params:
        priority=of_sources("priority", None),
        weights=WEIGHTS,
        engine=config["dedup"]["engine"],
        code=code_digest("group"),
    script:
        "../scripts/group.py"
