"""Two commands: a finished corpus sent to a store or hub as a transaction, and taken away again.

Begin with `command.py`, which has the order of things; `target.py` says what lies where, and what
may not be touched; `sending.py` brings one file there, whole. `hub.py` is
`command.py` for the Hugging Face hub.

Imports: storage, documents, s3, stream, verification, run.
"""
