"""Give every document its fate, split and copies, by decision tables and keyed hashes.

It reads no text. Begin with `fates.py`.

Imports: messages, mill.read, mill.storage.
"""
