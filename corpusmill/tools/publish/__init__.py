"""`corpusmill publish` and `unpublish`: upload a finished corpus to a store or hub, or delete it.

Start with `publishing.py`, which has the order of a transaction. `target.py` says what may be
changed; `sending.py` uploads one file; `hub.py` does all this for the Hugging Face hub.

Imports: messages, mill.decide, mill.report, mill.storage, reader, run, tools.verify.
"""
