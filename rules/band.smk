"""Sorted LSH band keys and digests of each part.

reads    results/signatures/{part}.npy, results/digests/{part}.npy, results/filter/{part}.arrow
writes   results/bands/{part}.npy          keys uint64, rows uint32: (bands, entries) each
         results/bands/{part}.texts.npy    the same of the digests: one band
         results/bands/{part}.json         documents, entries, digests
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
        mem_mb=LAYOUT.part_memory(
            base=500, bytes_per_document=500 + 4 * LAYOUT.permutations
        ),
    params:
        settings=settings(
            banding=LAYOUT.banding,
            candidates=config["dedup"]["candidates"],
        ),
        code=code_digest("band"),
        paths=named_paths,
    shell:
        run_script("band")
