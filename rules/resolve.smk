"""Who is kept of the documents that are alike, and for whose sake each of the others is dropped.

reads    results/groups/, results/pairs/, results/text or results/cut/{part}.arrow, results/filter/{part}.arrow
writes   results/extracts/{block}.arrows   id, order, text of documents in pairs, bin by bin
         results/extracts/{block}.npy      uint64 (parts, bins + 1): where each bin begins
         results/extracts/{block}.edges.npy, .starts.npy   their pairs by bin, where each begins
         results/extracts/{block}.json     the files, digests
         results/resolved/{bin}.npy        id, winner, similarity, stage of dropped documents
         results/resolved/{bin}.json       counts, the largest groups
         results/duplicates.json           what the guard looked at; only if it let the run pass
"""


rule extract:
    input:
        texts=LAYOUT.files_of_block(LAYOUT.text),
        verdicts=LAYOUT.files_of_block("results/filter/{part}.arrow"),
        labels="results/groups/labels.npy",
        starts="results/groups/starts.npy",
        pairs="results/pairs/complete.json",
    output:
        data="results/extracts/{block}.arrows",
        index="results/extracts/{block}.npy",
        edges="results/extracts/{block}.edges.npy",
        edge_starts="results/extracts/{block}.starts.npy",
        counts="results/extracts/{block}.json",
    log:
        "logs/extract/{block}.log",
    benchmark:
        "logs/extract/{block}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.largest_part_memory(
            base=600, per_text_megabyte=3, bytes_per_document=200
        ),
    params:
        settings=settings(
            first_part=LAYOUT.first_of_block,
            bins=LAYOUT.counts["bin"],
            preference=LAYOUT.preference,
        ),
        code=code_digest("extract"),
        paths=named_paths,
    shell:
        run_script("extract")


rule resolve:
    input:
        listing="results/extracts/complete.json",
    output:
        dropped="results/resolved/{bin}.npy",
        report="results/resolved/{bin}.json",
    log:
        "logs/resolve/{bin}.log",
    benchmark:
        "logs/resolve/{bin}.tsv"
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=LAYOUT.largest_part_memory(
            base=700,
            per_text_megabyte=5,
            per_largest_megabyte=25,
            bytes_per_document=300,
        ),
    params:
        settings=settings(
            resolve=config["dedup"]["resolve"],
            similarity=LAYOUT.similarity,
            shingle_chars=config["minhash"]["shingle_chars"],
        ),
        code=code_digest("resolve"),
        paths=named_paths,
    shell:
        run_script("resolve")


rule guard:
    input:
        assigned="results/assign/complete.json",
        resolved="results/resolved/complete.json",
    output:
        report="results/duplicates.json",
    log:
        "logs/guard/guard.log",
    benchmark:
        "logs/guard/guard.tsv"
    # Before all else: what follows of a run that is stopped is not worth starting.
    priority: 10
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        settings=settings(
            max_group_texts=config["dedup"]["max_group_texts"],
            max_duplicate_fraction=LAYOUT.of_sources("max_duplicate_fraction", 0.9),
        ),
        code=code_digest("guard"),
        paths=named_paths,
    shell:
        run_script("guard")
