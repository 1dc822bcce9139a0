"""`python -m corpusmill.designer`: bands and rows for your documents."""
