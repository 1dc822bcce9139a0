"""`python -m corpusmill.designer`: bands and rows chosen by a sample of somebody's documents.

No rule uses it. Begin with `command.py`.

Imports: storage, documents, text, dedup, run, report, kernels.
"""
