"""What a document is to the mill: its id, its fate, the account of all, decisions by keyed hash.

It knows no text. Begin with `fates.py` and `ids.py`.

Imports: storage.
"""
