"""S3 object stores: addresses, credentials, signed requests. This room knows nothing of corpora.

It needs only the standard library. Start with `bucket.py`; `connection.py` sends the requests.
"""
