"""`corpusmill export`: a finished corpus in the format of another trainer.

It copies token shards and tokenizes nothing. Begin with `exporting.py`. A format is the module of
its name in `formats/`; no list has it.

Imports: messages, mill.storage, reader, run.
"""
