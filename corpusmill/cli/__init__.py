"""The command `corpusmill`: looks at data, checks, runs Snakemake and shows what happens.

Thin: Snakemake is the engine, and whatever can be done here can be done with it. Begin with
`main.py`; `running.py` is the run, `screen.py` what is seen of it.

Imports: storage, text, models, tokens, run, report, estimate, calibration, designer, inspection,
rehearsal, exports, verification, publication, proof, demo, kernels.
"""
