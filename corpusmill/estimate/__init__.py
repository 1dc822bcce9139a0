"""A command: what a run would keep, take and leave, from a sample of its inputs.

Begin with `command.py`.

Imports: storage, documents, text, filters, dedup, exports, run, report, calibration, kernels.
"""
