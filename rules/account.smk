"""Account for the run: the manifest, the ledger of every record, the summary; exports.

export:
reads    results/manifest.json and the token shards that it lists
writes   results/exports/{form}/   files of the format; export.json describes them

summarize:
reads    all decisions about a part; the facts of all shards
writes   results/ledger/{part}.parquet   one row per input record: its fate and why
         results/ledger/{part}.json      documents and bytes per source and fate
         results/demo/recall.json        share of planted duplicates found (demo only)
         results/summary.json, .txt      the funnel; written only if everything balances
"""


rule manifest:
    input:
        LAYOUT.every("results/verify/{split}/{shard}.json"),
        text_counts=LAYOUT.every("results/text/{part}.json"),
        evaluation="results/holdout/evaluation.json",
        accounts=LAYOUT.every("results/ledger/{part}.json"),
        ledgers=LAYOUT.every("results/ledger/{part}.parquet"),
        placements=LAYOUT.every("results/placements/{split}/{shard}.parquet"),
        clusters=LAYOUT.every("results/clusters/{part}.parquet"),
        quarantine=LAYOUT.every("results/quarantine/{part}.jsonl"),
        records=[
            *LAYOUT.if_cut(LAYOUT.every("results/cut/{part}.parquet")),
            *LAYOUT.if_edited(LAYOUT.every("results/edited/{part}.parquet")),
        ],
        texts=LAYOUT.every(LAYOUT.text_shard),
        text_facts=LAYOUT.every("results/corpus/{split}/{shard}.json"),
        bins=LAYOUT.every("results/tokens/{split}/{shard}.bin"),
        facts=LAYOUT.every("results/tokens/{split}/{shard}.json"),
        idx=LAYOUT.every("results/tokens/{split}/{shard}.idx"),
        joined=LAYOUT.joined("results/tokens/{joined}.bin"),
        joined_facts=LAYOUT.joined("results/tokens/{joined}.json"),
        packs=[
            *LAYOUT.packed("results/tokens/{split}/pack-{length}.npy"),
            *LAYOUT.packed("results/tokens/{split}/pack-{length}.rows.npy"),
            *LAYOUT.packed("results/tokens/{split}/pack-{length}.json"),
        ],
        groups=[
            *LAYOUT.of_splits("results/tokens/{split}/groups.npy"),
            *LAYOUT.of_splits("results/tokens/{split}/groups.json"),
        ],
        eyes=LAYOUT.every("results/verify/{split}/{shard}.txt"),
        folder="results/tokenizer",
    output:
        listing="results/manifest.json",
        meta="results/tokens/meta.pkl",
        eye_test="results/eye_test.txt",
    log:
        "logs/manifest/manifest.log",
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        settings=settings(
            generation=INPUTS.generation,
            sources=list(CONFIG.weights),
            filters=SETTINGS.filter_fates,
            config_digest=config_digest(CONFIG.given),
            code=STEP_RULES.code_of_results,
            made=STEP_RULES.made_files,
            record=str(RECORD),
            loss_limits=SETTINGS.of("loss_limits"),
        ),
        code=code_digest("manifest"),
        paths=named_paths,
    shell:
        run_script("manifest")


rule export:
    input:
        LAYOUT.every("results/tokens/{split}/{shard}.bin"),
        LAYOUT.every("results/tokens/{split}/{shard}.idx"),
        LAYOUT.every("results/placements/{split}/{shard}.parquet"),
        LAYOUT.packed("results/tokens/{split}/pack-{length}.npy"),
        LAYOUT.packed("results/tokens/{split}/pack-{length}.rows.npy"),
        manifest="results/manifest.json",
    output:
        folder=directory("results/exports/{form}"),
    log:
        "logs/export/{form}.log",
    wildcard_constraints:
        form="[a-z0-9-]+",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.flat(1500),
    params:
        settings=settings(
            length=CONFIG.output.sample_tokens,
            packed_samples=CONFIG.output.packed_samples,
        ),
        code=code_digest("export"),
        paths=named_paths,
    shell:
        run_script("export")


rule ledger:
    input:
        text=LAYOUT.text,
        quarantine="results/quarantine/{part}.jsonl",
        counts="results/text/{part}.json",
        measures="results/measures/{part}.arrow",
        verdicts="results/filter/{part}.arrow",
        assigned="results/assign/{part}.arrow",
        marks=LAYOUT.of_block("results/holdout/{block}.arrow"),
        mixed=LAYOUT.copies,
        clusters="results/clusters/{part}.parquet",
        digests="results/digests/{part}.npy",
        cuts=LAYOUT.of_cuts("results/cut/{part}.json", "results/edited/{part}.json"),
        cut_spans=LAYOUT.of_cuts(
            "results/cut/{part}.parquet", "results/edited/{part}.parquet"
        ),
        whole=LAYOUT.of_cuts("results/cut/{part}.npy", "results/edited/{part}.npy"),
    output:
        rows="results/ledger/{part}.parquet",
        account="results/ledger/{part}.json",
    log:
        "logs/ledger/{part}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_part(base=500, per_text_megabyte=0.3, bytes_per_document=500),
    params:
        settings=settings(
            filters=SETTINGS.filter_values,
            stages=[stage.name for stage in CONFIG.stages],
        ),
        code=code_digest("ledger"),
        paths=named_paths,
    shell:
        run_script("ledger")


rule summarize:
    input:
        # Runs last, as it includes the times of all rules.
        manifest="results/manifest.json",
        accounts=LAYOUT.every("results/ledger/{part}.json"),
        text_facts=LAYOUT.every("results/corpus/{split}/{shard}.json"),
        facts=LAYOUT.every("results/tokens/{split}/{shard}.json"),
        # Other counts of the same documents, to compare.
        admitted="results/admitted.json",
        allowed="results/allowed.json",
        duplicates="results/duplicates.json",
        scattered=LAYOUT.listing("scatter"),
        packs=LAYOUT.packed("results/tokens/{split}/pack-{length}.json"),
        meta="results/tokens/meta.pkl",
        plan="results/plan/parts.jsonl",
        languages=LAYOUT.every("results/tally/{block}.json"),
        edits=LAYOUT.if_edited(LAYOUT.every("results/edited/{part}.json")),
        recall=[f"{DEMO}/recall.json"] if INPUTS.uses_demo else [],
        compositions=LAYOUT.of_stages("results/mixture/{split}.json"),
        mixed_counts=LAYOUT.if_mixed(LAYOUT.every("results/copies/{block}.json")),
        arrangement=LAYOUT.if_arranged(["results/order/order.json"]),
        tokenizer="results/tokenizer",
    output:
        summary=report(
            "results/summary.json",
            caption="captions/account.rst",
            category="Documents",
            labels={"result": "Account, to download (JSON)"},
        ),
        readable=report(
            "results/summary.txt",
            caption="captions/account.rst",
            category="Documents",
            labels={"result": "Account, to download (text)"},
        ),
    log:
        "logs/summarize/summarize.log",
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        settings=settings(
            config_digest=config_digest(CONFIG.given),
            configuration=CONFIG.shaping(CONFIG.given),
            span_unit=CONFIG.spans.unit,
            splits=CONFIG.written_splits,
            filters=SETTINGS.filter_fates,
            made=STEP_RULES.made_files,
            record=str(RECORD),
            logs=str(placed("logs")),
        ),
        code=code_digest("summarize"),
        paths=named_paths,
    shell:
        run_script("summarize")
