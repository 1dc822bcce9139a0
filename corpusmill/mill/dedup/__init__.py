"""Find near-duplicates and choose which to keep: sketches, bands, pairs, components.

Begin with `edges.py` for the pairs and `resolution.py` for the choice.

Imports: kernels, messages, mill.decide, mill.read, mill.storage.
"""
