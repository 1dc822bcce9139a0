"""What a run is: configuration, plan and layout, the jobs of its steps, what a folder remembers.

It decides nothing about a document. Begin with `config.py` and `plan.py`; `job.py` has the jobs.

Imports: kernels, storage, documents, text, filters.
"""
