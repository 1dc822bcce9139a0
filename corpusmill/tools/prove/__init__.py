"""`corpusmill prove`: rebuilds a sample of a corpus from its inputs and compares it.

It works in its own folder and changes no results. Start with `proving.py`. `parts_again.py` and
`shards_again.py` call the scripts of the run; `packs_again.py` packs whole splits.

Imports: messages, mill.account, mill.decide, mill.dedup, mill.read, mill.shuffle, mill.storage,
mill.tokens, run, tools.verify.
"""
