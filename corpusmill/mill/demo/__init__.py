"""The bundled demo corpus, made offline from the files of a Python installation.

Begin with `corpus.py`. `files.py` stands apart because it must import fast.

Imports: nothing.
"""
