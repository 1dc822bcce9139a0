"""Account for every document: the ledger, sums that balance, the summary, the files that are kept.

Begin with `ledger_rows.py` and `accounts.py`.

Imports: messages, mill.decide, mill.dedup, mill.read, mill.storage.
"""
