"""First pass of the global shuffle: survivors of a part, grouped by target shard.

reads    results/text/{part}.arrow, or results/cut/{part}.arrow, and all decisions about it
writes   results/scatter/{part}.arrows   one Arrow IPC stream per target shard
         results/scatter/{part}.npy      uint64 (targets + 1,): where each stream begins
         results/scatter/{part}.json     documents, digest
"""


rule scatter:
    input:
        text=LAYOUT.text,
        decided=LAYOUT.of_block("results/decided/{block}.arrow"),
    output:
        data="results/scatter/{part}.arrows",
        index="results/scatter/{part}.npy",
        counts="results/scatter/{part}.json",
    log:
        "logs/scatter/{part}.log",
    benchmark:
        "logs/scatter/{part}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.part_memory(base=500, per_text_megabyte=3, bytes_per_document=600),
    params:
        settings=settings(
            shards=LAYOUT.shards,
            seed=config["shuffle"]["seed"],
        ),
        code=code_digest("scatter"),
        paths=named_paths,
    shell:
        run_script("scatter")
