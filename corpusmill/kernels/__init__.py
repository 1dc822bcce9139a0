"""The compiled inner loops. Arrays in, arrays out; callers have checked everything.

Begin with `jit.py` for how they are compiled.

Imports: nothing.
"""
