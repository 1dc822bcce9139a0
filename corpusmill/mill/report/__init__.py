"""Report on a finished run: pages with pictures, tables as CSV, and descriptions of the corpus.

Begin with `pages.py`, which fills `templates/`; `svg.py` draws the pieces of all pictures.
`dataset_card.py` and `training_content.py` describe the corpus in Markdown.

Imports: messages, mill.decide, mill.filters, mill.read, mill.storage.
"""
