"""The built-in filters, one per module."""
