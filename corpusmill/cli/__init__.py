"""The command `corpusmill`: looks at data, checks, runs Snakemake and shows what happens.

Thin: Snakemake is the engine, and it can do without this command. Begin with `main.py`;
`running.py` is the run, `screen.py` what is shown of it.

Imports: kernels, messages, mill.demo, mill.filters, mill.read, mill.storage, mill.tokens,
run, tools.export, tools.prove, tools.publish, tools.tune, tools.verify, tools.why.
"""
