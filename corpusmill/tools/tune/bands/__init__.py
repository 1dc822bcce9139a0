"""`python -m corpusmill.designer`: chooses bands and rows from a sample of your documents.

Start with `recommending.py`.
"""
