"""Pairs of documents that share a band key or a digest.

reads    results/bands/{part}.npy and what else is known of a pair's documents, of every part,
         through results/bands/complete.json
writes   results/pairs/{bucket}.npy    a, b, matches: pairs that are or may be duplicates
         results/pairs/{bucket}.json   pairs, file
         results/pairs/complete.json   all of these
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
        mem_mb=bucket_memory(base=700, bytes_per_entry=125),
    params:
        told=told(
            buckets=BUCKETS,
            method=METHOD,
            bands=BANDS,
            rows=BAND_ROWS,
            threshold=config["dedup"]["threshold"],
            permutations=PERMUTATIONS,
            preference=PREFERENCE,
            entries=BUCKET_ENTRIES,
        ),
        code=code_digest("pair"),
        paths=named_paths,
    shell:
        run_script("pair")


rule complete_pairs:
    input:
        counts=expand("results/pairs/{bucket}.json", bucket=BUCKET_NAMES),
    output:
        listing="results/pairs/complete.json",
    log:
        "logs/complete_pairs/complete.log",
    benchmark:
        "logs/complete_pairs/complete.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        told=told(),
        code=code_digest("complete"),
        paths=named_paths,
    shell:
        run_script("complete")
