"""Account for every document: the ledger, balanced sums, the summary, the list of kept files.

Begin with `ledger_rows.py` and `accounts.py`.

Imports: messages, mill.decide, mill.dedup, mill.read, mill.storage.
"""
