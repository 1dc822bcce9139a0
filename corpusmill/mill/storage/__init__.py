"""Bytes on disk: files that appear whole or not at all, arrays, tables, packed streams, slices.

It knows no document. Begin with `files.py`.

Imports: messages.
"""
