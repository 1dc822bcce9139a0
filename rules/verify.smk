"""Finished shards read back and checked; the list of all of them.

reads    a text shard and its token shard; the reference tokenizer
writes   results/verify/{split}/{shard}.json   only if there is no fault
         results/verify/{split}/{shard}.txt    decoded samples, for the eye
         results/tokens/{joined}.bin           the shards of a split in one file, if asked for
         results/manifest.json                 all text and token files; only if the account balances
                                               and no source loses too much in its tokens
         results/tokens/meta.pkl               tokenizer, vocab_size, eos_token_id, dtype, totals
         results/eye_test.txt                  all decoded samples
"""


rule verify:
    input:
        text=f"results/corpus/{{split}}/{{shard}}.{TEXT_ENDING}",
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
        mem_mb=shard_memory(base=1000, per_text_megabyte=0.5),
    params:
        told=told(),
        code=code_digest("verify"),
        paths=named_paths,
    shell:
        run_script("verify")


rule join:
    input:
        bins=bins_to_join,
        facts=facts_to_join,
    output:
        joined="results/tokens/{joined}.bin",
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
        mem_mb=500,
    params:
        told=told(),
        code=code_digest("join"),
        paths=named_paths,
    shell:
        run_script("join")


rule manifest:
    input:
        accounts=of_parts("results/ledger/{part}.json"),
        texts=shards_of_all(f"results/corpus/{{split}}/{{shard}}.{TEXT_ENDING}"),
        text_facts=shards_of_all("results/corpus/{split}/{shard}.json"),
        bins=shards_of_all("results/tokens/{split}/{shard}.bin"),
        facts=shards_of_all("results/tokens/{split}/{shard}.json"),
        idx=shards_of_all("results/tokens/{split}/{shard}.idx"),
        joined=joined_files("results/tokens/{joined}.bin"),
        joined_facts=joined_files("results/tokens/{joined}.json"),
        reports=shards_of_all("results/verify/{split}/{shard}.json"),
        eyes=shards_of_all("results/verify/{split}/{shard}.txt"),
        folder="results/tokenizer",
    output:
        listing="results/manifest.json",
        meta="results/tokens/meta.pkl",
        eye_test="results/eye_test.txt",
    log:
        "logs/manifest/manifest.log",
    benchmark:
        "logs/manifest/manifest.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        told=told(
            generation=GENERATION,
            sources=list(WEIGHTS),
            made=made_files,
            max_lost_fraction=config["tokenizer"]["max_lost_fraction"],
        ),
        code=code_digest("manifest"),
        paths=named_paths,
    shell:
        run_script("manifest")
