"""`corpusmill calibrate`: what the filters of a config would drop, on a sample.

Begin with `calibrating.py`; `figures.py` has the numbers.
"""
