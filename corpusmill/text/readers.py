"""What a reader of your own is made of; see `corpusmill.mill.read.readers`."""

from corpusmill.mill.read.readers import *  # noqa: F403
