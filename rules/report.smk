"""Report on the run, for `snakemake --report` or a browser.

reads    the account of the run, clusters of duplicates, measured values, decisions
writes   results/report.html                 the whole run on one page
         results/tally/{block}.bins.parquet, .totals.parquet   distributions of values
         results/tally/{block}.json          documents and bytes per language
         results/report/statistics.html      distributions per source and language, read and kept
         results/report/statistics.parquet, histograms.parquet   likewise as tables
         results/report/funnel.html, .csv    documents and bytes per source and fate
         results/report/similarities.html    near-duplicates by similarity to the kept document
         results/report/times.html, .csv     seconds, CPU and memory per rule

card:
reads    the account of the run, the list of its files, domains of crawled documents
writes   results/DATASET_CARD.md             the corpus, as on the Hugging Face hub
         results/training_content.md         its sources, after the template of the EU
         and if a source was crawled:
         results/domains/{block}.arrow       documents and bytes per domain
         results/domains.csv                 the largest domains
"""


rule tally:
    input:
        measures=LAYOUT.files_of_block("results/measures/{part}.arrow"),
        verdicts=LAYOUT.files_of_block("results/filter/{part}.arrow"),
        assigned=LAYOUT.files_of_block("results/assign/{part}.arrow"),
        marks="results/holdout/{block}.arrow",
        mixed=LAYOUT.if_mixed(["results/copies/{block}.arrow"]),
    output:
        bins="results/tally/{block}.bins.parquet",
        totals="results/tally/{block}.totals.parquet",
        languages="results/tally/{block}.json",
    log:
        "logs/tally/{block}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_largest_part(
            base=800, bytes_per_document=MEMORY.measured_per_document
        ),
    params:
        settings=settings(
            first_part=LAYOUT.first_of_block,
        ),
        code=code_digest("tally"),
        paths=named_paths,
    shell:
        run_script("tally")


rule report:
    input:
        bins=LAYOUT.every("results/tally/{block}.bins.parquet"),
        totals=LAYOUT.every("results/tally/{block}.totals.parquet"),
        summary="results/summary.json",
        account="results/summary.txt",
        duplicates="results/duplicates.json",
        clusters=LAYOUT.every("results/clusters/{part}.parquet"),
        quarantine=LAYOUT.every("results/quarantine/{part}.jsonl"),
    output:
        whole=report(
            "results/report.html",
            caption="captions/whole.rst",
            category="Documents",
            labels={"result": "All of the run on one page"},
        ),
        funnel=report(
            "results/report/funnel.html",
            caption="captions/funnel.rst",
            category="Documents",
            labels={"result": "Funnel, by source and fate"},
        ),
        funnel_table=report(
            "results/report/funnel.csv",
            caption="captions/funnel.rst",
            category="Documents",
            labels={"result": "Funnel, to download (CSV)"},
        ),
        similarities=report(
            "results/report/similarities.html",
            caption="captions/similarities.rst",
            category="Documents",
            labels={"result": "Near-duplicates, by similarity"},
        ),
        statistics=report(
            "results/report/statistics.html",
            caption="captions/statistics.rst",
            category="Documents",
            labels={"result": "Statistics, by source and language"},
        ),
        statistics_table="results/report/statistics.parquet",
        histograms="results/report/histograms.parquet",
        times=report(
            "results/report/times.html",
            caption="captions/times.rst",
            category="Time and memory",
            labels={"result": "Every rule"},
        ),
        times_table=report(
            "results/report/times.csv",
            caption="captions/times.rst",
            category="Time and memory",
            labels={"result": "Every rule, to download (CSV)"},
        ),
    log:
        "logs/report/report.log",
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=1500,
    params:
        settings=settings(
            threshold=CONFIG.dedup.threshold,
            config=CONFIG.shaping(CONFIG.given),
        ),
        code=code_digest(
            "report", *sorted(ROOT.glob("corpusmill/mill/report/templates/*"))
        ),
        paths=named_paths,
    shell:
        run_script("report")


rule domains:
    input:
        texts=LAYOUT.files_of_block(LAYOUT.text),
        measures=LAYOUT.files_of_block("results/measures/{part}.arrow"),
        verdicts=LAYOUT.files_of_block("results/filter/{part}.arrow"),
        assigned=LAYOUT.files_of_block("results/assign/{part}.arrow"),
        marks="results/holdout/{block}.arrow",
        mixed=LAYOUT.if_mixed(["results/copies/{block}.arrow"]),
    output:
        counts="results/domains/{block}.arrow",
    log:
        "logs/domains/{block}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_largest_part(
            base=700, per_largest_megabyte=4, bytes_per_document=2500
        ),
    params:
        settings=settings(
            first_part=LAYOUT.first_of_block,
            members=CONFIG.crawled,
        ),
        code=code_digest("domains"),
        paths=named_paths,
    shell:
        run_script("domains")


rule card:
    input:
        summary="results/summary.json",
        manifest="results/manifest.json",
        counts=LAYOUT.if_crawled(LAYOUT.every("results/domains/{block}.arrow")),
    output:
        dataset_card="results/DATASET_CARD.md",
        training_content="results/training_content.md",
        domain_list=LAYOUT.if_crawled(["results/domains.csv"]),
    log:
        "logs/card/card.log",
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=1500,
    params:
        settings=settings(
            provenance=SETTINGS.of("provenance"),
        ),
        code=code_digest("card"),
        paths=named_paths,
    shell:
        run_script("card")
