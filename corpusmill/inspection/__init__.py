"""A command: what became of a document, and why, looked up in the results of a finished run.

Everything is read, nothing is written. Begin with `command.py`; `facts.py` is what is known of one
document, `story.py` says it in words.

Imports: storage, documents, text, dedup, shuffle, tokens, run.
"""
