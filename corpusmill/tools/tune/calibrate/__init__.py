"""`corpusmill calibrate`: shows on a sample what the filters of a configuration would drop.

Start with `calibrating.py`; `figures.py` has the numbers.
"""
