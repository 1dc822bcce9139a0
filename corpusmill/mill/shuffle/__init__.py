"""Bring each copy to its place: target shard, scatter file, final text shard.

Begin with `targets.py`.

Imports: messages, mill.decide, mill.read, mill.storage.
"""
