"""Compose train: tokens, cells and copies of each document. No rule here runs without a mixture.

count:
reads    the text and the decisions of a part; results/tokenizer/
writes   results/ids/{part}.bin        token ids of every candidate, each with an end-of-text id
         results/ids/{part}.npy        uint64 (documents + 1,): start of each document

weigh:
reads    measures and decisions of a block of parts; results/ids/{part}.npy if the budget is in tokens
writes   results/candidates/{block}.arrow   id, size, source and values of every candidate, part by part
         results/candidates/{block}.json    documents, names that occur, digest

apportion:
reads    results/candidates/{block}.arrow of every block
writes   results/mixture/{split}.json       per cell: documents, size, wanted and reached size, level
         results/mixture/{split}.npy        cell and factor of each class; both for train or each stage

mix:
writes   results/copies/{block}.arrow       id and copies of every candidate, part by part, stage by stage
         results/copies/{block}.json        per cell: documents by number of copies, size of all copies
"""


rule count:
    input:
        text=LAYOUT.text,
        verdicts="results/filter/{part}.arrow",
        assigned="results/assign/{part}.arrow",
        marks=LAYOUT.of_block("results/holdout/{block}.arrow"),
        folder="results/tokenizer",
    output:
        token_ids="results/ids/{part}.bin",
        token_starts="results/ids/{part}.npy",
    log:
        "logs/count/{part}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_counting(
            base=1200, per_text_megabyte=0.1, bytes_per_document=300
        ),
    params:
        settings=settings(),
        code=code_digest("count"),
        paths=named_paths,
    shell:
        run_script("count")


rule weigh:
    input:
        measures=LAYOUT.files_of_block("results/measures/{part}.arrow"),
        verdicts=LAYOUT.files_of_block("results/filter/{part}.arrow"),
        assigned=LAYOUT.files_of_block("results/assign/{part}.arrow"),
        marks="results/holdout/{block}.arrow",
        token_starts=LAYOUT.if_counted(LAYOUT.files_of_block("results/ids/{part}.npy")),
        resolved=LAYOUT.if_mixed(LAYOUT.listing("resolved")),
    output:
        candidates="results/candidates/{block}.arrow",
        counts="results/candidates/{block}.json",
    log:
        "logs/weigh/{block}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_largest_part(
            base=600, bytes_per_document=MEMORY.measured_per_document
        ),
    params:
        settings=settings(
            first_part=LAYOUT.first_of_block,
            stages=SETTINGS.stages,
        ),
        code=code_digest("weigh"),
        paths=named_paths,
    shell:
        run_script("weigh")


rule apportion:
    input:
        listing=LAYOUT.listing("candidates"),
    output:
        compositions=LAYOUT.of_stages("results/mixture/{split}.json"),
        classes=LAYOUT.of_stages("results/mixture/{split}.npy"),
    log:
        "logs/apportion/apportion.log",
    # First: if the mixture is refused, no later step should start.
    priority: 10
    conda:
        "../envs/corpusmill.yaml"
    resources:
        # With 40,000 classes, one document in 24 is near the level of its cell.
        mem_mb=MEMORY.of_apportioning(
            base=900,
            bytes_per_document=MEMORY.measured_per_document,
            bytes_per_document_of_corpus=3,
        ),
    params:
        settings=settings(
            stages=SETTINGS.stages,
        ),
        code=code_digest("apportion"),
        paths=named_paths,
    shell:
        run_script("apportion")


rule mix:
    input:
        candidates="results/candidates/{block}.arrow",
        compositions=LAYOUT.of_stages("results/mixture/{split}.json"),
        classes=LAYOUT.of_stages("results/mixture/{split}.npy"),
    output:
        copies="results/copies/{block}.arrow",
        counts="results/copies/{block}.json",
    log:
        "logs/mix/{block}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_largest_part(
            base=600, bytes_per_document=MEMORY.measured_per_document
        ),
    params:
        settings=settings(
            first_part=LAYOUT.first_of_block,
            stages=SETTINGS.stages,
        ),
        code=code_digest("mix"),
        paths=named_paths,
    shell:
        run_script("mix")
