"""Second pass of the global shuffle: final text shards.

reads    its slice of results/scatter/{part}.arrows of every part
writes   results/corpus/{split}/{shard}.jsonl.zst or .parquet   documents in shuffled order
         results/corpus/{split}/{shard}.json                    counts, size, SHA-256
"""


rule gather:
    input:
        listing="results/scatter/complete.json",
    output:
        text=LAYOUT.text_shard,
        facts="results/corpus/{split}/{shard}.json",
    log:
        "logs/gather/{split}/{shard}.log",
    benchmark:
        "logs/gather/{split}/{shard}.tsv"
    # All shards are gathered first, then encoded, the largest first, then verified: what is left for
    # one core at the end is short.
    priority: 2
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.shard_memory(base=500, per_text_megabyte=4),
    params:
        settings=settings(
            shards=LAYOUT.shards,
            format=config["output"]["format"],
        ),
        code=code_digest("gather"),
        paths=named_paths,
    shell:
        run_script("gather")
