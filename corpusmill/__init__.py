"""corpusmill: raw text shards in, training-ready tokens out."""

__version__ = "0.1.0"
