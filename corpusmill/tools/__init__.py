"""Commands on a corpus: why, verify, prove, publish, export, tune."""
