"""The bundled demo corpus, made offline from the files of a Python installation.

Begin with `corpus.py`. `files.py` is separate because it must import fast.

Imports: nothing.
"""
