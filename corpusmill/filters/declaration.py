"""What a filter of your own is made of; see `corpusmill.mill.filters.declaration`."""

from corpusmill.mill.filters.declaration import *  # noqa: F403
