"""The tokenizer of the run, loaded or trained once; encode jobs need no network.

writes   results/tokenizer/   as transformers loads it, and corpusmill.json: what jobs must know
"""


rule tokenizer:
    input:
        outside(lambda wildcards: tokenizer_files(config["tokenizer"]["source"])),
        train_text=training_text(),
    output:
        folder=directory("results/tokenizer"),
    log:
        "logs/tokenizer/tokenizer.log",
    benchmark:
        "logs/tokenizer/tokenizer.tsv"
    # A hub id is loaded here for the first time: what is no tokenizer stops the run at its start. A
    # local one was looked at before any job, and waits for a core that has nothing else to do.
    priority: -1 if local_tokenizer(config["tokenizer"]["source"]) else 20
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.flat_memory(2000),
    params:
        settings=settings(
            source=config["tokenizer"]["source"],
            train_vocabulary=config["tokenizer"]["train_vocabulary"],
            end_of_text=config["tokenizer"]["end_of_text"],
            engine=config["tokenizer"]["engine"],
        ),
        # An older file is another one too.
        states=lambda wildcards: states_of_files(config["tokenizer"]["source"]),
        code=code_digest("tokenizer"),
        paths=named_paths,
    shell:
        run_script("tokenizer")
