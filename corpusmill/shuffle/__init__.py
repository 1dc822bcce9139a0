"""Where each copy goes: its target shard, the scatter file on the way, the final text shard.

Begin with `targets.py`.

Imports: storage, documents, text.
"""
