"""A file for each format: a `FORMAT` that says what it is and how it is written."""
