"""The built-in input formats, one module per format or family of formats."""
