"""What a person is shown of the run, by `snakemake --report` or in a browser.

reads    the account of the run; who was removed for whom
writes   results/report/funnel.html, .csv    documents and bytes per source and fate
         results/report/similarities.html    near-duplicates by their similarity to what was kept
         results/report/times.html, .csv     seconds, CPU and memory per rule
"""


rule report:
    input:
        summary="results/summary.json",
        account="results/summary.txt",
        clusters=LAYOUT.every("results/clusters/{part}.parquet"),
    output:
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
    benchmark:
        "logs/report/report.tsv"
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        settings=settings(
            threshold=config["dedup"]["threshold"],
        ),
        code=code_digest("report"),
        paths=named_paths,
    shell:
        run_script("report")
