"""The bundled demo corpus, made offline from what a Python installation brings along.

Begin with `corpus.py`; `files.py` is apart to be imported fast.

Imports: storage.
"""
