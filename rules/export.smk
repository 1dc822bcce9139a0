"""The finished corpus in the formats of other trainers, if asked for.

reads    results/manifest.json and the token shards that it lists
writes   results/exports/{form}/   files of the format; export.json, what they are
"""


rule export:
    input:
        LAYOUT.every("results/tokens/{split}/{shard}.bin"),
        LAYOUT.every("results/tokens/{split}/{shard}.idx"),
        LAYOUT.every("results/placements/{split}/{shard}.parquet"),
        manifest="results/manifest.json",
    output:
        folder=directory("results/exports/{form}"),
    log:
        "logs/export/{form}.log",
    benchmark:
        "logs/export/{form}.tsv"
    wildcard_constraints:
        form="[a-z0-9-]+",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.flat_memory(1500),
    params:
        settings=settings(length=config["output"]["sample_tokens"]),
        code=code_digest("export"),
        paths=named_paths,
    shell:
        run_script("export")
