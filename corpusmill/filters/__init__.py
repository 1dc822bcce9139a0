"""What drops a document for what it is: one file per filter, which says all there is to say of it.

A filter measures its values once, with the text at hand, and decides from the values alone. Begin
with `declaration.py`; `too_short.py` is one.

Imports: storage, documents, text, languages, models, kernels.
"""
