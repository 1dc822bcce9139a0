"""Token shards.

reads    results/corpus/{split}/{shard}, results/tokenizer/
writes   results/tokens/{split}/{shard}.bin    token ids, an end-of-text id after every document
         results/tokens/{split}/{shard}.idx    uint64 (documents + 1,): where each begins
         results/tokens/{split}/{shard}.json   dtype, counts, tokenizer, SHA-256
         results/placements/{split}/{shard}.parquet   document id -> shard, row, token span
"""


rule encode:
    input:
        text=LAYOUT.text_shard,
        folder="results/tokenizer",
    output:
        bin="results/tokens/{split}/{shard}.bin",
        idx="results/tokens/{split}/{shard}.idx",
        facts="results/tokens/{split}/{shard}.json",
        placements="results/placements/{split}/{shard}.parquet",
    log:
        "logs/encode/{split}/{shard}.log",
    benchmark:
        "logs/encode/{split}/{shard}.tsv"
    priority: 1  # see gather
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.encoding_memory(base=1200),
    params:
        settings=settings(),
        code=code_digest("encode"),
        paths=named_paths,
    shell:
        run_script("encode")
