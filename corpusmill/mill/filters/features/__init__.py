"""Features of texts that filters use: words, lines, phrases, URLs."""
