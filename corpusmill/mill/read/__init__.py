"""From input files to text parts: read records, normalize texts, number documents, cut spans.

Begin with `records.py` for the input and `parts.py` for what is kept of it.

Imports: kernels, messages, mill.storage.
"""
