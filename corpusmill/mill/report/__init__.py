"""Report on a finished run: pages with pictures and tables, and tables as CSV.

Begin with `pages.py`, which fills `templates/`; `svg.py` draws the pieces of all pictures.

Imports: mill.decide.
"""
