"""`corpusmill shrink`: small proxies of a corpus, with its mixture and repetition, or another's.

Start with `shrinking.py`. `asked.py` reads the mixtures, `pool.py` the documents of the corpus;
`proxies.py` chooses those of a proxy.
"""
