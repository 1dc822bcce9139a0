"""Object stores that speak S3: addresses, credentials, signed requests; knows no corpus.

Needs Python's standard library alone, as whoever trains from a bucket should install nothing for
it. Begin with `bucket.py`: what can be asked of a bucket; `connection.py` is how it is asked.

Imports: nothing.
"""
