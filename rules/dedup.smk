"""Find near-duplicates and choose which to keep: sketches, bands, pairs, groups, resolution.

sign:
reads    results/text/{part}.arrow, or results/cut/{part}.arrow
writes   results/signatures/{part}.npy   uint32 (documents, permutations)
         results/digests/{part}.npy      uint8 (documents, 32): SHA-256 of the normalised text

band:
reads    results/signatures/{part}.npy, results/digests/{part}.npy, results/filter/{part}.arrow;
         names results/measures/{part}.arrow for pair
writes   results/bands/{part}.npy          keys uint64, rows uint32: (bands, entries) each
         results/bands/{part}.texts.npy    likewise for the digests: one band
         results/bands/{part}.json         documents, entries, digests

pair:
reads    results/bands/{part}.npy of every part, and the other files that describe its documents,
         through results/bands/complete.json
writes   results/pairs/{bucket}.npy    a, b, matches: pairs that are or may be duplicates
         results/pairs/{bucket}.json   pairs, file

group:
reads    results/pairs/{bucket}.npy, through results/pairs/complete.json
writes   results/groups/labels.npy   uint32 (documents of all parts,): bin, and whether to read the text
         results/groups/starts.npy   int64 (parts + 1,): start of each part in it

resolve:
reads    results/groups/, results/pairs/, results/text or results/cut/{part}.arrow, results/filter/{part}.arrow,
         results/measures/{part}.arrow
writes   results/extracts/{block}.arrows   id, order, text of documents in pairs, bin by bin
         results/extracts/{block}.npy      uint64 (parts, bins + 1): start of each bin
         results/extracts/{block}.edges.npy, .starts.npy   their pairs by bin, start of each bin
         results/extracts/{block}.json     the files, digests
         results/resolved/{bin}.npy        id, winner, similarity, stage of dropped documents
         results/resolved/{bin}.winners.npy   id, dropped, sources of documents kept instead
         results/resolved/{bin}.json       counts, the largest groups
         results/duplicates.json           counts that the guard checked; only if it passed the run
"""


rule sign:
    input:
        text=LAYOUT.text,
    output:
        signatures="results/signatures/{part}.npy",
        digests="results/digests/{part}.npy",
    log:
        "logs/sign/{part}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_part(
            base=600 + CONFIG.minhash.permutations,
            per_text_megabyte=0.2,
            per_largest_megabyte=11,
            bytes_per_document=100,
        ),
    params:
        settings=settings(
            hasher=SETTINGS.hasher,
        ),
        code=code_digest("sign"),
        paths=named_paths,
    shell:
        run_script("sign")


rule band:
    input:
        signatures="results/signatures/{part}.npy",
        digests="results/digests/{part}.npy",
        verdicts="results/filter/{part}.arrow",
        measures="results/measures/{part}.arrow",
    output:
        band_entries="results/bands/{part}.npy",
        text_entries="results/bands/{part}.texts.npy",
        counts="results/bands/{part}.json",
    log:
        "logs/band/{part}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_part(
            base=500, bytes_per_document=500 + 4 * CONFIG.permutations
        ),
    params:
        settings=settings(
            banding=SETTINGS.banding,
            comparing=SETTINGS.comparing,
        ),
        code=code_digest("band"),
        paths=named_paths,
    shell:
        run_script("band")


rule pair:
    input:
        # If the corpus is refused, no later step should start.
        "results/admitted.json",
        "results/allowed.json",
        listing=LAYOUT.listing("bands"),
    output:
        pairs="results/pairs/{bucket}.npy",
        counts="results/pairs/{bucket}.json",
    log:
        "logs/pair/{bucket}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_bucket(base=700, bytes_per_entry=125),
    params:
        settings=settings(
            buckets=LAYOUT.buckets("bucket"),
            banding=SETTINGS.banding,
            similarity=SETTINGS.similarity,
            preference=SETTINGS.preference,
        ),
        code=code_digest("pair"),
        paths=named_paths,
    shell:
        run_script("pair")


rule group:
    input:
        listing=LAYOUT.listing("bands"),
        pairs=LAYOUT.listing("pairs"),
    output:
        labels="results/groups/labels.npy",
        starts="results/groups/starts.npy",
    log:
        "logs/group/group.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_documents(base=800, bytes_per_document=8),
    params:
        settings=settings(
            similarity=SETTINGS.similarity,
            bins=LAYOUT.counts["bin"],
            components=SETTINGS.of("components"),
        ),
        code=code_digest("group"),
        paths=named_paths,
    shell:
        run_script("group")


rule extract:
    input:
        texts=LAYOUT.files_of_block(LAYOUT.text),
        verdicts=LAYOUT.files_of_block("results/filter/{part}.arrow"),
        measures=LAYOUT.files_of_block("results/measures/{part}.arrow"),
        labels="results/groups/labels.npy",
        starts="results/groups/starts.npy",
        pairs=LAYOUT.listing("pairs"),
    output:
        data="results/extracts/{block}.arrows",
        index="results/extracts/{block}.npy",
        edges="results/extracts/{block}.edges.npy",
        edge_starts="results/extracts/{block}.starts.npy",
        counts="results/extracts/{block}.json",
    log:
        "logs/extract/{block}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_largest_part(
            base=600, per_text_megabyte=3, bytes_per_document=200
        ),
    params:
        settings=settings(
            first_part=LAYOUT.first_of_block,
            bins=LAYOUT.counts["bin"],
            preference=SETTINGS.preference,
        ),
        code=code_digest("extract"),
        paths=named_paths,
    shell:
        run_script("extract")


rule resolve:
    input:
        listing=LAYOUT.listing("extracts"),
    output:
        dropped="results/resolved/{bin}.npy",
        winners="results/resolved/{bin}.winners.npy",
        report="results/resolved/{bin}.json",
    log:
        "logs/resolve/{bin}.log",
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=MEMORY.of_largest_part(
            base=700,
            per_text_megabyte=5,
            per_largest_megabyte=25,
            bytes_per_document=300,
        ),
    params:
        settings=settings(
            resolution=SETTINGS.of("resolution"),
            similarity=SETTINGS.similarity,
            policies=SETTINGS.policies,
        ),
        code=code_digest("resolve"),
        paths=named_paths,
    shell:
        run_script("resolve")


rule guard:
    input:
        assigned=LAYOUT.listing("assign"),
        resolved=LAYOUT.listing("resolved"),
    output:
        report="results/duplicates.json",
    log:
        "logs/guard/guard.log",
    # First: if the run is stopped, no later step should start.
    priority: 10
    localrule: True
    conda:
        "../envs/corpusmill.yaml"
    resources:
        mem_mb=500,
    params:
        settings=settings(
            limits=SETTINGS.of("duplicate_limits"),
            policies=SETTINGS.policies,
        ),
        code=code_digest("guard"),
        paths=named_paths,
    shell:
        run_script("guard")
