"""Who is like whom, and who of those is kept: sketches, bands, pairs, components, resolution.

Begin with `edges.py` for what is known of a pair and `resolution.py` for what is decided.

Imports: storage, documents, text, kernels.
"""
