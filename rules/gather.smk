"""Second pass of the global shuffle: final text shards.

reads    its slice of results/scatter/{part}.arrows of every part
writes   results/corpus/{split}/{shard}.jsonl.zst or .parquet   documents in shuffled order
         results/corpus/{split}/{shard}.json                    counts, size, SHA-256
         results/plan/columns.arrow                             for Parquet: columns of members
"""


rule columns:
    input:
        outside(LAYOUT.milled_files),
    output:
        columns="results/plan/columns.arrow",
    log:
        "logs/columns/columns.log",
    benchmark:
        "logs/columns/columns.tsv"
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.all_inputs_memory(base=400, per_record_megabyte=12),
    params:
        settings=settings(
            files=LAYOUT.milled_states,
            readers=config["input"]["readers"],
            limits=LAYOUT.read_limits,
        ),
        code=code_digest("columns", *map(Path, config["input"]["readers"])),
        paths=named_paths,
    shell:
        run_script("columns")


rule gather:
    input:
        listing="results/scatter/complete.json",
        columns=LAYOUT.if_parquet("results/plan/columns.arrow"),
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
        mem_mb=LAYOUT.shard_memory(
            base=500,
            per_text_megabyte=4,
            per_largest_megabyte=5,
            bytes_per_document=600,
        ),
    params:
        settings=settings(
            shards=LAYOUT.shards,
        ),
        code=code_digest("gather"),
        paths=named_paths,
    shell:
        run_script("gather")
