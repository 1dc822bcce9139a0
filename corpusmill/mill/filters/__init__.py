"""Decide which documents to drop by their text and fields. Each filter is one file.

A filter measures its values once, from the text, and decides from the values alone. Begin
with `declaration.py`; `known/too_short.py` is a filter. `features/` has words and lines.

Imports: kernels, messages, mill.account, mill.decide, mill.read, mill.storage.
"""
