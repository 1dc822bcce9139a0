"""Tokenize: the tokenizer, token shards, their checks, joined files, packed rows.

tokenizer:
writes   results/tokenizer/   as transformers loads it, and corpusmill.json: settings for jobs

encode:
reads    its slice of results/scatter/{part}.arrows of every part, as gather does; results/tokenizer/
writes   results/tokens/{split}/{shard}.bin    token ids, an end-of-text id after every document
         results/tokens/{split}/{shard}.idx    uint64 (documents + 1,): start of each document
         results/tokens/{split}/{shard}.json   dtype, counts, tokenizer, SHA-256
         results/placements/{split}/{shard}.parquet   document id -> shard, row, token span

verify:
reads    a text shard and its token shard; the reference tokenizer
writes   results/verify/{split}/{shard}.json   only if there is no fault
         results/verify/{split}/{shard}.txt    decoded samples, for the eye
         results/tokens/{joined}.bin           the shards of a split in one file, if asked for
         results/tokens/{split}/pack-{length}.npy        uint64 (pieces, 2): start and end in the split's stream
         results/tokens/{split}/pack-{length}.rows.npy   uint64 (rows + 1,): first piece of each row
         results/tokens/{split}/pack-{length}.json       rows, cut documents, fill rate, SHA-256
         results/tokens/{split}/groups.npy     uint32 (documents,): the group of each document
         results/tokens/{split}/groups.json    source and cell of each group
         results/manifest.json                 inputs and all kept files with SHA-256; only if the account
                                               balances and no source loses too much in its tokens
         results/tokens/meta.pkl               tokenizer, vocab_size, eos_token_id, dtype, totals
         results/eye_test.txt                  all decoded samples
"""


rule tokenizer:
    input:
        outside(lambda wildcards: tokenizer_files(CONFIG.tokenizer.source)),
        train_text=LAYOUT.training_text,
    output:
        folder=directory("results/tokenizer"),
    log:
        "logs/tokenizer/tokenizer.log",
    # A hub id is first loaded here, so that an unusable tokenizer stops the run at its start. A local
    # one was checked before any job, and waits for an idle core.
    priority: -1 if local_tokenizer(CONFIG.tokenizer.source) else 20
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.flat(2000),
    params:
        settings=settings(
            choice=SETTINGS.of("tokenizer"),
        ),
        # Any change of file times counts, also to an older one.
        states=lambda wildcards: states_of_files(CONFIG.tokenizer.source),
        code=code_digest("tokenizer"),
        paths=named_paths,
    shell:
        run_script("tokenizer")


rule encode:
    input:
        listing=LAYOUT.listing("scatter"),
        folder="results/tokenizer",
    output:
        bin="results/tokens/{split}/{shard}.bin",
        idx="results/tokens/{split}/{shard}.idx",
        facts="results/tokens/{split}/{shard}.json",
        placements="results/placements/{split}/{shard}.parquet",
    log:
        "logs/encode/{split}/{shard}.log",
    priority: 1  # see gather
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_encoding(
            base=1200, per_text_megabyte=1.2, bytes_per_document=300
        ),
    params:
        settings=settings(
            shards=LAYOUT.shards,
        ),
        code=code_digest("encode"),
        paths=named_paths,
    shell:
        run_script("encode")


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
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_shard(
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
    wildcard_constraints:
        joined="|".join(map(joined_name, CONFIG.written_splits)),
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.flat(500),
    params:
        settings=settings(),
        code=code_digest("join"),
        paths=named_paths,
    shell:
        run_script("join")


rule pack:
    input:
        idx=LAYOUT.to_pack("results/tokens/{split}/{shard}.idx"),
    output:
        pieces="results/tokens/{split}/pack-{length}.npy",
        rows="results/tokens/{split}/pack-{length}.rows.npy",
        facts="results/tokens/{split}/pack-{length}.json",
    log:
        "logs/pack/{split}/{length}.log",
    wildcard_constraints:
        length=r"\d+",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_packing(base=400, bytes_per_piece=72),
    params:
        settings=settings(seed=CONFIG.shuffle.seed),
        code=code_digest("pack"),
        paths=named_paths,
    shell:
        run_script("pack")


rule label:
    input:
        placements=LAYOUT.to_pack("results/placements/{split}/{shard}.parquet"),
        compositions=LAYOUT.if_stage("results/mixture/{split}.json"),
        copies=LAYOUT.if_stage(
            LAYOUT.if_mixed(LAYOUT.every("results/copies/{block}.arrow"))
        ),
    output:
        numbers="results/tokens/{split}/groups.npy",
        legend="results/tokens/{split}/groups.json",
    log:
        "logs/label/{split}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        # Per document: its number in the shards, and its id and cell in the mixture.
        mem_mb=MEMORY.of_documents(base=500, bytes_per_document=16),
    params:
        settings=settings(),
        code=code_digest("label"),
        paths=named_paths,
    shell:
        run_script("label")
