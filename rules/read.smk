"""Divide the input files into parts; read and normalize their records.

plan:
writes   results/plan/parts.jsonl   one line per part: its files, as they were when the run began

normalize:
reads    the input files of the part
writes   results/text/{part}.arrow         text, rest, file, line
         results/text/{part}.json          counts per source
         results/quarantine/{part}.jsonl   malformed records: file, line, offset, reason
         results/admitted.json             only if few enough records are malformed
"""


rule plan:
    output:
        parts="results/plan/parts.jsonl",
    log:
        "logs/plan/plan.log",
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        settings=settings(
            lines=INPUTS.plan_lines,
        ),
        code=code_digest("plan"),
        paths=named_paths,
    shell:
        run_script("plan")


rule normalize:
    input:
        outside(INPUTS.files_of_part),
    output:
        text="results/text/{part}.arrow",
        counts="results/text/{part}.json",
        quarantine="results/quarantine/{part}.jsonl",
    log:
        "logs/normalize/{part}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_files_of_part(base=400, per_record_megabyte=12),
    params:
        settings=settings(
            files=INPUTS.states_of_part,
            normalizing=CONFIG.normalize,
            readers=CONFIG.input.readers,
            limits=CONFIG.input.read_limits,
            most_text_bytes=INPUTS.most_text_bytes,
        ),
        code=code_digest("normalize"),
        paths=named_paths,
    shell:
        run_script("normalize")


rule admit:
    input:
        counts=LAYOUT.every("results/text/{part}.json"),
        quarantine=LAYOUT.every("results/quarantine/{part}.jsonl"),
    output:
        admitted="results/admitted.json",
    log:
        "logs/admit/admit.log",
    # As soon as all parts are read: if the corpus is refused, no later step should start.
    priority: 10
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        settings=settings(
            max_malformed_fraction=SETTINGS.of_sources("max_malformed_fraction"),
        ),
        code=code_digest("admit"),
        paths=named_paths,
    shell:
        run_script("admit")
