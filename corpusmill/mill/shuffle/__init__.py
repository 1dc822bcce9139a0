"""Shuffle: target shard of each copy, scatter files, final text shards.

Begin with `targets.py`.

Imports: messages, mill.decide, mill.read, mill.storage.
"""
