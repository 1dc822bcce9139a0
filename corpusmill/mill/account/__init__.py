"""Account for every document: sums, balance, the columns of the ledger.

Begin with `accounts.py`.

Imports: mill.decide, mill.storage.
"""
