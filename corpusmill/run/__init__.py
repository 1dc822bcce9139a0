"""What a run is: configuration, plan, layout, the jobs of its steps, the memory of a folder.

It decides nothing about a document. Begin with `config.py` and `plan.py`; `job.py` binds a job.

Imports: kernels, messages, mill.decide, mill.dedup, mill.demo, mill.filters, mill.read,
mill.storage.
"""
