"""A command: a sample of a corpus made again from its inputs, and held against what is kept.

Works in a folder of its own; of the results nothing is changed. Begin with `command.py`; `parts.py`
makes parts again and `shards.py` shards, with the scripts of the run themselves.

Imports: storage, documents, text, dedup, shuffle, run, verification.
"""
