"""`corpusmill estimate`: estimates from a sample what a run would keep and cost.

Start with `estimating.py`.
"""
