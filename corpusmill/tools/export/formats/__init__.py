"""The formats, one per file: a `FORMAT` with its description and its writer."""
