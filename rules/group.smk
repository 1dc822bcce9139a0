"""Connected components of all pairs, and who of each is kept.

reads    results/pairs/*.npy; for the choice: text, filter
writes   results/groups/winners.npy   uint64 (documents of all parts,): the id of the kept document
"""


rule group:
    input:
        listing="results/bands/complete.json",
        pairs=expand("results/pairs/{bucket}.npy", bucket=BUCKET_NAMES),
        texts=of_parts("results/text/{part}.arrow"),
        verdicts=of_parts("results/filter/{part}.arrow"),
    output:
        winners="results/groups/winners.npy",
    log:
        "logs/group/group.log",
    benchmark:
        "logs/group/group.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=documents_memory(base=800, bytes_per_document=64),
    params:
        priority=of_sources("priority", None),
        engine=config["dedup"]["engine"],
        code=code_digest("group"),
    script:
        "../scripts/group.py"
