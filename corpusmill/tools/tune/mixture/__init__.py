"""`corpusmill mixture`: shows the mixture of a finished run, and tries others on its documents.

Start with `showing.py`. `mixtures.py` has the accounts, `page.py` the HTML page.
"""
