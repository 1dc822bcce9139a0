"""Put all documents in order: scatter them by target shard, gather each shard.

gauge:
reads    measures and decisions of a block of parts; clusters if they put documents in order
writes   results/values/{block}.arrow   size, value and copies of every document, part by part
         results/values/{block}.json    documents, digest

arrange:
reads    results/values/{block}.arrow of every block
writes   results/order/order.json       limits and sizes of the bands of each split
         results/order/starts.npy       int64 (splits, parts, most copies): as found, what is before each part

scatter:
reads    results/text/{part}.arrow, or results/cut/{part}.arrow, and all decisions about its documents;
         results/values/{block}.arrow and results/order/ unless all splits are shuffled
writes   results/scatter/{part}.arrows   one Arrow IPC stream per window of the part and target shard
         results/scatter/{part}.npy      uint64 (windows, targets + 1): start of each stream
         results/scatter/{part}.json     documents, digest

gather:
reads    its slice of results/scatter/{part}.arrows of every part
writes   results/corpus/{split}/{shard}.jsonl.zst or .parquet   documents in shuffled order
         results/corpus/{split}/{shard}.json                    counts, size, SHA-256
         results/plan/columns.arrow                             for Parquet: columns of members
"""


rule gauge:
    input:
        measures=LAYOUT.files_of_block("results/measures/{part}.arrow"),
        verdicts=LAYOUT.files_of_block("results/filter/{part}.arrow"),
        assigned=LAYOUT.files_of_block("results/assign/{part}.arrow"),
        marks="results/holdout/{block}.arrow",
        mixed=LAYOUT.if_mixed(["results/copies/{block}.arrow"]),
        resolved=LAYOUT.if_arranged(LAYOUT.listing("resolved")),
    output:
        values="results/values/{block}.arrow",
        counts="results/values/{block}.json",
    log:
        "logs/gauge/{block}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_largest_part(base=600, bytes_per_document=350),
    params:
        settings=settings(
            first_part=LAYOUT.first_of_block,
            arranging=SETTINGS.arranging,
        ),
        code=code_digest("gauge"),
        paths=named_paths,
    shell:
        run_script("gauge")


rule arrange:
    input:
        listing=LAYOUT.listing("values"),
    output:
        arrangement="results/order/order.json",
        starts="results/order/starts.npy",
    log:
        "logs/arrange/arrange.log",
    # First: if the order is refused, no later step should start.
    priority: 10
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_arranging(base=600, bytes_per_document=150),
    params:
        settings=settings(
            arranging=SETTINGS.arranging,
        ),
        code=code_digest("arrange"),
        paths=named_paths,
    shell:
        run_script("arrange")


rule scatter:
    input:
        text=LAYOUT.text,
        verdicts="results/filter/{part}.arrow",
        assigned="results/assign/{part}.arrow",
        marks=LAYOUT.of_block("results/holdout/{block}.arrow"),
        mixed=LAYOUT.copies,
        token_ids=LAYOUT.if_counted(["results/ids/{part}.bin"]),
        token_starts=LAYOUT.if_counted(["results/ids/{part}.npy"]),
        values=LAYOUT.values,
        arrangement=LAYOUT.if_arranged(["results/order/order.json"]),
        starts=LAYOUT.if_arranged(["results/order/starts.npy"]),
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
            arranging=SETTINGS.arranging,
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
