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
