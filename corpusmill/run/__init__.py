"""A run: configuration, plan, layout, jobs, memory needs, and the record of a folder.

Nothing here decides about a document. Begin with `config.py` and `plan.py`; `job.py` runs one job.

Imports: kernels, messages, mill.decide, mill.dedup, mill.demo, mill.filters, mill.read,
mill.storage, mill.tokens.
"""
