"""Pairs of documents that share a band key or a digest.

reads    results/bands/{part}.npy and what else is known of a pair's documents, of every part,
         through results/bands/complete.json
writes   results/pairs/{bucket}.npy    a, b, matches: pairs that are or may be duplicates
         results/pairs/{bucket}.json   pairs, file
"""


rule pair:
    input:
        listing="results/bands/complete.json",
    output:
        pairs="results/pairs/{bucket}.npy",
        counts="results/pairs/{bucket}.json",
    log:
        "logs/pair/{bucket}.log",
    benchmark:
        "logs/pair/{bucket}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.bucket_memory(base=700, bytes_per_entry=125),
    params:
        settings=settings(
            buckets=LAYOUT.buckets("bucket"),
            banding=LAYOUT.banding,
            similarity=LAYOUT.similarity,
            preference=LAYOUT.preference,
        ),
        code=code_digest("pair"),
        paths=named_paths,
    shell:
        run_script("pair")
