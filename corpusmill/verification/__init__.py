"""A command: whether a finished corpus is still what its manifest lists, and agrees with itself.

Everything is read, nothing is written. Begin with `command.py`; `files.py` is the quick look at
every file, `deep.py` the long one into them. Where they lie is `places.py` alone.

Imports: storage, documents, text, shuffle, tokens, s3, stream, run.
"""
