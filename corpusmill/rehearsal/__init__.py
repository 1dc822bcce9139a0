"""A command: a finished corpus read as a trainer will read it, and what is to be seen of it.

Begin with `command.py`; `figures.py` counts, `drawing.py` tries the sampler, `texts.py` decodes.

Imports: storage, tokens, stream, run.
"""
