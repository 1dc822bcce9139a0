"""`corpusmill eye-test`: a finished corpus read as a trainer will read it.

Begin with `looking.py`. `figures.py` counts, `drawing.py` tries the sampler, `texts.py` decodes.
"""
