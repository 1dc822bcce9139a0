"""Object stores that speak S3: addresses, credentials, signed requests. It knows no corpus.

It needs the standard library alone. Begin with `bucket.py`; `connection.py` sends the requests.
"""
