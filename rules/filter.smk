"""Measure every document for the filters, and apply their limits.

reads    results/text/{part}.arrow, or results/cut/{part}.arrow
writes   results/measures/{part}.arrow   the values of all filters, text_bytes, source
         results/filter/{part}.arrow     fate, reason; a changed limit reruns only `filter` and later steps
         results/filter/{part}.json      documents and drops per source, first dropped rows
         results/allowed.json            likewise for all parts; only if no filter drops too much
         and if a filter cuts pieces out of texts:
         results/edited/{part}.arrow     the text part without these pieces, row by row
         results/edited/{part}.parquet   one row per piece
         results/edited/{part}.npy       row, SHA-256 before: documents that lost a piece
         results/edited/{part}.json      pieces and bytes per source, and per rule
"""


rule measure:
    input:
        text=LAYOUT.text_to_measure,
    output:
        measures="results/measures/{part}.arrow",
        edited=LAYOUT.if_edited(["results/edited/{part}.arrow"]),
        edits=LAYOUT.if_edited(["results/edited/{part}.parquet"]),
        unedited=LAYOUT.if_edited(["results/edited/{part}.npy"]),
        edit_counts=LAYOUT.if_edited(["results/edited/{part}.json"]),
    log:
        "logs/measure/{part}.log",
    # Before sign: a filter that drops too much stops the run early. Then all jobs of sign run side
    # by side.
    priority: 2
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_part(
            base=800 + MEMORY.measuring_megabytes,
            per_text_megabyte=0.2,
            per_largest_megabyte=MEMORY.measuring_per_megabyte,
            bytes_per_document=MEMORY.measured_per_document,
        ),
    params:
        settings=settings(
            filters=SETTINGS.measuring,
            prefer=CONFIG.dedup.prefer,
            members=CONFIG.members,
        ),
        code=code_digest("measure"),
        paths=named_paths,
    shell:
        run_script("measure")


rule filter:
    input:
        measures="results/measures/{part}.arrow",
    output:
        verdicts="results/filter/{part}.arrow",
        counts="results/filter/{part}.json",
    log:
        "logs/filter/{part}.log",
    priority: 2
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_part(base=400, bytes_per_document=MEMORY.measured_per_document),
    params:
        settings=settings(
            filters=SETTINGS.deciding,
        ),
        code=code_digest("filter"),
        paths=named_paths,
    shell:
        run_script("filter")


rule allow:
    input:
        texts=LAYOUT.every(LAYOUT.text_to_measure),
        verdicts=LAYOUT.every("results/filter/{part}.arrow"),
        counts=LAYOUT.every("results/filter/{part}.json"),
    output:
        report="results/allowed.json",
    log:
        "logs/allow/allow.log",
    # First: if the run is stopped, no later step should start.
    priority: 10
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        settings=settings(
            limits=SETTINGS.of("filter_limits"),
        ),
        code=code_digest("allow"),
        paths=named_paths,
    shell:
        run_script("allow")
