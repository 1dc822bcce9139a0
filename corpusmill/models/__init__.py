"""Linear models that say how much a document is like others: fastText's, and one of our own.

Begin with `fasttext_model.py` for the one and `training.py` for the other.

Imports: storage, documents, text, kernels.
"""
