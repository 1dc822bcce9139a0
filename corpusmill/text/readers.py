"""Former name of `corpusmill.mill.read.readers`."""

from corpusmill.mill.read.readers import *  # noqa: F403
