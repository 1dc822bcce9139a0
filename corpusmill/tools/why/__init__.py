"""`corpusmill why`: what became of a document, and why, looked up in a finished run.

It only reads. Begin with `answers.py`. `facts.py` collects what is known of one document,
`story.py` says it in words. `eye_test/` shows a corpus as a trainer reads it.

Imports: messages, mill.account, mill.decide, mill.dedup, mill.read, mill.shuffle, mill.storage,
mill.tokens, reader, run.
"""
