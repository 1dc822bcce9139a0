"""Connected components of all pairs, each in one of the bins that are resolved apart.

reads    results/pairs/{bucket}.npy, through results/pairs/complete.json
writes   results/groups/labels.npy   uint32 (documents of all parts,): bin, and who must be read
         results/groups/starts.npy   int64 (parts + 1,): where each part begins in it
"""


rule group:
    input:
        listing="results/bands/complete.json",
        pairs="results/pairs/complete.json",
    output:
        labels="results/groups/labels.npy",
        starts="results/groups/starts.npy",
    log:
        "logs/group/group.log",
    benchmark:
        "logs/group/group.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.documents_memory(base=800, bytes_per_document=8),
    params:
        settings=settings(
            similarity=LAYOUT.similarity,
            bins=LAYOUT.counts["bin"],
            engine=config["dedup"]["engine"],
        ),
        code=code_digest("group"),
        paths=named_paths,
    shell:
        run_script("group")
