"""Identify the language and script of a text, with a model that a package brings.

Begin with `identification.py`; docs/reference/languages.md says where it is wrong.
"""
