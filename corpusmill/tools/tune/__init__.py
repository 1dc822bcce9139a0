"""Try settings on a sample: limits of filters, bands and rows, what a run would keep and cost.

Imports: kernels, messages, mill.dedup, mill.filters, mill.read, mill.report, mill.storage, run,
tools.export.
"""
