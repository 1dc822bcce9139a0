"""What language and script a text is in, by a model that a package brings.

Begin with `identification.py`; docs/languages.md has what it knows and where it is wrong.

Imports: storage, text, kernels.
"""
