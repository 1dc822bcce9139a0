"""The fate, the split and the copies of every document: decisions only.

reads    results/filter/{part}.arrow, results/digests/{part}.npy, results/cut/{part}.npy if spans are
         cut; results/resolved/{bin}.npy, through results/resolved/complete.json
writes   results/assign/{part}.arrow   fate, winner, similarity, stage, split, copies
         results/clusters/{part}.parquet   of dropped duplicates: for whom, how similar, why
         results/holdout/{part}.npy    digest, origin of the part's own held-out texts
         results/assign/{part}.json    counts, digest
"""


rule assign:
    input:
        verdicts="results/filter/{part}.arrow",
        digests="results/digests/{part}.npy",
        whole=[
            *LAYOUT.if_cut("results/cut/{part}.npy"),
            *LAYOUT.if_edited("results/edited/{part}.npy"),
        ],
        resolved="results/resolved/complete.json",
    output:
        decisions="results/assign/{part}.arrow",
        held_out="results/holdout/{part}.npy",
        clusters="results/clusters/{part}.parquet",
        counts="results/assign/{part}.json",
    log:
        "logs/assign/{part}.log",
    benchmark:
        "logs/assign/{part}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.part_memory(base=500, bytes_per_document=200),
    params:
        settings=settings(
            sampling=LAYOUT.sampling,
        ),
        code=code_digest("assign"),
        paths=named_paths,
    shell:
        run_script("assign")
