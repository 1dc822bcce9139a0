"""A finished corpus in the formats of other trainers, from its manifest and its token shards.

Nothing is tokenized again. Begin with `exporting.py`; a format is the module of its name in
`formats/`, and no list has it.

Imports: storage, text, stream, run.
"""
