"""Texts to token ids: tokenizers, token shards, losses, and checks of what was written.

Begin with `tokenizers.py` for the reference and `token_shards.py` for the files.

Imports: kernels, messages, mill.account, mill.decide, mill.read, mill.shuffle, mill.storage.
"""
