"""The bundled demo corpus, made only if the config names its files.

writes   results/demo/*   five sources of text, evaluation texts, and the list of planted duplicates
"""


rule demo:
    output:
        list(GENERATED),
        truth=f"{DEMO}/truth.jsonl",
    log:
        "logs/demo/demo.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.flat(1000),
    params:
        settings=settings(),
        code=code_digest("demo"),
        paths=named_paths,
    shell:
        run_script("demo")


rule recall:
    input:
        truth=f"{DEMO}/truth.jsonl",
        ledger=LAYOUT.every("results/ledger/{part}.parquet"),
    output:
        report=f"{DEMO}/recall.json",
    log:
        "logs/recall/recall.log",
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        settings=settings(),
        code=code_digest("recall"),
        paths=named_paths,
    shell:
        run_script("recall")
