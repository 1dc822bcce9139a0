"""`corpusmill prove`: make a sample of a corpus again from its inputs, and compare.

It works in a folder of its own and changes no result. Begin with `proving.py`; `parts_again.py` and
`shards_again.py` call the scripts of the run.

Imports: messages, mill.decide, mill.dedup, mill.read, mill.shuffle, mill.storage, mill.tokens,
run, tools.verify.
"""
