"""Trials of settings on a sample: limits of filters, bands and rows, size and cost of a run.

Imports: kernels, messages, mill.dedup, mill.filters, mill.read, mill.report, mill.storage, run,
tools.export.
"""
