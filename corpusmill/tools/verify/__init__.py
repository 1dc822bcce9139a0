"""`corpusmill verify`: checks a finished corpus against its manifest, and its files against each
other.

It only reads. Start with `verifying.py`. `files.py` checks all files quickly, `deep.py` checks
their content. `locations.py` reads them from a folder or an address.

Imports: messages, mill.account, mill.decide, mill.read, mill.shuffle, mill.storage, mill.tokens,
reader, run.
"""
