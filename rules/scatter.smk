"""First pass of the global shuffle: survivors of a part, grouped by target shard.

reads    results/text/{part}.arrow, or results/cut/{part}.arrow, and all decisions about it
writes   results/scatter/{part}.arrows   one Arrow IPC stream per target shard
         results/scatter/{part}.npy      uint64 (targets + 1,): where each stream begins
         results/scatter/{part}.json     documents, digest
         results/scatter/complete.json   all of these, in part order
"""


rule scatter:
    input:
        text=TEXT,
        decisions="results/assign/{part}.arrow",
        marks=of_block("results/decontaminate/{block}.npy"),
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
        mem_mb=part_memory(base=500, per_text_megabyte=3),
    params:
        told=told(
            shards=SHARDS,
            seed=config["shuffle"]["seed"],
        ),
        code=code_digest("scatter"),
        paths=named_paths,
    shell:
        run_script("scatter")


rule complete_scatter:
    input:
        counts=of_parts("results/scatter/{part}.json"),
    output:
        listing="results/scatter/complete.json",
    log:
        "logs/complete_scatter/complete.log",
    benchmark:
        "logs/complete_scatter/complete.tsv"
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
