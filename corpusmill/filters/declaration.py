"""Former name of `corpusmill.mill.filters.declaration`."""

from corpusmill.mill.filters.declaration import *  # noqa: F403
