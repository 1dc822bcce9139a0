"""Train documents whose text is held out, by SHA-256; with that all is decided.

reads    results/holdout/{part}.npy of every part, through results/assign/complete.json;
         results/assign/{part}.arrow and results/cut/{part}.npy of a block; the
         held_out sources; the digests of the parts
writes   results/holdout/evaluation.npy     digest, origin: texts of the held_out sources
         results/holdout/all.npy            the same of every held-out text
         results/decided/{block}.arrow   all that was decided of every document of the block
"""


rule evaluation:
    input:
        outside(LAYOUT.held_out_files),
    output:
        held_out="results/holdout/evaluation.npy",
        counts="results/holdout/evaluation.json",
    log:
        "logs/evaluation/evaluation.log",
    benchmark:
        "logs/evaluation/evaluation.tsv"
    # Before all else: a fault in an evaluation set should not come after hours.
    priority: 10
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.evaluation_memory(
            base=400, bytes_per_text=160, per_record_megabyte=12
        ),
    params:
        settings=settings(
            files=LAYOUT.held_out_states,
            max_malformed_fraction=LAYOUT.of_sources("max_malformed_fraction", 0),
            mode=config["normalize"]["mode"],
            readers=config["input"]["readers"],
            limits=LAYOUT.read_limits,
        ),
        code=code_digest("evaluation", *map(Path, config["input"]["readers"])),
        paths=named_paths,
    shell:
        run_script("evaluation")


rule holdout:
    input:
        "results/duplicates.json",
        listing="results/assign/complete.json",
        evaluation="results/holdout/evaluation.npy",
    output:
        held_out="results/holdout/all.npy",
    log:
        "logs/holdout/holdout.log",
    benchmark:
        "logs/holdout/holdout.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.held_out_memory(base=600, bytes_per_text=160),
    params:
        settings=settings(),
        code=code_digest("holdout"),
        paths=named_paths,
    shell:
        run_script("holdout")


rule decontaminate:
    input:
        decisions=LAYOUT.files_of_block("results/assign/{part}.arrow"),
        digests=LAYOUT.files_of_block("results/digests/{part}.npy"),
        whole=if_cut(LAYOUT.files_of_block("results/cut/{part}.npy")),
        unedited=if_edited(LAYOUT.files_of_block("results/edited/{part}.npy")),
        held_out="results/holdout/all.npy",
    output:
        decided="results/decided/{block}.arrow",
    log:
        "logs/decontaminate/{block}.log",
    benchmark:
        "logs/decontaminate/{block}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.held_out_memory(base=900, bytes_per_text=20),
    params:
        settings=settings(
            first_part=LAYOUT.first_of_block,
        ),
        code=code_digest("decontaminate"),
        paths=named_paths,
    shell:
        run_script("decontaminate")
