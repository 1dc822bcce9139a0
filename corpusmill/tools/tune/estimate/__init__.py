"""`corpusmill estimate`: what a run would keep and cost, from a sample of its inputs.

Begin with `estimating.py`.
"""
