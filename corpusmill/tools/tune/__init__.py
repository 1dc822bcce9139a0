"""Trials of settings on a sample: limits of filters, bands and rows, size and cost of a run.

Mixtures are tried on the documents of a finished run, and proxies are drawn from them.

Imports: kernels, messages, mill.account, mill.decide, mill.dedup, mill.filters, mill.read,
mill.report, mill.storage, mill.tokens, reader, run, tools.export, tools.why.
"""
