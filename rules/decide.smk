"""Decide the fate, split and copies of every document; take held-out texts out of train.

assign:
reads    results/filter/{part}.arrow, results/measures/{part}.arrow, results/digests/{part}.npy,
         results/cut/{part}.npy if spans are cut; results/resolved/{bin}.npy, through results/resolved/complete.json
writes   results/assign/{part}.arrow   fate, winner, similarity, stage, split, copies
         results/clusters/{part}.parquet   dropped duplicates: kept document, similarity, stage
         results/holdout/{part}.npy    digest, origin: held-out texts of the part
         results/assign/{part}.json    counts, digest

decontaminate:
reads    results/holdout/{part}.npy of every part, through results/assign/complete.json;
         results/digests/{part}.npy and results/cut/{part}.npy of a block; the held_out sources
writes   results/holdout/evaluation.npy     digest, origin: texts of the held_out sources
         results/holdout/all.npy            digest, origin: all held-out texts
         results/holdout/{block}.arrow      per document of the block: which set holds out its text
"""


rule assign:
    input:
        verdicts="results/filter/{part}.arrow",
        measures="results/measures/{part}.arrow",
        digests="results/digests/{part}.npy",
        whole=LAYOUT.of_cuts("results/cut/{part}.npy", "results/edited/{part}.npy"),
        resolved=LAYOUT.listing("resolved"),
    output:
        assigned="results/assign/{part}.arrow",
        held_out="results/holdout/{part}.npy",
        clusters="results/clusters/{part}.parquet",
        counts="results/assign/{part}.json",
    log:
        "logs/assign/{part}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_part(base=500, bytes_per_document=200),
    params:
        settings=settings(
            sampling=SETTINGS.sampling,
            agreement=SETTINGS.agreement,
        ),
        code=code_digest("assign"),
        paths=named_paths,
    shell:
        run_script("assign")


rule evaluation:
    input:
        outside(INPUTS.held_out_files),
    output:
        held_out="results/holdout/evaluation.npy",
        counts="results/holdout/evaluation.json",
    log:
        "logs/evaluation/evaluation.log",
    # First, so that a fault in an evaluation set shows at once, not after hours.
    priority: 10 if INPUTS.held_out else -1
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_held_out_files(
            base=400, bytes_per_text=160, per_record_megabyte=12
        ),
    params:
        settings=settings(
            files=INPUTS.held_out_states,
            max_malformed_fraction=SETTINGS.of_sources("max_malformed_fraction"),
            normalizing=CONFIG.normalize,
            readers=CONFIG.input.readers,
            limits=CONFIG.input.read_limits,
        ),
        code=code_digest("evaluation"),
        paths=named_paths,
    shell:
        run_script("evaluation")


rule holdout:
    input:
        listing=LAYOUT.listing("assign"),
        evaluation="results/holdout/evaluation.npy",
    output:
        held_out="results/holdout/all.npy",
    log:
        "logs/holdout/holdout.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_held_out(base=600, bytes_per_text=160),
    params:
        settings=settings(),
        code=code_digest("holdout"),
        paths=named_paths,
    shell:
        run_script("holdout")


rule decontaminate:
    input:
        # If the corpus is refused, no later step should start.
        "results/duplicates.json",
        digests=LAYOUT.files_of_block("results/digests/{part}.npy"),
        whole=LAYOUT.if_cut(LAYOUT.files_of_block("results/cut/{part}.npy")),
        unedited=LAYOUT.if_edited(LAYOUT.files_of_block("results/edited/{part}.npy")),
        held_out="results/holdout/all.npy",
    output:
        marks="results/holdout/{block}.arrow",
    log:
        "logs/decontaminate/{block}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_held_out(base=900, bytes_per_text=20),
    params:
        settings=settings(
            first_part=LAYOUT.first_of_block,
        ),
        code=code_digest("decontaminate"),
        paths=named_paths,
    shell:
        run_script("decontaminate")
