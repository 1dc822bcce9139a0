"""Pairs of documents that share a band key.

reads    results/bands/{part}.npy of every part, through results/bands/complete.json
writes   results/pairs/{bucket}.npy   uint64 (pairs, 2): star edges of every key of the bucket
"""


rule pair:
    input:
        listing="results/bands/complete.json",
    output:
        pairs="results/pairs/{bucket}.npy",
    log:
        "logs/pair/{bucket}.log",
    benchmark:
        "logs/pair/{bucket}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=bucket_memory(base=500, bytes_per_entry=100),
    params:
        buckets=BUCKETS,
        bands=BANDS,
        entries=BUCKET_ENTRIES,
        code=code_digest("pair"),
    script:
        "../scripts/pair.py"
