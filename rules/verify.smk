"""Finished shards read back and checked; the list of all of them.

reads    a text shard and its token shard; the reference tokenizer
writes   results/verify/{split}/{shard}.json   only if there is no fault
         results/verify/{split}/{shard}.txt    decoded samples, for the eye
         results/tokens/{joined}.bin           the shards of a split in one file, if asked for
         results/manifest.json                 from the input files to all that is kept; only if the account
                                               balances and no source loses too much in its tokens
         results/tokens/meta.pkl               tokenizer, vocab_size, eos_token_id, dtype, totals
         results/eye_test.txt                  all decoded samples
"""


rule verify:
    input:
        text=LAYOUT.text_shard,
        text_facts="results/corpus/{split}/{shard}.json",
        bin="results/tokens/{split}/{shard}.bin",
        idx="results/tokens/{split}/{shard}.idx",
        facts="results/tokens/{split}/{shard}.json",
        placements="results/placements/{split}/{shard}.parquet",
        folder="results/tokenizer",
    output:
        report="results/verify/{split}/{shard}.json",
        eye="results/verify/{split}/{shard}.txt",
    log:
        "logs/verify/{split}/{shard}.log",
    benchmark:
        "logs/verify/{split}/{shard}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.shard_memory(
            base=1000,
            per_text_megabyte=0.5,
            per_largest_megabyte=9,
            bytes_per_document=500,
        ),
    params:
        settings=settings(),
        code=code_digest("verify"),
        paths=named_paths,
    shell:
        run_script("verify")


rule join:
    input:
        bins=LAYOUT.to_join("results/tokens/{split}/{shard}.bin"),
        shard_facts=LAYOUT.to_join("results/tokens/{split}/{shard}.json"),
    output:
        joined_bin="results/tokens/{joined}.bin",
        facts="results/tokens/{joined}.json",
    log:
        "logs/join/{joined}.log",
    benchmark:
        "logs/join/{joined}.tsv"
    wildcard_constraints:
        joined="train|val|test",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.flat_memory(500),
    params:
        settings=settings(),
        code=code_digest("join"),
        paths=named_paths,
    shell:
        run_script("join")


rule manifest:
    input:
        LAYOUT.every("results/verify/{split}/{shard}.json"),
        text_counts=LAYOUT.every("results/text/{part}.json"),
        evaluation="results/holdout/evaluation.json",
        accounts=LAYOUT.every("results/ledger/{part}.json"),
        ledgers=LAYOUT.every("results/ledger/{part}.parquet"),
        placements=LAYOUT.every("results/placements/{split}/{shard}.parquet"),
        clusters=LAYOUT.every("results/clusters/{part}.parquet"),
        quarantine=LAYOUT.every("results/quarantine/{part}.jsonl"),
        records=[
            *LAYOUT.every_if_cut("results/cut/{part}.parquet"),
            *LAYOUT.every_if_edited("results/edited/{part}.parquet"),
        ],
        texts=LAYOUT.every(LAYOUT.text_shard),
        text_facts=LAYOUT.every("results/corpus/{split}/{shard}.json"),
        bins=LAYOUT.every("results/tokens/{split}/{shard}.bin"),
        facts=LAYOUT.every("results/tokens/{split}/{shard}.json"),
        idx=LAYOUT.every("results/tokens/{split}/{shard}.idx"),
        joined=LAYOUT.joined("results/tokens/{joined}.bin"),
        joined_facts=LAYOUT.joined("results/tokens/{joined}.json"),
        eyes=LAYOUT.every("results/verify/{split}/{shard}.txt"),
        folder="results/tokenizer",
    output:
        listing="results/manifest.json",
        meta="results/tokens/meta.pkl",
        eye_test="results/eye_test.txt",
    log:
        "logs/manifest/manifest.log",
    benchmark:
        "logs/manifest/manifest.tsv"
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        settings=settings(
            generation=LAYOUT.generation,
            sources=list(LAYOUT.weights),
            filters=LAYOUT.filter_fates,
            config_digest=config_digest(config),
            code=code_of_results,
            made=made_files,
            record=str(RECORD),
            max_lost_fraction=config["tokenizer"]["max_lost_fraction"],
        ),
        code=code_digest("manifest"),
        paths=named_paths,
    shell:
        run_script("manifest")
