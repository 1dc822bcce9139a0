"""Train documents whose text is held out, by SHA-256.

reads    results/holdout/{part}.npy of every part, the held_out sources; per part its digests
writes   results/holdout/all.npy            digest, origin: every held-out text
         results/decontaminate/{part}.npy   uint8: who holds the document's text out, 0 nobody
"""


rule holdout:
    input:
        parts=of_parts("results/holdout/{part}.npy"),
        evaluation=[file.path for file in HELD_OUT],
    output:
        held_out="results/holdout/all.npy",
    log:
        "logs/holdout/holdout.log",
    benchmark:
        "logs/holdout/holdout.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=documents_memory(base=600, bytes_per_document=2),
    params:
        evaluation=described(HELD_OUT),
        mode=config["normalize"]["mode"],
        code=code_digest("holdout"),
    script:
        "../scripts/holdout.py"


rule decontaminate:
    input:
        decisions="results/assign/{part}.arrow",
        digests="results/digests/{part}.npy",
        held_out="results/holdout/all.npy",
    output:
        marks="results/decontaminate/{part}.npy",
    log:
        "logs/decontaminate/{part}.log",
    benchmark:
        "logs/decontaminate/{part}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=part_memory(base=500, per_text_megabyte=0.1),
    params:
        code=code_digest("decontaminate"),
    script:
        "../scripts/decontaminate.py"
