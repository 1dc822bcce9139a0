"""Sorted LSH band keys and digests of each part, and the word that all parts have them.

reads    results/signatures/{part}.npy, results/digests/{part}.npy, results/filter/{part}.arrow
writes   results/bands/{part}.npy          keys uint64, rows uint32: (bands, entries) each
         results/bands/{part}.texts.npy    the same of the digests: one band
         results/bands/{part}.json         documents, entries, digests
         results/bands/complete.json       all of these, in part order
"""


rule band:
    input:
        signatures="results/signatures/{part}.npy",
        digests="results/digests/{part}.npy",
        verdicts="results/filter/{part}.arrow",
    output:
        band_entries="results/bands/{part}.npy",
        text_entries="results/bands/{part}.texts.npy",
        counts="results/bands/{part}.json",
    log:
        "logs/band/{part}.log",
    benchmark:
        "logs/band/{part}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=part_memory(base=500, per_text_megabyte=1),
    params:
        told=told(
            method=METHOD,
            candidates=config["dedup"]["candidates"],
            bands=BANDS,
            rows=BAND_ROWS,
        ),
        code=code_digest("band"),
        paths=named_paths,
    shell:
        run_script("band")


rule complete_bands:
    input:
        counts=of_parts("results/bands/{part}.json"),
        admitted="results/admitted.json",
    output:
        listing="results/bands/complete.json",
    log:
        "logs/complete_bands/complete.log",
    benchmark:
        "logs/complete_bands/complete.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        told=told(),
        code=code_digest("complete"),
        paths=named_paths,
    shell:
        run_script("complete")
