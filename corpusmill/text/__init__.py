"""From input files to text parts: records read, normalized and held; spans cut; digests compared.

Begin with `records.py` for what is read and `parts.py` for what is kept of it.

Imports: storage, documents, kernels.
"""
