"""MinHash sketches and content digests.

reads    results/text/{part}.arrow, or results/cut/{part}.arrow
writes   results/signatures/{part}.npy   uint32 (documents, permutations)
         results/digests/{part}.npy      uint8 (documents, 32): SHA-256 of the normalised text
"""


rule sign:
    input:
        text=LAYOUT.text,
    output:
        signatures="results/signatures/{part}.npy",
        digests="results/digests/{part}.npy",
    log:
        "logs/sign/{part}.log",
    benchmark:
        "logs/sign/{part}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.part_memory(
            base=600 + config["minhash"]["permutations"],
            per_text_megabyte=0.2,
            per_largest_megabyte=11,
            bytes_per_document=100,
        ),
    params:
        settings=settings(
            hasher=LAYOUT.hasher,
        ),
        code=code_digest("sign"),
        paths=named_paths,
    shell:
        run_script("sign")
