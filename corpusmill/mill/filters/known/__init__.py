"""The filters that corpusmill brings, one in each module."""
