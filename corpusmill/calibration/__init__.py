"""A command: what the filters of a configuration would drop, seen on a sample of the corpus.

No rule uses it. Begin with `command.py`; `figures.py` has what is told of the sample.

Imports: storage, documents, text, filters, run, report.
"""
