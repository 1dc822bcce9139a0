"""The command `corpusmill`: inspects data, checks, runs Snakemake and shows its progress.

It is a thin layer: the Snakemake workflow also runs without it. Start with `main.py`. `running.py`
starts and stops a run, `screen.py` displays it.

Imports: kernels, messages, mill.demo, mill.filters, mill.read, mill.storage, mill.tokens,
run, tools.export, tools.prove, tools.publish, tools.tune, tools.verify, tools.why.
"""
