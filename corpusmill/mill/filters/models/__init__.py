"""Linear models that score documents: fastText's, and one of our own.

Begin with `fasttext_model.py` for the one and `training.py` for the other.
"""
