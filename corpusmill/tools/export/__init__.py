"""`corpusmill export`: a finished corpus in the format of another trainer.

It copies token shards and tokenizes nothing. Start with `exporting.py`. Each module in `formats/`
is a format of that name; there is no list of them.

Imports: messages, mill.storage, reader, run.
"""
