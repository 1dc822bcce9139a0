"""`corpusmill eye-test`: shows a finished corpus as a trainer reads it.

Start with `looking.py`. `figures.py` counts, `drawing.py` tries the sampler, `texts.py` decodes.
"""
