"""`corpusmill verify`: does a finished corpus match its manifest, and agree with itself?

It only reads. Begin with `verifying.py`. `files.py` checks every file quickly, `deep.py` checks
their content. `locations.py` reads them from a folder or an address.

Imports: messages, mill.account, mill.decide, mill.read, mill.shuffle, mill.storage, mill.tokens,
reader, run.
"""
