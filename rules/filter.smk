"""What the filters measure of every document, and which they drop.

reads    results/text/{part}.arrow, or results/cut/{part}.arrow
writes   results/measures/{part}.arrow   the values of all filters, text_bytes, source
         results/filter/{part}.arrow     fate, text_bytes, source: a changed limit makes only this
"""


rule measure:
    input:
        text=LAYOUT.text,
    output:
        measures="results/measures/{part}.arrow",
    log:
        "logs/measure/{part}.log",
    benchmark:
        "logs/measure/{part}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.part_memory(base=500, per_text_megabyte=0.1),
    params:
        settings=settings(
            filters=LAYOUT.measuring,
            prefer=config["dedup"]["prefer"],
        ),
        code=code_digest("measure", *LAYOUT.measuring_files),
        paths=named_paths,
    shell:
        run_script("measure")


rule filter:
    input:
        measures="results/measures/{part}.arrow",
    output:
        verdicts="results/filter/{part}.arrow",
    log:
        "logs/filter/{part}.log",
    benchmark:
        "logs/filter/{part}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.part_memory(base=400, per_text_megabyte=0.1),
    params:
        settings=settings(
            filters=LAYOUT.deciding,
        ),
        code=code_digest("filter", *LAYOUT.filter_files),
        paths=named_paths,
    shell:
        run_script("filter")
