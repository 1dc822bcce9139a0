"""`corpusmill why`: explains what happened to a document in a finished run.

It only reads. Start with `answers.py`. `facts.py` collects the facts of a document, `story.py`
turns them into sentences. `eye_test/` shows a corpus as a trainer reads it.

Imports: messages, mill.account, mill.decide, mill.dedup, mill.read, mill.shuffle, mill.storage,
mill.tokens, reader, run.
"""
