"""`python -m corpusmill.designer`: choose bands and rows by a sample of your documents.

Begin with `recommending.py`.
"""
