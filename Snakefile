"""corpusmill: raw text shards in, training-ready token shards out.

demo -> plan -> normalize (-> span -> repeat -> cut) -> measure -> filter -> sign -> band -> pair -> group
     -> extract -> resolve -> assign -> guard -> decontaminate (-> count -> weigh -> apportion -> mix) (-> gauge -> arrange) -> scatter -> gather -> encode -> verify (-> pack)
     -> manifest (-> export), and a ledger of every document -> summarize -> report, card.
"""

from snakemake.utils import min_version

min_version("9.19")


# Defaults; --configfile files are merged over them.
configfile: workflow.source_path("config.yaml")


# First page of `snakemake --report`.
report: "rules/captions/run.rst"


include: "rules/common.smk"
include: "rules/complete.smk"
include: "rules/demo.smk"
include: "rules/read.smk"
include: "rules/spans.smk"
include: "rules/filter.smk"
include: "rules/dedup.smk"
include: "rules/decide.smk"
include: "rules/mixture.smk"
include: "rules/shuffle.smk"
include: "rules/tokenize.smk"
include: "rules/account.smk"
include: "rules/report.smk"


wildcard_constraints:
    part=r"\d{5}",
    block=r"\d{5}",
    bucket=r"\d{5}",
    span_bucket=r"\d{5}",
    bin=r"\d{5}",
    split="|".join(CONFIG.written_splits),
    shard=r"\d{5}",


rule all:
    default_target: True
    input:
        "results/plan/parts.jsonl",
        "results/manifest.json",
        "results/summary.json",
        "results/report.html",
        "results/DATASET_CARD.md",
        "results/training_content.md",
        LAYOUT.if_crawled(["results/domains.csv"]),
        "results/report/funnel.html",
        "results/report/funnel.csv",
        "results/report/similarities.html",
        "results/report/times.html",
        "results/report/times.csv",
        # Every file that users keep, so that a missing one is made again.
        "results/tokens/meta.pkl",
        LAYOUT.every(LAYOUT.text_shard),
        LAYOUT.every("results/tokens/{split}/{shard}.bin"),
        LAYOUT.every("results/tokens/{split}/{shard}.idx"),
        LAYOUT.packed("results/tokens/{split}/pack-{length}.npy"),
        LAYOUT.packed("results/tokens/{split}/pack-{length}.rows.npy"),
        LAYOUT.every("results/placements/{split}/{shard}.parquet"),
        LAYOUT.every("results/ledger/{part}.parquet"),
        LAYOUT.every("results/clusters/{part}.parquet"),
        LAYOUT.if_cut(LAYOUT.every("results/cut/{part}.parquet")),
        expand("results/exports/{form}", form=CONFIG.output.exports),


finish_reading()


onstart:
    begin_run()


onsuccess:
    RUN.end()
    show_result()


onerror:
    # Repeated at the end, as Snakemake prints much else.
    for end in ENDS_OF_JOBS:
        print(end, file=sys.stderr)
