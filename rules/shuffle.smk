"""Shuffle all documents: scatter them by target shard, gather each shard in order.

scatter:
reads    results/text/{part}.arrow, or results/cut/{part}.arrow, and all decisions about its documents
writes   results/scatter/{part}.arrows   one Arrow IPC stream per window of the part and target shard
         results/scatter/{part}.npy      uint64 (windows, targets + 1): start of each stream
         results/scatter/{part}.json     documents, digest

gather:
reads    its slice of results/scatter/{part}.arrows of every part
writes   results/corpus/{split}/{shard}.jsonl.zst or .parquet   documents in shuffled order
         results/corpus/{split}/{shard}.json                    counts, size, SHA-256
         results/plan/columns.arrow                             for Parquet: columns of members
"""


rule scatter:
    input:
        text=LAYOUT.text,
        verdicts="results/filter/{part}.arrow",
        assigned="results/assign/{part}.arrow",
        marks=LAYOUT.of_block("results/holdout/{block}.arrow"),
        mixed=LAYOUT.copies,
        token_ids=LAYOUT.if_counted(["results/ids/{part}.bin"]),
        token_starts=LAYOUT.if_counted(["results/ids/{part}.npy"]),
    output:
        data="results/scatter/{part}.arrows",
        index="results/scatter/{part}.npy",
        counts="results/scatter/{part}.json",
    log:
        "logs/scatter/{part}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_part(base=500, per_text_megabyte=3, bytes_per_document=600),
    params:
        settings=settings(
            shards=LAYOUT.shards,
            seeds=CONFIG.seeds,
        ),
        code=code_digest("scatter"),
        paths=named_paths,
    shell:
        run_script("scatter")


rule columns:
    input:
        outside(INPUTS.milled_files),
    output:
        columns="results/plan/columns.arrow",
    log:
        "logs/columns/columns.log",
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_first_records(base=400, per_record_megabyte=12),
    params:
        settings=settings(
            files=INPUTS.milled_states,
            readers=CONFIG.input.readers,
            limits=CONFIG.input.read_limits,
        ),
        code=code_digest("columns"),
        paths=named_paths,
    shell:
        run_script("columns")


rule gather:
    input:
        listing=LAYOUT.listing("scatter"),
        columns=["results/plan/columns.arrow"] if LAYOUT.writes_parquet else [],
    output:
        text=LAYOUT.text_shard,
        facts="results/corpus/{split}/{shard}.json",
    log:
        "logs/gather/{split}/{shard}.log",
    # All shards are gathered first, then encoded, largest first, then verified. So only short jobs
    # are left at the end, when cores idle.
    priority: 2
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_shard(
            base=500,
            per_text_megabyte=4,
            per_largest_megabyte=5,
            bytes_per_document=600,
        ),
    params:
        settings=settings(
            shards=LAYOUT.shards,
            options=SETTINGS.of("text_shards"),
        ),
        code=code_digest("gather"),
        paths=named_paths,
    shell:
        run_script("gather")
