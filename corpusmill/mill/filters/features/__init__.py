"""What filters look at in a text: words, lines, phrases, URLs."""
