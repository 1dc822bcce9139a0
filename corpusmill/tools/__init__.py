"""What people ask of a corpus: why, verify, prove, publish, export, tune."""
