"""Texts to token ids: tokenizers, token shards, what is lost, and the checks of what was written.

Begin with `tokenizers.py` for the reference and `token_shards.py` for the files.

Imports: storage, documents, text, shuffle.
"""
