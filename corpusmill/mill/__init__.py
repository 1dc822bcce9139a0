"""What the jobs of a run do, in the order of the pipeline: storage, read, filters, dedup, decide,
shuffle, tokens, account, report; and the demo corpus.
"""
