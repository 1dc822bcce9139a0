"""The short-document filter.

reads    results/text/{part}.arrow, or results/cut/{part}.arrow
writes   results/filter/{part}.arrow   fate, chars (of the cleaned text), text_bytes, source
"""


rule filter:
    input:
        text=LAYOUT.text,
    output:
        verdicts="results/filter/{part}.arrow",
    log:
        "logs/filter/{part}.log",
    benchmark:
        "logs/filter/{part}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.part_memory(base=500, per_text_megabyte=0.1),
    params:
        settings=settings(
            min_chars=config["filter"]["min_chars"],
            prefer=config["dedup"]["prefer"],
        ),
        code=code_digest("filter"),
        paths=named_paths,
    shell:
        run_script("filter")
