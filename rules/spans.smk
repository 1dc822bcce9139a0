"""Cut repeated spans out of the texts. No rule here runs if `spans.unit` is none.

reads    results/text/{part}.arrow; then its slice of results/spans/{part}.npy of every part,
         through results/spans/complete.json; then its slice of every results/repeats/{span_bucket}.npy,
         through results/repeats/complete.json
writes   results/spans/{part}.npy        uint64 (2, spans): keys ascending; row << 32 | first unit
         results/spans/{part}.json       spans, digest
         results/repeats/{span_bucket}.npy    uint64 (4, repeats): id, unit, key, id of the first occurrence
         results/repeats/{span_bucket}.json   repeats, digest
         results/cut/{part}.arrow        the text part without these spans, row by row
         results/cut/{part}.parquet      one row per cut span
         results/cut/{part}.npy          row, SHA-256 before: documents that lost a span
         results/cut/{part}.json         spans and bytes per source
"""


rule span:
    input:
        text="results/text/{part}.arrow",
    output:
        spans="results/spans/{part}.npy",
        counts="results/spans/{part}.json",
    log:
        "logs/span/{part}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_part(base=700, per_text_megabyte=1, per_largest_megabyte=20),
    params:
        settings=settings(
            span=SETTINGS.span,
            cut_spans=SETTINGS.of_sources("cut_spans"),
        ),
        code=code_digest("span"),
        paths=named_paths,
    shell:
        run_script("span")


rule repeat:
    input:
        # If the corpus is refused, no later step should start.
        "results/admitted.json",
        listing=LAYOUT.listing("spans"),
    output:
        repeats="results/repeats/{span_bucket}.npy",
        counts="results/repeats/{span_bucket}.json",
    log:
        "logs/repeat/{span_bucket}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_bucket(base=500, bytes_per_entry=160),
    params:
        settings=settings(
            buckets=LAYOUT.buckets("span_bucket"),
        ),
        code=code_digest("repeat"),
        paths=named_paths,
    shell:
        run_script("repeat")


rule cut:
    input:
        text="results/text/{part}.arrow",
        listing=LAYOUT.listing("repeats"),
    output:
        cut_text="results/cut/{part}.arrow",
        record="results/cut/{part}.parquet",
        whole="results/cut/{part}.npy",
        counts="results/cut/{part}.json",
    log:
        "logs/cut/{part}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_part(base=800, per_text_megabyte=1, per_largest_megabyte=20),
    params:
        settings=settings(
            span=SETTINGS.span,
        ),
        code=code_digest("cut"),
        paths=named_paths,
    shell:
        run_script("cut")
